import BLECore
import HCI
import Recordings
import TestSupport
import Testing

/// Records that every datalink can store: commands, events and data in both directions, at different times.
let samples: [Record] = packets.indices.map { index in
    Record(
        time: RecordingTime(microseconds: 1_795_000_000_000_000 + Int64(index) * 1250),
        content: .packet(packets[index].0, octets(packets[index].1)), drops: UInt32(index / 2))
}

private let packets: [(Record.Direction, String)] = [
    (.hostToController, "01 03 0c 00"), (.controllerToHost, "04 0e 04 01 03 0c 00"),
    (.hostToController, "02 40 00 07 00 03 00 04 00 02 05 02"),
    (.controllerToHost, "02 40 20 07 00 03 00 04 00 03 17 00"), (.hostToController, "01 0c 20 02 01 00"),
]

func file(_ records: [Record], _ datalink: BTSnoopDatalink = .h4) -> [UInt8] {
    let writer = RecordingWriter(datalink)
    return writer.header + records.compactMap(writer.encode).joined()
}

/// Returns everything that a reader finds in `bytes`, which it receives in chunks of `size` octets.
func items(_ bytes: [UInt8], chunks size: Int = 4096) throws(RecordingError) -> [RecordingItem] {
    var reader = RecordingReader()
    var items: [RecordingItem] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]).span)
        while let item = try reader.next() { items.append(item) }
    }
    reader.finish()
    while let item = try reader.next() { items.append(item) }
    return items
}

@Test(arguments: [BTSnoopDatalink.h1, .h4, .monitor], [1, 2, 7, 16, 24, 4096])
func recordsRoundTripInAnyChunkSize(datalink: BTSnoopDatalink, size: Int) throws {
    #expect(try items(file(samples, datalink), chunks: size) == samples.map { .record($0) })
}

@Test func writerFollowsBTSnoopFormat() throws {
    let writer = RecordingWriter(.h4)
    #expect(writer.header == octets("6274736e6f6f7000 00000001 000003ea"))
    let record = Record(
        time: RecordingTime(microseconds: 0), content: .packet(.hostToController, [1, 3, 0x0c, 0]),
        missing: 2,
        drops: 9)
    #expect(writer.encode(record) == octets("00000006 00000004 00000002 00000009 00dcddb30f2f8000 01030c00"))
    let note = Record(
        time: RecordingTime(microseconds: 1), adapter: 3, content: .note(.systemNote, [0x41, 0]))
    #expect(writer.encode(note) == nil)
    let monitor = RecordingWriter(.monitor)
    #expect(monitor.header == octets("6274736e6f6f7000 00000001 000007d1"))
    #expect(monitor.encode(note) == octets("00000002 00000002 0003000c 00000000 00dcddb30f2f8001 4100"))
    #expect(Record.Content(.aclReceive, [0x40].span) == .packet(.controllerToHost, [2, 0x40]))
    #expect(Record.Content(.systemNote, [0x41, 0].span) == note.content)
    let impossible = Record(
        time: RecordingTime(microseconds: 1), content: .packet(.hostToController, [4, 0x0e, 0]))
    #expect(monitor.encode(impossible) == nil)
    #expect(try items(file([note], .monitor)) == [.record(note)])
}

@Test func pcapIsReadInBothByteOrdersAndPrecisions() throws {
    let little =
        octets("d4c3b2a1 02000400 00000000 00000000 00000400 c9000000")
        + octets("01000000 02000000 08000000 09000000 00000001 040e0100")
    let big =
        octets("a1b23c4d 00020004 00000000 00000000 00040000 000000bb")
        + octets("00000001 000007d0 00000004 00000005 01030c01")
    let event = Record(
        time: RecordingTime(microseconds: 1_000_002), content: .packet(.controllerToHost, [4, 0x0e, 1, 0]),
        missing: 1)
    let command = Record(
        time: RecordingTime(microseconds: 1_000_002), content: .packet(.hostToController, [1, 3, 0x0c, 1]),
        missing: 1)
    for size in [1, 5, 100] {
        #expect(try items(little, chunks: size) == [.record(event)])
        #expect(try items(big, chunks: size) == [.record(command)])
    }
    // Link type 187 has no directions. The boundary flag of a host's first fragment shows the direction.
    let acl =
        big.prefix(24) + octets("00000001 00000000 00000005 00000005 0240000000")
        + octets("00000001 00000001 00000005 00000005 0240200000")
    let directions = try items([UInt8](acl)).map { item -> Record.Direction? in
        guard case .record(let record) = item, case .packet(let direction, _) = record.content else {
            return nil
        }
        return direction
    }
    #expect(directions == [.hostToController, .controllerToHost])
}

@Test func unsupportedFilesAreRefused() throws {
    #expect(throws: RecordingError.unknownFormat([])) { try items([]) }
    #expect(throws: RecordingError.unknownFormat([0x62, 0x74])) { try items([0x62, 0x74]) }
    for header in [file([]), octets("d4c3b2a1 0200 0400 00000000 00000000 00000400 000000c9")] {
        for count in 8..<header.count {
            #expect(throws: RecordingError.incompleteHeader(count)) {
                try items([UInt8](header.prefix(count)))
            }
        }
    }
    let png = octets("89504e470d0a1a0a0000000d49484452000000")
    #expect(throws: RecordingError.unknownFormat(octets("89504e470d0a1a0a"))) { try items(png) }
    #expect(throws: RecordingError.unsupportedVersion(2)) {
        try items(octets("6274736e6f6f7000 00000002 000003ea"))
    }
    #expect(throws: RecordingError.unsupportedLinkType(1003)) {
        try items(octets("6274736e6f6f7000 00000001 000003eb"))
    }
    #expect(throws: RecordingError.unsupportedLinkType(1)) {
        try items(octets("d4c3b2a1 02000400 00000000 00000000 00000400 01000000"))
    }
    #expect(throws: RecordingError.unsupportedVersion(0x0003_0002)) {
        try items(octets("a1b2c3d4 00030002 00000000 00000000 00040000 000000c9"))
    }
}

@Test func timesAreConvertedAndFormatted() {
    #expect(RecordingTime(btsnoop: 0x00e2_97f0_fff9_76c7).description == "2021-02-01T03:27:59.092Z")
    #expect(RecordingTime(microseconds: 0).description == "1970-01-01T00:00:00.000Z")
    #expect(RecordingTime(microseconds: -1).description == "1969-12-31T23:59:59.999Z")
    #expect(RecordingTime(microseconds: 951_782_400_000_000).description == "2000-02-29T00:00:00.000Z")
    #expect(RecordingTime(btsnoop: 0x00e0_3ab4_4a67_6000).description == "2000-01-01T00:00:00.000Z")
    #expect(RecordingTime(btsnoop: 0).description == "-0001-12-20T00:00:00.000Z")
    for extreme in [Int64.min, .max] {
        #expect(RecordingTime(btsnoop: extreme).btsnoop == extreme)
        #expect(!RecordingTime(microseconds: extreme).description.isEmpty)
    }
}
