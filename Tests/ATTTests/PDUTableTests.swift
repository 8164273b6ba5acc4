import ATT
import BLECore
import Testing

/// A PDU, its octets, and the minimum number of octets of a PDU with its opcode. `isFixed` if no other number
/// is valid.
private struct Sample: Sendable, CustomTestStringConvertible {
    let hex: String
    let pdu: ATTPDU
    let least: Int
    let isFixed: Bool

    init(_ hex: String, _ pdu: ATTPDU, least: Int? = nil) {
        self.hex = hex
        self.pdu = pdu
        self.least = least ?? hex.count / 2
        isFixed = least == nil
    }

    var bytes: [UInt8] { [UInt8](hex: hex) ?? [] }
    var testDescription: String { hex }
}

private let long = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)

private let samples: [Sample] = [
    Sample("010a03000a", .response(.error(ATTErrorResponse(.readRequest, 3, .attributeNotFound)))),
    Sample("0100ffff80", .response(.error(ATTErrorResponse(ATTOpcode(0), 0xffff, ATTErrorCode(0x80))))),
    Sample("020502", .request(.exchangeMTU(517))),
    Sample("031700", .response(.exchangeMTU(23))),
    Sample("040100ffff", .request(.findInformation(.all))),
    // The start is above the end: a server refuses the range, a decoder does not.
    Sample("040500" + "0100", .request(.findInformation(AttributeRange(5, 1)))),
    Sample(
        "0501" + "01000028" + "02000328",
        .response(
            .findInformation(
                list(
                    ATTInformation(handle: 1, type: 0x2800), ATTInformation(handle: 2, type: 0x2803)))),
        least: 6),
    Sample(
        "0502" + "0300" + "9ecadc240ee5a9e093f3a3b50100406e",
        .response(.findInformation(list(ATTInformation(handle: 3, type: AttributeType(long))))), least: 20),
    Sample(
        "060100ffff00280f18", .request(.findByTypeValue(.all, type: 0x2800, value: [0x0f, 0x18])), least: 7),
    Sample(
        "07100014002000ffff",
        .response(
            .findByTypeValue(
                list(
                    ATTHandlesInformation(handle: 0x10, groupEnd: 0x14),
                    ATTHandlesInformation(handle: 0x20, groupEnd: 0xffff)))), least: 5),
    Sample("080100ffff0328", .request(.readByType(.all, type: 0x2803))),
    Sample(
        "080100ffff" + "9ecadc240ee5a9e093f3a3b50100406e",
        .request(.readByType(.all, type: AttributeType(long))), least: 7),
    // A 16-bit UUID in its long form stays long.
    Sample(
        "080100ffff" + "fb349b5f80000080001000000328" + "0000",
        .request(.readByType(.all, type: AttributeType(0x2803, isLong: true))), least: 7),
    Sample(
        "0907" + "020002" + "0300002a" + "040002" + "0500012a",
        .response(
            .readByType(
                list(
                    ATTAttributeData(handle: 2, value: [0x02, 0x03, 0x00, 0x00, 0x2a]),
                    ATTAttributeData(handle: 4, value: [0x02, 0x05, 0x00, 0x01, 0x2a])))), least: 4),
    Sample("09020300", .response(.readByType(list(ATTAttributeData(handle: 3, value: [])))), least: 4),
    Sample("0a0300", .request(.read(3))),
    Sample("0b54656d70", .response(.read(Array("Temp".utf8))), least: 1),
    Sample("0c03001600", .request(.readBlob(3, offset: 22))),
    Sample("0d7374", .response(.readBlob([0x73, 0x74])), least: 1),
    Sample("0e03000500", .request(.readMultiple([3, 5])), least: 5),
    Sample("0f010203", .response(.readMultiple([1, 2, 3])), least: 1),
    Sample("100100ffff0028", .request(.readByGroupType(.all, type: 0x2800))),
    Sample(
        "1106" + "010007000018" + "08000b000118",
        .response(
            .readByGroupType(
                list(
                    ATTGroupData(handle: 1, groupEnd: 7, value: [0x00, 0x18]),
                    ATTGroupData(handle: 8, groupEnd: 11, value: [0x01, 0x18])))), least: 6),
    Sample("12030001ff", .request(.write(3, value: [1, 0xff])), least: 3),
    Sample("13", .response(.write)),
    Sample("1603000500aabb", .request(.prepareWrite(3, offset: 5, value: [0xaa, 0xbb])), least: 5),
    Sample("1703000500aabb", .response(.prepareWrite(3, offset: 5, value: [0xaa, 0xbb])), least: 5),
    Sample("1800", .request(.executeWrite(.cancel))),
    Sample("1801", .request(.executeWrite(.write))),
    Sample("19", .response(.executeWrite)),
    Sample("1b030000ff", .unsolicited(.notification(3, value: [0, 0xff])), least: 3),
    Sample("1d0300", .unsolicited(.indication(3, value: [])), least: 3),
    Sample("1e", .confirmation),
    Sample("2003000500", .request(.readMultipleVariable([3, 5])), least: 5),
    Sample(
        "21" + "0100aa" + "0000" + "0200bbcc",
        .response(.readMultipleVariable(tuples(.init([0xaa]), .init([]), .init([0xbb, 0xcc])))), least: 3),
    Sample(
        "23" + "03000100aa" + "05000200bbcc",
        .unsolicited(.multipleNotification(tuples(.init(3, [0xaa]), .init(5, [0xbb, 0xcc])))), least: 5),
    Sample("52030007", .command(.write(3, value: [7])), least: 3),
    Sample(
        "d2030007" + "01000000" + "8877665544332211",
        .command(
            .signedWrite(3, value: [7], signature: ATTSignature(counter: 1, mac: 0x1122_3344_5566_7788))),
        least: 15),
]

private func list<Entry: ATTEntry>(_ first: Entry, _ rest: Entry...) -> ATTEntryList<Entry> {
    guard var list = ATTEntryList(first) else { preconditionFailure("a sample of a forbidden length") }
    for entry in rest { precondition(list.append(entry)) }
    return list
}

private func tuples<Tuple: ATTTuple>(_ all: Tuple...) -> ATTTupleList<Tuple> {
    var list = ATTTupleList<Tuple>()
    for tuple in all { list.append(tuple) }
    return list
}

@Test(arguments: samples)
private func pduRoundTrips(_ sample: Sample) throws {
    #expect(try ATTPDU(sample.bytes) == sample.pdu)
    #expect(sample.pdu.encoded == sample.bytes)
    #expect(sample.pdu.opcode.rawValue == sample.bytes.first)
}

@Test(arguments: samples)
private func truncatedPDUFailsOrDecodesAsShorterPDU(_ sample: Sample) throws {
    for count in 0..<sample.bytes.count {
        let prefix = Array(sample.bytes[..<count])
        if count < sample.least {
            #expect(throws: DecodeError.self) { try ATTPDU(prefix) }
        } else if let pdu = try? ATTPDU(prefix) {
            #expect(pdu.encoded == prefix)
        }
    }
    if sample.isFixed {
        #expect(throws: DecodeError.self) { try ATTPDU(sample.bytes + [0]) }
    }
}

@Test func samplesCoverAllOpcodes() {
    let sampled = Set(samples.map { $0.pdu.opcode })
    let defined = (0...UInt8.max).map { ATTOpcode($0) }.filter { $0.kind != nil }
    #expect(sampled == Set(defined))
    #expect(defined.count == 31)
    for opcode in defined { #expect(opcode.name != nil) }
    for opcode in (0...UInt8.max).map({ ATTOpcode($0) }) where opcode.kind == nil {
        #expect(opcode.name == nil)
        #expect(throws: DecodeError.self) { try ATTPDU([opcode.rawValue, 0, 0, 0, 0]) }
    }
}

@Test(arguments: [
    "090001", "0900", "0901ff", "0906010002", "110001", "1103010203", "1106" + "0100070000", "0500", "0501",
    "0503" + "01000028", "0501" + "010000", "07" + "010002", "0e0300", "0e030005", "200300", "1802", "0104",
    "0801000200" + "0304ff",
])
func knownMalformedPDUsFailToDecode(_ hex: String) throws {
    let bytes = try #require([UInt8](hex: hex))
    #expect(throws: DecodeError.self) { try ATTPDU(bytes) }
}

@Test func decodeErrorNamesPDUAndField() {
    let cases: [([UInt8], String)] = [
        ([0x0a, 0x03], "Read Request: attribute handle at octet 1 needs 2 octets, 1 left"),
        ([0x18, 0x02], "Execute Write Request: flags at octet 1 has the invalid value 0x2"),
        ([0x09, 0x00, 0x01], "Read By Type Response: length at octet 1 has the invalid value 0x0"),
        (
            [0x11, 0x06, 0x01],
            "Read By Group Type Response: data list at octet 2: 1 octets are not entries of 6"
        ),
        ([0x7f], "ATT PDU: opcode at octet 0 has the invalid value 0x7f"),
    ]
    for (bytes, text) in cases {
        #expect { try ATTPDU(bytes) } throws: { "\($0)" == text }
    }
}

@Test func randomOctetsRoundTripWhenDecoded() {
    var random = SplitMix64(seed: 1)
    let opcodes = samples.map { $0.pdu.opcode.rawValue }
    var decoded = 0
    for _ in 0..<50_000 {
        let bytes = [opcodes.randomElement(using: &random) ?? 0] + random.bytes(upTo: 40)
        guard let pdu = try? ATTPDU(bytes) else { continue }
        decoded += 1
        #expect(pdu.encoded == bytes)
        #expect(pdu.encodedCount == bytes.count)
    }
    #expect(decoded > 10_000)
}
