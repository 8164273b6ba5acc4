import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

/// False contents of well-formed responses, and the error that the client makes of each.
private let lies:
    [(name: String, error: @Sendable () throws -> GATTClientError?, expected: GATTClientError)] = [
        (
            "services in descending order",
            {
                try failure(
                    of: DiscoverServices.primary,
                    [("10 0100 ffff 0028", "11 06 1000 1f00 0018 0100 0200 0118")])
            },
            unexpected(.readByGroupTypeRequest, 0x0001, 0x0020)
        ),
        (
            "the same services repeatedly",
            {
                try failure(
                    of: DiscoverServices.primary,
                    [
                        ("10 0100 ffff 0028", "11 06 0100 0f00 0018"),
                        ("10 1000 ffff 0028", "11 06 0100 0f00 0018"),
                    ])
            },
            unexpected(.readByGroupTypeRequest, 0x0001, 0x0010)
        ),
        (
            "services that overlap",
            {
                try failure(
                    of: DiscoverServices.primary,
                    [("10 0100 ffff 0028", "11 06 0100 0f00 0018 0f00 1f00 0118")])
            },
            unexpected(.readByGroupTypeRequest, 0x000f, 0x0010)
        ),
        (
            "a service after the last handle",
            {
                try failure(
                    of: DiscoverServices.primary,
                    [("10 0100 ffff 0028", "11 06 0100 ffff 0018 ffff ffff 0118")])
            },
            .misbehaving(.readByGroupTypeRequest, .unexpectedHandle(0xffff, expected: nil))
        ),
        (
            "a service at handle 0",
            { try failure(of: DiscoverServices.primary, [("10 0100 ffff 0028", "11 06 0000 ffff 0018")]) },
            unexpected(.readByGroupTypeRequest, 0x0000, 0x0001)
        ),
        (
            "a service whose end precedes its start",
            {
                try failure(
                    of: DiscoverServices.primary(0x1800), [("06 0100 ffff 0028 0018", "07 1000 0f00")])
            },
            .misbehaving(.findByTypeValueRequest, .badGroup(0x0010, end: 0x000f))
        ),
        (
            "a service UUID of 3 octets",
            { try failure(of: DiscoverServices.primary, [("10 0100 ffff 0028", "11 07 0100 0f00 001800")]) },
            .misbehaving(
                .readByGroupTypeRequest,
                .malformed(
                    DecodeError(
                        packet: "service declaration", field: "service UUID", offset: 0,
                        reason: .malformed("a UUID has 2 or 16 octets, not 3"))))
        ),
        (
            "a response of another type",
            { try failure(of: DiscoverServices.primary, [("10 0100 ffff 0028", "09 06 0100 0f00 0018")]) },
            .misbehaving(.readByGroupTypeRequest, .unexpectedResponse(.readByTypeResponse))
        ),
        (
            "a characteristic before its service",
            {
                try failure(
                    of: DiscoverCharacteristics(in: range), [("08 1000 1f00 0328", "09 07 0f00 02 1000 002a")]
                )
            },
            .misbehaving(.readByTypeRequest, .unexpectedHandle(0x000f, expected: range))
        ),
        (
            "a characteristic after its service",
            {
                try failure(
                    of: DiscoverCharacteristics(in: range), [("08 1000 1f00 0328", "09 07 2000 02 2100 002a")]
                )
            },
            .misbehaving(.readByTypeRequest, .unexpectedHandle(0x0020, expected: range))
        ),
        (
            "a characteristic whose value does not follow its declaration",
            {
                try failure(
                    of: DiscoverCharacteristics(in: range), [("08 1000 1f00 0328", "09 07 1200 02 1200 002a")]
                )
            },
            .misbehaving(.readByTypeRequest, .badValueHandle(0x0012, value: 0x0012))
        ),
        (
            "a characteristic whose value is in another service",
            {
                try failure(
                    of: DiscoverCharacteristics(in: range), [("08 1000 1f00 0328", "09 07 1200 02 2000 002a")]
                )
            },
            .misbehaving(.readByTypeRequest, .badValueHandle(0x0012, value: 0x0020))
        ),
        (
            "a characteristic whose value is in the next one",
            {
                try failure(
                    of: DiscoverCharacteristics(in: range),
                    [("08 1000 1f00 0328", "09 07 1200 02 1500 002a 1500 02 1600 012a")])
            },
            .misbehaving(.readByTypeRequest, .badValueHandle(0x0012, value: 0x0015))
        ),
        (
            "a truncated characteristic declaration",
            {
                try failure(
                    of: DiscoverCharacteristics(in: range), [("08 1000 1f00 0328", "09 04 1200 02 13")])
            },
            .misbehaving(
                .readByTypeRequest,
                .malformed(
                    DecodeError(
                        packet: "characteristic declaration", field: "value handle", offset: 1,
                        reason: .truncated(needed: 2, available: 1))))
        ),
        (
            "a descriptor of the next characteristic",
            {
                try failure(
                    of: DiscoverDescriptors(in: range), [("04 1000 1f00", "05 01 1000 0229 2000 0229")])
            },
            .misbehaving(
                .findInformationRequest, .unexpectedHandle(0x0020, expected: AttributeRange(0x0011, 0x001f)))
        ),
        (
            "a duplicate descriptor",
            {
                try failure(
                    of: DiscoverDescriptors(in: range), [("04 1000 1f00", "05 01 1000 0229 1000 0229")])
            },
            .misbehaving(
                .findInformationRequest, .unexpectedHandle(0x0010, expected: AttributeRange(0x0011, 0x001f)))
        ),
        (
            "an included service whose end precedes its start",
            {
                try failure(
                    of: FindIncludedServices(in: range), [("08 1000 1f00 0228", "09 06 1100 6000 5f00")])
            },
            .misbehaving(.readByTypeRequest, .badGroup(0x0060, end: 0x005f))
        ),
        (
            "an included service without a type",
            {
                try failure(
                    of: FindIncludedServices(in: range),
                    [("08 1000 1f00 0228", "09 06 1f00 6000 6f00"), ("0a 6000", "0b 01")])
            },
            .misbehaving(
                .readRequest,
                .malformed(
                    DecodeError(
                        packet: "service declaration", field: "service UUID", offset: 0,
                        reason: .malformed("a UUID has 2 or 16 octets, not 1"))))
        ),
        (
            "another response to the read of an included service",
            {
                try failure(
                    of: FindIncludedServices(in: range),
                    [("08 1000 1f00 0228", "09 06 1f00 6000 6f00"), ("0a 6000", "0d 0018")])
            },
            .misbehaving(.readRequest, .unexpectedResponse(.readBlobResponse))
        ),
        (
            "a value over the maximum length",
            {
                try failure(
                    of: ReadLongValue(0x0003), mtu: 301,
                    [
                        ("0a 0300", "0b" + counting(300).hex), ("0c 0300 2c01", "0d" + counting(300).hex),
                    ])
            },
            .misbehaving(.readBlobRequest, .overlong(octets: 600, limit: 512))
        ),
        (
            "a part over the MTU",
            { try failure(of: ReadLongValue(0x0003), [("0a 0300", "0b" + counting(23).hex)]) },
            .misbehaving(.readRequest, .overlong(octets: 23, limit: 22))
        ),
        (
            "the first part again instead of the next",
            {
                try failure(
                    of: ReadLongValue(0x0003),
                    [("0a 0300", "0b" + counting(22).hex), ("0c 0300 1600", "0b 00")])
            },
            .misbehaving(.readBlobRequest, .unexpectedResponse(.readResponse))
        ),
        (
            "values of a type out of order",
            { try failure(of: ReadUsingUUID(0x2a00), [("08 0100 ffff 002a", "09 03 0300 01 0200 02")]) },
            unexpected(.readByTypeRequest, 0x0002, 0x0004)
        ),
        (
            "more values than requested",
            { try failure(of: ReadMultipleVariable([3, 9]), [("20 0300 0900", "21 0000 0000 0000")]) },
            .misbehaving(.readMultipleVariableRequest, .wrongCount(3, expected: 2))
        ),
        (
            "fewer values than requested, with room for more",
            { try failure(of: ReadMultipleVariable([3, 9]), [("20 0300 0900", "21 0300 010203")]) },
            .misbehaving(.readMultipleVariableRequest, .wrongCount(1, expected: 2))
        ),
        (
            "a value with a larger stated length, with room for more",
            { try failure(of: ReadMultipleVariable([3, 9]), [("20 0300 0900", "21 0100 01 0900 02")]) },
            .misbehaving(.readMultipleVariableRequest, .wrongCount(2, expected: 2))
        ),
        (
            "variable values over the MTU",
            {
                try failure(
                    of: ReadMultipleVariable([3, 9]),
                    [("20 0300 0900", "21 1400" + counting(20).hex + "0100")])
            },
            .misbehaving(.readMultipleVariableRequest, .overlong(octets: 24, limit: 22))
        ),
        (
            "a Write Request answered with a Read Response",
            { try failure(of: WriteValue(0x0003, [1]), [("12 0300 01", "0b")]) },
            .misbehaving(.writeRequest, .unexpectedResponse(.readResponse))
        ),
        (
            "a Prepare Write Request answered with a Write Response",
            { try failure(of: WriteLongValue(0x0003, [1]), [("16 0300 0000 01", "13"), ("18 00", "19")]) },
            .misbehaving(.prepareWriteRequest, .unexpectedResponse(.writeResponse))
        ),
        (
            "an Execute Write Request answered with a Write Response",
            {
                try failure(
                    of: WriteLongValue(0x0003, [1]),
                    [("16 0300 0000 01", "17 0300 0000 01"), ("18 01", "13")])
            },
            .misbehaving(.executeWriteRequest, .unexpectedResponse(.writeResponse))
        ),
    ]

private let range = AttributeRange(0x0010, 0x001f)

private func unexpected(
    _ request: ATTOpcode, _ handle: AttributeHandle, _ start: AttributeHandle
) -> GATTClientError {
    .misbehaving(request, .unexpectedHandle(handle, expected: AttributeRange(start, .last)))
}

@Test(arguments: lies.indices)
func misbehavingResponsesAreReported(index: Int) throws {
    let lie = lies[index]
    #expect(try lie.error() == lie.expected, "\(lie.name)")
}

@Test func errorDescriptionsAreOneLine() {
    for lie in lies {
        #expect(!"\(lie.expected)".contains("\n") && !"\(lie.expected)".contains("("), "\(lie.expected)")
    }
    let error = GATTClientError.att(ATTErrorResponse(.readRequest, 0x0003, .readNotPermitted))
    #expect("\(error)" == "Read Request of 0x0003: Read Not Permitted (0x02)")
    #expect(
        "\(unexpected(.readByTypeRequest, 0x0002, 0x0004))"
            == "answer to Read By Type Request: attribute 0x0002 is not within 0x0004...0xffff")
    #expect(
        "\(GATTClientError.limit(.valueLength, maximum: 512, value: 600))"
            == "a value of 600 octets, at most 512")
}
