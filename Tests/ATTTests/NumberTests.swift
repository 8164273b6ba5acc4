import ATT
import BLECore
import Testing

@Test func errorCodeNamesMatchSpecification() {
    let names: [(UInt8, String)] = [
        (0x01, "Invalid Handle"), (0x02, "Read Not Permitted"), (0x03, "Write Not Permitted"),
        (0x04, "Invalid PDU"), (0x05, "Insufficient Authentication"), (0x06, "Request Not Supported"),
        (0x07, "Invalid Offset"), (0x08, "Insufficient Authorization"), (0x09, "Prepare Queue Full"),
        (0x0a, "Attribute Not Found"), (0x0b, "Attribute Not Long"), (0x0c, "Encryption Key Size Too Short"),
        (0x0d, "Invalid Attribute Value Length"), (0x0e, "Unlikely Error"), (0x0f, "Insufficient Encryption"),
        (0x10, "Unsupported Group Type"), (0x11, "Insufficient Resources"), (0x12, "Database Out Of Sync"),
        (0x13, "Value Not Allowed"), (0xfc, "Write Request Rejected"),
        (0xfd, "Client Characteristic Configuration Descriptor Improperly Configured"),
        (0xfe, "Procedure Already In Progress"), (0xff, "Out Of Range"),
    ]
    for (number, name) in names { #expect(ATTErrorCode(number).name == name) }
    #expect((0...UInt8.max).count { ATTErrorCode($0).name != nil } == names.count)
}

@Test func unnamedErrorCodesDescribeTheirRange() {
    #expect("\(ATTErrorCode(0x01))" == "Invalid Handle (0x01)")
    #expect("\(ATTErrorCode(0x80))" == "application error 0x80")
    #expect("\(ATTErrorCode(0xe0))" == "common profile error 0xe0")
    #expect("\(ATTErrorCode(0x50))" == "reserved error 0x50")
    #expect(ATTErrorCode.application(0x7f) == nil)
    #expect(ATTErrorCode.application(0x9f) == ATTErrorCode(0x9f))
    #expect(ATTErrorCode.application(0xa0) == nil)
}

@Test func opcodesExposeCommandAndSignedFlags() {
    #expect(ATTOpcode.signedWriteCommand.isCommand && ATTOpcode.signedWriteCommand.isSigned)
    #expect(ATTOpcode.writeCommand.isCommand && !ATTOpcode.writeCommand.isSigned)
    #expect(!ATTOpcode.writeRequest.isCommand)
    #expect("\(ATTOpcode(0x7f))" == "opcode 0x7f")
}

@Test func mtuLimitsValueLengths() {
    let table: [(UInt16, read: Int, byType: Int, byGroup: Int, write: Int, prepare: Int)] = [
        (23, 22, 19, 17, 20, 18), (100, 99, 96, 94, 97, 95), (256, 255, 252, 250, 253, 251),
        (257, 256, 253, 251, 254, 252), (258, 257, 253, 251, 255, 253), (517, 516, 253, 251, 514, 512),
    ]
    for row in table {
        let mtu = ATTMTU(row.0)
        #expect(mtu.readValue == row.read)
        #expect(mtu.readByTypeValue == row.byType)
        #expect(mtu.readByGroupTypeValue == row.byGroup)
        #expect(mtu.writeValue == row.write)
        #expect(mtu.notificationValue == row.write)
        #expect(mtu.prepareWriteValue == row.prepare)
    }
    #expect(ATTMTU(0) == .default)
    #expect(ATTMTU(.max) == .maximum)
}

@Test func attributeRangeAfterHandleIsRemainder() {
    #expect(AttributeRange(3, 9).after(5) == AttributeRange(6, 9))
    #expect(AttributeRange(3, 9).after(1) == AttributeRange(3, 9))
    #expect(AttributeRange(3, 9).after(9) == nil)
    #expect(AttributeRange.all.after(0xffff) == nil)
    #expect(!AttributeRange(0, 9).isValid && !AttributeRange(5, 4).isValid && AttributeRange(5, 5).isValid)
    #expect(AttributeRange(3, 4).contains(4) && !AttributeRange(3, 4).contains(5))
}
