import ArgumentParser
import BLECore
import Foundation
import HCI
import Recordings
import TestSupport
import Testing

@testable import bletool

private let steps: [(Record.Direction, String)] = [
    (.hostToController, "01030c00"),
    // A write in two fragments, with a notification between them.
    (.hostToController, "02400006000700040012 03"),
    (.controllerToHost, "02402008000400040 01b030063"),
    (.hostToController, "0240100500 0001020304"),
    (.controllerToHost, "040e0401030c00"),
]

private func records(adapter: UInt16 = 0) -> [Record] {
    steps.enumerated().map { index, step in
        Record(
            time: RecordingTime(microseconds: 1_795_000_000_000_000 + Int64(index)), adapter: adapter,
            content: .packet(step.0, octets(step.1)))
    }
}

private func file(_ records: [Record], _ datalink: BTSnoopDatalink = .h4) -> [UInt8] {
    let writer = RecordingWriter(datalink)
    return writer.header + records.compactMap(writer.encode).joined()
}

/// Returns the file that `decode --write` makes of the recordings.
private func copy(_ recordings: [UInt8]..., filter arguments: [String] = []) throws -> [UInt8] {
    let folder = URL.temporaryDirectory.appending(path: "bletool-copy-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var inputs: [RecordingInput] = []
    for (index, octets) in recordings.enumerated() {
        let input = folder.appending(path: "\(index)")
        try Data(octets).write(to: input)
        inputs.append(try RecordingInput(input.path))
    }
    let output = folder.appending(path: "copy")
    let console = Console(isJSON: false, errors: LineWriter(open("/dev/null", O_WRONLY)))
    let decoding = Decoding(
        console: console, filter: try FilterOptions.parse(arguments).filter(), limit: nil,
        output: .recording(try RecordingTarget(output.path)))
    try decoding.run(inputs)
    return [UInt8](try Data(contentsOf: output))
}

struct RecordingCopyTests {
    @Test func unfilteredCopyIsIdentical() throws {
        #expect(try copy(file(records())) == file(records()))
        #expect(try copy(file(records()), file(records())) == file(records() + records()))
        #expect(try copy(file([])) == file([]))
    }

    @Test("a file that is no recording is not replaced") func otherFilesAreNotReplaced() throws {
        try withTemporaryPath { path in
            try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
            let failure = #expect(throws: Failure.self) { _ = try RecordingTarget(path) }
            #expect(failure?.kind == .input)
            #expect(failure?.message == "--write \(path): the file exists and is no btsnoop recording")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
        }
    }

    @Test func filtersSelectCopiedRecords() throws {
        let all = records()
        #expect(try copy(file(all), filter: ["--name", "Reset"]) == file([all[0]]))
        #expect(try copy(file(all), filter: ["--received"]) == file([all[2], all[4]]))
    }

    /// A filter that selects a frame copies all its fragments at the frame's end. A filter of packets copies
    /// each fragment by itself.
    @Test func framesAreCopiedWithAllFragments() throws {
        let all = records()
        #expect(try copy(file(all), filter: ["--name", "Write*"]) == file([all[1], all[3]]))
        #expect(try copy(file(all), filter: ["--layer", "att"]) == file([all[2], all[1], all[3]]))
        #expect(try copy(file(all), filter: ["--connection", "0x40"]) == file([all[1], all[2], all[3]]))
        // The fragments of a frame that is not selected are not copied.
        #expect(try copy(file(all), filter: ["--name", "*Notification"]) == file([all[2]]))
    }

    /// A recording of a monitor has adapter numbers and notes, which only its own format can contain.
    @Test func monitorRecordingsKeepTheirFormat() throws {
        let note = Record(
            time: RecordingTime(microseconds: 1_795_000_000_000_000), adapter: 0xffff,
            content: .note(.systemNote, [0x41, 0]))
        let all = [note] + records(adapter: 1)
        #expect(try copy(file(all, .monitor)) == file(all, .monitor))
        // A copy that began in another format omits the note.
        #expect(try copy(file([records()[0]]), file([note], .monitor)) == file([records()[0]]))
    }

    @Test func inputRecordingIsNotOverwritten() async throws {
        let path = URL.temporaryDirectory.appending(path: "bletool-own-\(UUID())").path
        try Data(file(records())).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let command = try DecodeCommand.parse([path, "--write", path])
        var kind: Failure.Kind?
        do throws(Failure) {
            try await command.perform(Console(isJSON: false))
        } catch {
            kind = error.kind
        }
        #expect(kind == .usage)
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) == file(records()))
    }

    /// An earlier copy is replaced only if the input is a recording, and then completely.
    @Test func invalidInputDoesNotReplaceCopy() async throws {
        let folder = URL.temporaryDirectory.appending(path: "bletool-copy-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "input"), folder.appending(path: "output"))
        let old = file(records() + records())
        try Data(old).write(to: output)
        try Data("no recording at all, but a letter".utf8).write(to: input)
        let command = try DecodeCommand.parse([input.path, "--write", output.path])
        var kind: Failure.Kind?
        do throws(Failure) {
            try await command.perform(Console(isJSON: false))
        } catch {
            kind = error.kind
        }
        #expect(kind == .input)
        #expect([UInt8](try Data(contentsOf: output)) == old)
        try Data(file(records())).write(to: input)
        try await command.perform(Console(isJSON: false))
        #expect([UInt8](try Data(contentsOf: output)) == file(records()))
    }
}
