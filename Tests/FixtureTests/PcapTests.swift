import HCI
import Recordings
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
        func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (8 * $0) & 0xff) } }
        var file = word(0xa1b2_c3d4) + [2, 0, 4, 0] + word(0) + word(0) + word(0xffff) + word(187)
        for record in records {
            guard case .packet(_, let bytes) = record.content else { continue }
            let (seconds, rest) = record.time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
            file += word(Int(seconds)) + word(Int(rest)) + word(bytes.count) + word(bytes.count) + bytes
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
