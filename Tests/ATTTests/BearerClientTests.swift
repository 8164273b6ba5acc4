import ATT
import BLECore
import TestSupport
import Testing

@Test func requestsAreSentOneAtATimeInOrder() throws {
    var bearer = ATTBearer()
    #expect(try bearer.request(.read(3)) == 1)
    #expect(try bearer.request(.read(5)) == 2)
    #expect(bearer.hexFrames() == ["0a0300"])
    bearer.receive("0baa")
    #expect(bearer.events() == [.response(1, .read([0xaa]))])
    #expect(bearer.hexFrames() == ["0a0500"])
    bearer.receive("010a050002")
    #expect(bearer.events() == [.response(2, .error(ATTErrorResponse(.readRequest, 5, .readNotPermitted)))])
    #expect(bearer.hexFrames() == [])
    #expect(bearer.deadline == nil)
}

@Test func commandsBypassQueuedRequests() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.read(3))
    #expect(bearer.hexFrames() == ["0a0300"])
    _ = try bearer.request(.read(5))
    try bearer.send(.write(7, value: [1]))
    #expect(bearer.hexFrames() == ["52070001"])
}

@Test func requestsAndCommandsKeepOrderWithoutPendingRequest() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.write(3, value: [1]))
    try bearer.send(.write(3, value: [2]))
    #expect(bearer.hexFrames() == ["12030001", "52030002"])
}

@Test func mtuExchangeUsesSmallerMTU() throws {
    for (theirs, agreed) in [("1700", 23), ("1000", 23), ("b900", 185), ("0502", 517), ("ffff", 517)] {
        var bearer = ATTBearer()
        let id = try bearer.exchangeMTU()
        #expect(bearer.hexFrames() == ["020502"])
        bearer.receive("03" + theirs)
        #expect(bearer.mtu.octets == agreed)
        let events = bearer.events()
        #expect(events.contains(.mtu(ATTMTU(UInt16(agreed)))) == (agreed != 23))
        guard case .response(id, .exchangeMTU) = events.last else {
            Issue.record("no response but \(events)")
            return
        }
    }
}

@Test func unsupportedMTUExchangeKeepsDefaultMTU() throws {
    var bearer = ATTBearer()
    _ = try bearer.exchangeMTU()
    _ = bearer.hexFrames()
    bearer.receive("0102000006")
    #expect(bearer.mtu == .default)
    #expect(
        bearer.events() == [
            .response(1, .error(ATTErrorResponse(.exchangeMTURequest, 0, .requestNotSupported)))
        ])
}

@Test func cancelledRequestsProduceNoEvents() throws {
    var bearer = ATTBearer()
    let sent = try bearer.request(.read(1))
    #expect(bearer.hexFrames() == ["0a0100"])
    let waiting = try bearer.request(.read(2))
    _ = try bearer.request(.read(3))
    bearer.cancel(sent)
    bearer.cancel(waiting)
    // The request that was sent must be answered before the next one is sent.
    #expect(bearer.hexFrames() == [])
    bearer.receive("0baa")
    #expect(bearer.events() == [])
    #expect(bearer.hexFrames() == ["0a0300"])
}

@Test func cancelRemovesUnsentRequest() throws {
    var bearer = ATTBearer()
    let first = try bearer.request(.read(1))
    _ = try bearer.request(.read(2))
    try bearer.send(.write(3, value: []))
    bearer.cancel(first)
    #expect(bearer.hexFrames() == ["520300", "0a0200"])
    bearer.receive("0b")
    #expect(bearer.events() == [.response(2, .read([]))])
}

@Test func timeoutFailsAllPendingTransactions() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.read(1))
    _ = bearer.hexFrames(at: 5)
    _ = try bearer.request(.read(2))
    _ = try bearer.indicate(7, value: [])
    _ = try bearer.indicate(9, value: [])
    #expect(bearer.deadline == .seconds(35))
    bearer.expire(at: .seconds(34))
    #expect(bearer.events() == [])
    bearer.expire(at: .seconds(35))
    let why = ATTTransactionError.closed(.transactionTimeout)
    #expect(
        bearer.events() == [
            .failed(1, why), .failed(2, why), .failed(3, why), .failed(4, why), .closed(.transactionTimeout),
        ])
    #expect(bearer.closure == .transactionTimeout)
    // The bearer sends nothing more, and ignores what arrives.
    bearer.receive("0a0300")
    _ = try bearer.request(.read(3))
    try bearer.send(.write(3, value: []))
    #expect(bearer.hexFrames() == [])
    #expect(bearer.events() == [.failed(5, why)])
    #expect(bearer.deadline == nil)
}

@Test func commandsDiscardedAtTimeoutCountAsUnsent() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.read(1))
    _ = bearer.hexFrames()
    try bearer.send(.write(3, value: [1]))
    try bearer.notify(7, value: [2])
    bearer.expire(at: .seconds(30))
    #expect(bearer.closure == .transactionTimeout)
    #expect(bearer.unsentNotifications == 2)
    #expect(bearer.hexFrames() == [])
    try bearer.send(.write(3, value: [1]))
    #expect(bearer.unsentNotifications == 2)
}

@Test func malformedResponseFailsOnlyItsRequest() throws {
    let cases: [(String, ATTTransactionError)] = [
        (
            "090001",
            .malformedResponse(
                DecodeError(
                    packet: "Read By Type Response", field: "length", offset: 1, reason: .invalid(value: 0)))
        ),
        (
            "0108",
            .malformedResponse(
                DecodeError(
                    packet: "Error Response", field: "attribute handle in error", offset: 2,
                    reason: .truncated(needed: 2, available: 0)))
        ),
    ]
    for (hex, error) in cases {
        var bearer = ATTBearer()
        _ = try bearer.request(.readByType(.all, type: 0x2803))
        _ = try bearer.request(.read(3))
        _ = bearer.hexFrames()
        bearer.receive(hex)
        #expect(bearer.events() == [.failed(1, error)])
        #expect(bearer.hexFrames() == ["0a0300"])
        bearer.receive("0b01")
        #expect(bearer.events() == [.response(2, .read([1]))])
    }
}

@Test("the request timeout starts when the request is sent, not when it is queued")
func requestTimeoutStartsWhenSent() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.read(1))
    _ = try bearer.request(.read(2))
    #expect(bearer.deadline == nil)
    bearer.expire(at: .seconds(100))
    #expect(bearer.hexFrames(at: 100) == ["0a0100"])
    #expect(bearer.deadline == .seconds(130))
    bearer.receive("0b01", at: 129)
    #expect(bearer.deadline == nil)
    #expect(bearer.hexFrames(at: 150) == ["0a0200"])
    #expect(bearer.deadline == .seconds(180))
}

@Test("an unwritable channel defers the transaction timeout, for at most a minute")
func unwritableChannelDefersTimeout() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.read(1))
    _ = bearer.hexFrames(at: 0)
    bearer.setWritable(false, at: .seconds(0))
    #expect(bearer.deadline == .seconds(60))
    bearer.setWritable(true, at: .seconds(28))
    #expect(bearer.deadline == .seconds(58))
    // A channel that another PDU fills has sent the request.
    _ = try bearer.notify(3, value: [])
    _ = bearer.hexFrames(at: 40)
    bearer.setWritable(false, at: .seconds(40))
    bearer.setWritable(true, at: .seconds(50))
    #expect(bearer.deadline == .seconds(58))
    bearer.receive("0b01", at: 51)
    _ = try bearer.indicate(7, value: [])
    _ = bearer.hexFrames(at: 60)
    bearer.setWritable(false, at: .seconds(60))
    bearer.setWritable(true, at: .seconds(80))
    #expect(bearer.deadline == .seconds(110))
}

@Test func mismatchedResponsesDoNotShiftLaterResponses() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.write(3, value: [1]))
    for handle: AttributeHandle in [5, 7] { _ = try bearer.request(.read(handle)) }
    #expect(bearer.hexFrames() == ["12030001"])
    // The response to a read, and an error about a command.
    bearer.receive("0baa")
    bearer.receive("0152030002")
    // An error about a notification or a confirmation of this host's server.
    bearer.receive("011b030006")
    bearer.receive("011e000006")
    #expect(bearer.events() == [])
    #expect(bearer.hexFrames() == [])
    bearer.receive("13")
    #expect(bearer.hexFrames() == ["0a0500"])
    bearer.receive("0b05")
    #expect(bearer.hexFrames() == ["0a0700"])
    bearer.receive("0b07")
    #expect(
        bearer.events() == [.response(1, .write), .response(2, .read([5])), .response(3, .read([7]))])
}

@Test func errorAboutAnotherRequestFailsTheOpenOne() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.readByType(.all, type: 0x2803))
    _ = try bearer.request(.read(3))
    _ = bearer.hexFrames()
    bearer.receive("011001000a")
    #expect(
        bearer.events() == [.failed(1, .foreignError(about: .readByGroupTypeRequest, to: .readByTypeRequest))]
    )
    #expect(bearer.hexFrames() == ["0a0300"])
    bearer.receive("0b05")
    #expect(bearer.events() == [.response(2, .read([5]))])
}

@Test func requestTimeoutReportsMismatchedResponse() throws {
    var bearer = ATTBearer()
    _ = try bearer.request(.readByType(.all, type: 0x2803))
    _ = try bearer.request(.read(3))
    _ = bearer.hexFrames()
    bearer.receive("0152030002")
    bearer.receive("13")
    bearer.expire(at: .seconds(30))
    #expect(
        bearer.events() == [
            .failed(1, .unexpectedResponse(.writeResponse, to: .readByTypeRequest)),
            .failed(2, .closed(.transactionTimeout)), .closed(.transactionTimeout),
        ])
}

@Test func strayResponsesAreIgnoredAndCounted() throws {
    var bearer = ATTBearer()
    bearer.receive("0baa")
    bearer.receive("010a030002")
    _ = try bearer.request(.read(3))
    // The request has not been sent yet, so this cannot be its response.
    bearer.receive("0baa")
    #expect(bearer.events() == [])
    #expect(bearer.ignored.responses == 3)
    _ = bearer.hexFrames()
    // An error for a Signed Write Command does not concern the read.
    bearer.receive("01d2030005")
    #expect(bearer.events() == [])
    #expect(bearer.ignored.responses == 4)
    bearer.receive("0b01")
    #expect(bearer.events() == [.response(1, .read([1]))])
}

@Test func indicationsRequireExplicitConfirmation() throws {
    var bearer = ATTBearer()
    bearer.confirm()
    #expect(bearer.hexFrames() == [])
    bearer.receive("1d030001")
    bearer.receive("1b030002")
    #expect(
        bearer.events() == [
            .unsolicited(.indication(3, value: [1])), .unsolicited(.notification(3, value: [2])),
        ])
    #expect(bearer.hexFrames() == [])
    bearer.confirm()
    bearer.confirm()
    #expect(bearer.hexFrames() == ["1e"])
}

@Test func malformedIndicationIsConfirmedNotificationIgnored() throws {
    var bearer = ATTBearer()
    bearer.receive("1d03")
    bearer.receive("1b03")
    bearer.receive("23030001")
    #expect(bearer.events() == [])
    #expect(bearer.hexFrames() == ["1e"])
    #expect(bearer.ignored.malformed == 3)
}

@Test func exceedingLimitsThrowsLimitError() throws {
    var bearer = ATTBearer()
    let value = [UInt8](repeating: 0, count: 21)
    #expect(throws: ATTLimitError(.pdu(.writeRequest), maximum: 23, value: 24)) {
        try bearer.request(.write(3, value: value))
    }
    #expect(throws: ATTLimitError(.pdu(.writeCommand), maximum: 23, value: 24)) {
        try bearer.send(.write(3, value: value))
    }
    for _ in 0..<64 { try bearer.send(.write(3, value: [])) }
    #expect(throws: ATTLimitError(.notifications, maximum: 64, value: 65)) {
        try bearer.send(.write(3, value: []))
    }
    for _ in 0..<65 { _ = try bearer.request(.read(3)) }
    #expect(throws: ATTLimitError(.requests, maximum: 64, value: 65)) { try bearer.request(.read(3)) }
    #expect(
        "\(ATTLimitError(.pdu(.writeRequest), maximum: 23, value: 24))"
            == "Write Request: 24 octets, the MTU allows 23")
}
