import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

@Test("GAW/CL/BV-03-C, BV-08-C: a value that fits one PDU")
func writesAValue() throws {
    try run(WriteValue(0x0003, [1, 2]), [("12 0300 0102", "13")])
    let error = try failure(of: WriteValue(0x0003, [1, 2]), [("12 0300 0102", "01 12 0300 03")])
    #expect(error == .att(ATTErrorResponse(.writeRequest, 0x0003, .writeNotPermitted)))
}

@Test("GAN/CL/BV-01-C, GAI/CL/BV-01-C: the CCCD values that subscribe and unsubscribe")
func writesAConfiguration() throws {
    try run(WriteValue(0x0013, configuration: .notify), [("12 1300 0100", "13")])
    try run(WriteValue(0x0013, configuration: .indicate), [("12 1300 0200", "13")])
    try run(WriteValue(0x0013, configuration: []), [("12 1300 0000", "13")])
}

private let long = counting(40)
private let parts: Dialogue = [
    ("16 0300 0000" + counting(18).hex, "17 0300 0000" + counting(18).hex),
    ("16 0300 1200" + counting(18, from: 18).hex, "17 0300 1200" + counting(18, from: 18).hex),
    ("16 0300 2400 24252627", "17 0300 2400 24252627"),
]

@Test("GAW/CL/BV-05-C, BV-09-C: a long value")
func writesALongValue() throws {
    try run(WriteLongValue(0x0003, long), parts + [("18 01", "19")])
    try run(WriteLongValue(0x0003, [7], at: 300), [("16 0300 2c01 07", "17 0300 2c01 07"), ("18 01", "19")])
    try run(WriteLongValue(0x0003, []), [("16 0300 0000", "17 0300 0000"), ("18 01", "19")])
}

@Test("GAW/CL/BV-06-C: a reliable write of two values")
func writesReliably() throws {
    try run(
        ReliableWrite([(0x0003, long), (0x0009, [1])]),
        parts + [("16 0900 0000 01", "17 0900 0000 01"), ("18 01", "19")])
    try run(ReliableWrite([]), [])
}

@Test("GAW/CL/BI-03-C and others: a refused part cancels the prepared writes")
func refusedPartCancelsPreparedWrites() throws {
    let refusal = ("16 0300 1200" + counting(18, from: 18).hex, "01 16 0300 09")
    let full = GATTClientError.att(ATTErrorResponse(.prepareWriteRequest, 0x0003, .prepareQueueFull))
    // For any response of the server to the cancel, the first error is thrown.
    for end in ["19", "01 18 0000 0e", "0b"] {
        let dialogue: Dialogue = [parts[0], refusal, ("18 00", end)]
        #expect(try failure(of: WriteLongValue(0x0003, long), dialogue) == full)
    }
    // Nothing was queued yet, so there is nothing to cancel.
    let first: Dialogue = [(parts[0].ask, "01 16 0300 09")]
    #expect(try failure(of: WriteLongValue(0x0003, long), first) == full)
}

@Test func refusedExecuteWriteIsNotCancelled() throws {
    let error = try failure(of: WriteLongValue(0x0003, long), parts + [("18 01", "01 18 0300 0d")])
    #expect(error == .att(ATTErrorResponse(.executeWriteRequest, 0x0003, .invalidAttributeValueLength)))
}

@Test("GAW/CL/BI-32-C: a wrong echo cancels a reliable write but not a long write")
func wrongEchoCancelsReliableWrite() throws {
    for echo in ["17 0300 0000 0103", "17 0300 0000 01", "17 0300 0100 0102", "17 0400 0000 0102"] {
        let start: Dialogue = [("16 0300 0000 0102", echo)]
        let error = try failure(of: ReliableWrite([(0x0003, [1, 2])]), start + [("18 00", "19")])
        #expect(error == .misbehaving(.prepareWriteRequest, .wrongEcho(0x0003, offset: 0)))
        try run(WriteLongValue(0x0003, [1, 2]), start + [("18 01", "19")])
    }
}

@Test func abandonedLongWriteCanBeCancelled() throws {
    var write = WriteLongValue(0x0003, long)
    #expect(write.undo == nil)
    _ = try write.next(mtu: 23)
    // The request has been sent: the server will queue the part.
    #expect(write.undo == .executeWrite(.cancel))
    try write.receive(try ATTResponse(octets(parts[0].answer)))
    #expect(write.undo == .executeWrite(.cancel))
    for part in parts[1...] {
        _ = try write.next(mtu: 23)
        try write.receive(try ATTResponse(octets(part.answer)))
    }
    _ = try write.next(mtu: 23)
    try write.receive(.executeWrite)
    #expect(write.undo == nil)
    #expect(ReadValue(3).undo == nil)
}

@Test func valuesOverTheLimitAreNotSent() throws {
    let expected = GATTClientError.limit(.valueLength, maximum: 512, value: 513)
    #expect(try failure(of: WriteLongValue(0x0003, counting(513)), []) == expected)
    #expect(try failure(of: WriteLongValue(0x0003, [1], at: 512), []) == expected)
    #expect(try failure(of: ReliableWrite([(0x0003, [1]), (0x0004, counting(513))]), []) == expected)
}
