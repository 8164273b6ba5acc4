import Foundation
import Glibc
import HCI
import HCISocket
import Recordings
import TestSupport
import Testing

@testable import bletool

/// Returns a recording of `count` Reset commands, without its last `cut` octets. A pipe has room for the
/// lines of 300 records.
private func recording(_ count: Int = 300, cut: Int = 0) -> [UInt8] {
    let writer = RecordingWriter(.h4)
    let records = (0..<count).map { index in
        Record(
            time: RecordingTime(microseconds: Int64(index)),
            content: .packet(.hostToController, [1, 3, 0x0c, 0]))
    }
    return Array((writer.header + records.compactMap(writer.encode).joined()).dropLast(cut))
}

/// Decodes the recordings, named a, b and c, in chunks of `size` octets. Returns the number of lines on
/// stdout, the failure, and whether more octets are needed.
private func decode(
    _ recordings: [UInt8]..., chunks size: Int, limit: Int? = nil, isWhole: Bool = true
) throws -> (lines: Int, failure: Failure?, isRead: Bool) {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let console = Console(isJSON: true, output: LineWriter(ends[1]))
    let decoding = Decoding(console: console, filter: PacketFilter(), limit: limit, output: .lines)
    var pass = DecodingPass(decoding, names: recordings.indices.map { ["a", "b", "c"][$0] })
    var failure: Failure?
    var isRead = true
    do throws(Failure) {
        for (index, octets) in recordings.enumerated() where isRead {
            if index > 0 { isRead = try pass.endRecording() }
            for start in stride(from: 0, to: octets.count, by: size) where isRead {
                isRead = try pass.take(Array(octets[start..<min(start + size, octets.count)]))
            }
        }
        try pass.finish(isWhole: isWhole)
    } catch {
        failure = error
    }
    close(ends[1])
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(ends[0], &buffer, buffer.count), count > 0 { text += buffer[..<count] }
    close(ends[0])
    return (text.count { $0 == UInt8(ascii: "\n") }, failure, isRead)
}

struct DecodingTests {
    @Test(arguments: [100, 65_536])
    func wholeFileIsDecoded(size: Int) throws {
        let result = try decode(recording(), chunks: size)
        #expect(result.lines == 300 && result.failure == nil)
    }

    /// A rotated set is decoded as one recording: the limit applies to all files together, and damage is
    /// reported for its file.
    @Test func filesAreDecodedAsOneRecording() throws {
        let whole = try decode(recording(80), recording(80), recording(80), chunks: 100)
        #expect(whole.lines == 240 && whole.failure == nil)
        let some = try decode(recording(80), recording(80), recording(80), chunks: 100, limit: 100)
        #expect(some.lines == 100 && !some.isRead)
        let damaged = try decode(recording(80), recording(80, cut: 3), recording(80), chunks: 100)
        #expect(damaged.lines == 239)
        #expect(damaged.failure?.message.hasPrefix("b: the file ends within the record at octet") == true)
        let foreign = try decode(recording(80), [UInt8](repeating: 7, count: 50), chunks: 100)
        #expect(foreign.lines == 80)
        #expect(foreign.failure?.message.hasPrefix("b: ") == true)
    }

    @Test func truncatedFileIsDecodedAndReported() throws {
        let result = try decode(recording(cut: 3), chunks: 100)
        #expect(result.lines == 299)
        #expect(result.failure?.message == "a: the file ends within the record at octet 8388")
        #expect(result.failure?.hint == "25 octets could not be read; all packets before them were")
        #expect(result.failure?.kind.status == .badInput)
    }

    /// A partial record is not damage if the limit was reached before its end or if the file is still being
    /// written.
    @Test func partialRecordIsNotDamageAtLimitOrInGrowingFile() throws {
        let enough = try decode(recording(), chunks: 100, limit: 7)
        #expect(enough.lines == 7 && enough.failure == nil && !enough.isRead)
        let growing = try decode(recording(cut: 3), chunks: 100, isWhole: false)
        #expect(growing.lines == 299 && growing.failure == nil)
    }

    @Test("a recording without HCI packets is bad input, whatever its format is")
    func recordingOfOthersIsBadInput() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "bletool-\(UUID())").path
        defer { unlink(path) }
        let pcap = "d4c3b2a1 0200 0400 00000000 00000000 00000400 10010000"
        let pcapng =
            "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"
            + "01000000 14000000 1001 0000 00000000 14000000"
            + "06000000 24000000 00000000 00000000 01000000 03000000 03000000 010203 00 24000000"
        for recording in [pcap, pcapng] {
            try File.replace(path, with: octets(recording))
            let console = Console(isJSON: true, output: LineWriter(-1), errors: LineWriter(-1))
            let decoding = Decoding(console: console, filter: PacketFilter(), limit: nil, output: .lines)
            let failure = try #require(
                throws: Failure.self
            ) { try decoding.run([try RecordingInput(path)]) }
            #expect(failure.kind == .input && failure.hint?.contains("tshark") == true)
        }
    }

    @Test("a time limit ends the wait for a pipe and for a growing file", arguments: [true, false])
    func timeLimitEndsWaitForInput(isPipe: Bool) async throws {
        var ends: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0 && pipe(&output) == 0)
        defer { for descriptor in ends + output { close(descriptor) } }
        let octets = recording(5)
        let path = FileManager.default.temporaryDirectory.appending(path: "bletool-\(UUID())").path
        try File.replace(path, with: octets)
        defer { unlink(path) }
        #expect(File.write(octets, to: ends[1]) == nil)
        let console = Console(isJSON: true, output: LineWriter(output[1]))
        for limit in [nil, 7] {
            // A pipe is read only once.
            let input = try RecordingInput(isPipe ? "/dev/fd/\(ends[0])" : path)
            let decoding = Decoding(console: console, filter: PacketFilter(), limit: limit, output: .lines)
            var failure: Failure?
            do throws(Failure) {
                if isPipe {
                    try decoding.run([input], for: .milliseconds(1))
                } else {
                    try await decoding.follow(input, for: .milliseconds(1))
                }
            } catch {
                failure = error
            }
            #expect(failure?.kind == (limit == nil ? nil : .timeout))
            #expect(File.write(octets, to: ends[1]) == nil)
        }
    }

    @Test(
        "a recording without a packet to show is reported",
        arguments: [
            (300, "a: no packet of 300 matches the filter"), (0, "a: there are no HCI packets"),
        ])
    func lackOfPacketsIsReported(count: Int, note: String) throws {
        let (notes, errors) = (Lock<[String]>([]), LineWriter(-1))
        errors.divert { line in notes.withLock { $0.append(line) } }
        var filter = PacketFilter()
        filter.handles = [1]
        let decoding = Decoding(
            console: Console(isJSON: false, errors: errors), filter: filter, limit: nil, output: .lines)
        var pass = DecodingPass(decoding, names: ["a"])
        #expect(try pass.take(recording(count)))
        try pass.finish(isWhole: true)
        #expect(notes.withLock { $0 } == ["bletool: \(note)"])
    }

    @Test func otherFilesAreRefused() throws {
        let result = try decode(Array("root:x:0:0:".utf8), chunks: 3)
        #expect(result.lines == 0 && result.failure?.kind == .input)
    }
}
