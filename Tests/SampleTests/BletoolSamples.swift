import HCISocket

@testable import bletool

/// Samples of the command-line program.
struct BletoolSamples {
    func run(_ program: Program, value: [UInt8]) async {
        // Sources/bletool/Serving/ProgramRunner.swift
        let runner = ProgramRunner()
        guard runner.start(program, input: value, then: { print($0) }) else { return }  // 64 KiB wait
        let dropped = await runner.finish(within: .seconds(10))
        // .
        handle(dropped)
    }

    func write(to program: Program, on loop: EventLoop, console: Console) async {
        // Sources/bletool/Serving/WrittenLines.swift
        let lines = WrittenLines(to: program, on: loop) { console.note($0) }
        lines.start()
        guard lines.send(Array("64".utf8)) else { return }  // 64 KiB wait
        let left = await lines.finish(within: .seconds(10))
        // .
        handle(left)
    }
}
