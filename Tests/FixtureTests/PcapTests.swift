import HCI
import Recordings
import TestSupport
import Testing

/// The directions that are guessed for a pcap file without directions, compared with those of the recording.
struct PcapTests {
    @Test(arguments: ["gatt-bumble", "gatt-bluetoothd", "serve-bumble"])
    func guessedDirectionsMatchRecording(name: String) throws {
        let recorded = try RecordedFile.fixture(name).records()
        var dissector = Dissector()
        let packets = try records(ofPcap: pcap(recorded)).map { dissector.dissect($0) }
        let expected = try RecordedFile.fixture(name).packets.filter { $0.direction != nil }
        #expect(packets.map(\.direction) == expected.map(\.direction))
        #expect(packets.map { $0.layers.map(\.problem) } == expected.map { $0.layers.map(\.problem) })
    }

    private func pcap(_ records: [Record]) -> [UInt8] {
        var file = words(0xa1b2_c3d4) + [2, 0, 4, 0] + words(0, 0, 0xffff, 187)
        for record in records {
            guard case .packet(_, let bytes) = record.content else { continue }
            let (seconds, rest) = record.time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
            file += words(Int(seconds), Int(rest), bytes.count, bytes.count) + bytes
        }
        return file
    }

    private func records(ofPcap file: [UInt8]) throws -> [Record] {
        var reader = RecordingReader()
        reader.receive(file.span)
        reader.finish()
        var records: [Record] = []
        while let item = try reader.next() {
            guard case .record(let record) = item else { throw UnreadableRecord(item: item) }
            records.append(record)
        }
        return records
    }
}
