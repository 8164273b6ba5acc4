import Foundation
import ProgramTesting
import Testing

/// `bletool capture` on an adapter of its own, as a program.
@Suite(.timeLimit(.minutes(10))) struct CaptureTests {
    /// Starts a device that advertises while the result is kept.
    private func beacon(in air: TemporaryAir) async throws -> RunningProgram {
        let beacon = try RunningProgram(
            [
                "bletool", "advertise", "--name", "Beacon", "--interval", "20ms", "--type", "nonconnectable",
                "--adapter", "virtual:beacon", "--json",
            ], in: air.folder)
        #expect(await beacon.line()?.contains(#""event":"ready""#) == true)
        return beacon
    }

    private func lines(_ command: [String], in air: TemporaryAir) async throws -> [String] {
        let program = try RunningProgram(["bletool"] + command, in: air.folder)
        var lines: [String] = []
        while let line = await program.line() { lines.append(line) }
        #expect(program.status() == 0)
        return lines
    }

    @Test("a recording that is rotated by time is complete in each file")
    func timeRotationKeepsFilesComplete() async throws {
        let air = try await TemporaryAir()
        let beacon = try await beacon(in: air)
        let reported = try await lines(
            [
                "capture", "air.btsnoop", "--adapter", "virtual:tap", "--rotate-time", "300ms", "--count",
                "60",
                "--json",
            ], in: air)
        let files = try FileManager.default.contentsOfDirectory(atPath: air.folder.path)
            .filter { $0.hasPrefix("air-") }.sorted()
        #expect(files.count > 1 && files.first == "air-0001.btsnoop")
        var records = 0
        var advertisements = 0
        for file in files {
            let packets = try await lines(["decode", file, "--json"], in: air)
            #expect(packets.allSatisfy { $0.contains(#""problem":null"#) })
            records += packets.count
            advertisements += packets.count { $0.contains("Beacon") }
        }
        #expect(records == 60, "\(reported)")
        #expect(advertisements > 0)
        withExtendedLifetime(beacon) {}
    }

    @Test(
        "binary output to a terminal is refused",
        arguments: [["capture", "-", "--adapter", "virtual:tap"], ["decode", "/dev/null", "--write", "-"]])
    func binaryOutputToTerminalIsRefused(_ words: [String]) async throws {
        try await offThePool {
            let program = try PseudoTerminal(
                try Shell(), ["bletool"] + words, environment: ["NO_COLOR": "1"])
            #expect(try program.end() == 1)
            let what = words[0] == "capture" ? "capture -" : "--write -"
            #expect(program.output.hasPrefix("bletool: \(what): would write octets"))
        }
    }

    @Test("a recording ends when the disk is full, and counts no record that is not in the file")
    func fullDisk() async throws {
        let (status, output) = try await Shell().run("bletool capture /dev/full --adapter virtual:tap 2>&1")
        #expect(status == 1)
        #expect(output.contains("\n0 records in /dev/full\n"), "\(output)")
        #expect(output.hasSuffix("bletool: capture: /dev/full: No space left on device\n"), "\(output)")
    }

    @Test("a recording that reaches the largest size of files ends with its last whole record")
    func largestFile() async throws {
        // SIGXFSZ would end the program. If it is ignored, the write fails.
        let (status, output) = try await Shell().run(
            """
            trap '' XFSZ
            ulimit -f 1
            bletool capture air.btsnoop --adapter virtual:tap 2>&1; status=$?
            bletool decode air.btsnoop --json | wc -l
            exit $status
            """)
        #expect(status == 1)
        let match = try #require(output.firstMatch(of: /\n(\d+) records in air.btsnoop\n/), "\(output)")
        #expect(output.contains("bletool: capture: air.btsnoop: File too large\n"), "\(output)")
        // No line reports damage.
        #expect(output.hasSuffix("File too large\n\(match.1)\n") && match.1 != "0", "\(output)")
    }

    @Test("decode --follow reads a recording while it is written")
    func followReadsGrowingRecording() async throws {
        let air = try await TemporaryAir()
        let beacon = try await beacon(in: air)
        let capture = try RunningProgram(
            ["bletool", "capture", "air.btsnoop", "--adapter", "virtual:tap", "--json"], in: air.folder)
        // The first line is printed when the recording has begun and its file has a header.
        #expect(await capture.line() != nil)
        let decode = try RunningProgram(
            ["bletool", "decode", "air.btsnoop", "--follow", "--json"], in: air.folder)
        var frames: [String] = []
        while frames.count < 100, let line = await decode.line() { frames.append(line) }
        for (index, frame) in frames.enumerated() {
            #expect(frame.hasPrefix(#"{"frame":\#(index + 1),"#), "\(frame)")
        }
        let end = decode.end(by: SIGINT)
        #expect(end.reason == .uncaughtSignal && end.status == SIGINT)
        capture.signal(SIGINT)
        while await capture.line() != nil {}
        withExtendedLifetime(beacon) {}
    }
}
