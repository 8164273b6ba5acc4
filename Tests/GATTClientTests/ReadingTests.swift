import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

@Test("GAR/CL/BV-01-C, BV-06-C: a value that fits one PDU")
func readsAValue() throws {
    #expect(try run(ReadValue(0x0003), [("0a 0300", "0b 010203")]) == [1, 2, 3])
    #expect(try run(ReadLongValue(0x0003), [("0a 0300", "0b 010203")]) == [1, 2, 3])
    #expect(try run(ReadLongValue(0x0003), [("0a 0300", "0b")]) == [])
}

@Test("GAR/CL/BI-02-C and others: errors carry code, handle and request", arguments: UInt8(1)...0xff)
func readErrors(code: UInt8) throws {
    let answer = "01 0a 0300" + code.hex
    let expected = GATTClientError.att(ATTErrorResponse(.readRequest, 0x0003, ATTErrorCode(code)))
    #expect(try failure(of: ReadValue(0x0003), [("0a 0300", answer)]) == expected)
    #expect(try failure(of: ReadLongValue(0x0003), [("0a 0300", answer)]) == expected)
}

@Test("GAR/CL/BV-03-C: reading by UUID continues until no values remain")
func readsByUUID() throws {
    let values = try run(
        ReadUsingUUID(0x2a00),
        [
            ("08 0100 ffff 002a", "09 05 0300 414243"), ("08 0400 ffff 002a", "09 03 0900 5a"),
            ("08 0a00 ffff 002a", "01 08 0a00 0a"),
        ])
    #expect(
        values == [
            RemoteValue(handle: 0x0003, value: [0x41, 0x42, 0x43]),
            RemoteValue(handle: 0x0009, value: [0x5a]),
        ])
    let none = try failure(of: ReadUsingUUID(0x2a00), [("08 0100 ffff 002a", "01 08 0100 0a")])
    #expect(none == .att(ATTErrorResponse(.readByTypeRequest, 0x0001, .attributeNotFound)))
    let refused = try failure(
        of: ReadUsingUUID(0x2a00, in: AttributeRange(3, 9)),
        [("08 0300 0900 002a", "09 03 0300 5a"), ("08 0400 0900 002a", "01 08 0500 02")])
    #expect(refused == .att(ATTErrorResponse(.readByTypeRequest, 0x0005, .readNotPermitted)))
}

/// Returns a dialogue with the first 44 octets in two full responses, and with `end` as the last response.
private func longValue(_ end: String) -> Dialogue {
    [
        ("0a 0300", "0b" + counting(22).hex), ("0c 0300 1600", "0d" + counting(22, from: 22).hex),
        ("0c 0300 2c00", end),
    ]
}

@Test("GAR/CL/BV-04-C, BV-07-C: a long value ends with a short part, an empty one or an error")
func readsALongValue() throws {
    #expect(try run(ReadLongValue(0x0003), longValue("0d 2c2d")) == counting(46))
    for end in ["0d", "01 0c 0300 07", "01 0c 0300 0b", "01 0c 0300 06"] {
        #expect(try run(ReadLongValue(0x0003), longValue(end)) == counting(44))
    }
    let refused = try failure(of: ReadLongValue(0x0003), longValue("01 0c 0300 0f"))
    #expect(refused == .att(ATTErrorResponse(.readBlobRequest, 0x0003, .insufficientEncryption)))
}

@Test func longerValueIsCutOnRequest() throws {
    let whole: Dialogue = [
        ("0a 0300", "0b" + counting(300).hex), ("0c 0300 2c01", "0d" + counting(300, from: 44).hex),
    ]
    // One octet more than the cut shows that there is more.
    #expect(try run(ReadLongValue(0x0003, cutAfter: 512), mtu: 301, whole) == counting(600))
    let end: Dialogue = [("0c 0300 5802", "0d 0102")]
    #expect(try run(ReadLongValue(0x0003, cutAfter: 600), mtu: 301, whole + end) == counting(600) + [1, 2])
    // 512 octets that fill their responses are not known to be all.
    let full: Dialogue = [
        ("0a 0300", "0b" + counting(256).hex), ("0c 0300 0001", "0d" + counting(256).hex),
        ("0c 0300 0002", "0d"),
    ]
    #expect(try run(ReadLongValue(0x0003, cutAfter: 512), mtu: 257, full) == counting(512))
}

@Test func readsFromAnOffset() throws {
    #expect(try run(ReadLongValue(0x0003, from: 5), [("0c 0300 0500", "0d 0102")]) == [1, 2])
    let beyond = try failure(of: ReadLongValue(0x0003, from: 9), [("0c 0300 0900", "01 0c 0300 07")])
    #expect(beyond == .att(ATTErrorResponse(.readBlobRequest, 0x0003, .invalidOffset)))
    for start in [513, 65_536, .max] {
        let error = try failure(of: ReadLongValue(0x0003, from: start), [])
        #expect(error == .limit(.readOffset, maximum: 512, value: start))
    }
}

@Test func maximumValueNeedsNoFurtherRequest() throws {
    let parts: Dialogue = [
        ("0a 0300", "0b" + counting(256).hex), ("0c 0300 0001", "0d" + counting(256, from: 0).hex),
    ]
    #expect(try run(ReadLongValue(0x0003), mtu: 257, parts).count == 512)
}

@Test("a value of more than 512 octets is reported as server misbehavior")
func refusesAnOverlongValue() throws {
    let error = try failure(
        of: ReadLongValue(0x0003), mtu: 300,
        [
            ("0a 0300", "0b" + counting(256).hex + counting(43).hex),
            ("0c 0300 2b01", "0d" + counting(256).hex + counting(39).hex),
        ])
    #expect(error == .misbehaving(.readBlobRequest, .overlong(octets: 594, limit: 512)))
}

@Test("GAR/CL/BV-05-C: several values, concatenated")
func readsMultiple() throws {
    let values = try run(ReadMultiple([3, 9]), [("0e 0300 0900", "0f 010203")])
    #expect(values == [1, 2, 3])
    let error = try failure(of: ReadMultiple([3, 9]), [("0e 0300 0900", "01 0e 0900 01")])
    #expect(error == .att(ATTErrorResponse(.readMultipleRequest, 0x0009, .invalidHandle)))
}

@Test func readsMultipleOfVariableLength() throws {
    let procedure = ReadMultipleVariable([3, 9])
    let values = try run(procedure, [("20 0300 0900", "21 0200 0102 0000")])
    #expect(
        values == [
            RemoteValue(handle: 3, value: [1, 2], length: 2), RemoteValue(handle: 9, value: [], length: 0),
        ])
    // 22 octets fill the response: the second value is cut, or missing altogether.
    let cut = try run(procedure, [("20 0300 0900", "21 1000" + counting(16).hex + "0500 0102")])
    #expect(cut.map(\.isTruncated) == [false, true])
    #expect(cut.last == RemoteValue(handle: 9, value: [1, 2], length: 5))
    let missing = try run(procedure, [("20 0300 0900", "21 1400" + counting(20).hex)])
    #expect(missing == [RemoteValue(handle: 3, value: counting(20), length: 20)])
}
