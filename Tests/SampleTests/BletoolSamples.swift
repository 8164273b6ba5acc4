@testable import bletool

/// Samples of the command-line program.
struct BletoolSamples {
    func run(_ program: Program, value: [UInt8]) async {
        // Sources/bletool/Serving/ProgramRunner.swift
        let runner = ProgramRunner()
        guard runner.start(program, input: value, then: { print($0) }) else { return }  // 16 wait
        let dropped = await runner.finish(within: .seconds(10))
        // .
        handle(dropped)
    }
}
