import ATT
import BLECore
import TestSupport
import Testing

@Test func requestsAreServedOneAtATimeInOrder() throws {
    var bearer = ATTBearer()
    for hex in ["0a0300", "0a0500", "0a0700"] { bearer.receive(hex) }
    #expect(bearer.events() == [.request(.read(3))])
    #expect(try bearer.respond(.read([3])) == true)
    #expect(bearer.events() == [.request(.read(5))])
    #expect(try bearer.respond(.error(ATTErrorResponse(.readRequest, 5, .invalidHandle))) == true)
    #expect(bearer.events() == [.request(.read(7))])
    #expect(bearer.hexFrames() == ["0b03", "010a050001"])
}

@Test func mtuExchangeIsAnsweredInOrder() throws {
    var bearer = ATTBearer()
    bearer.receive("0a0300")
    bearer.receive("02b900")
    #expect(bearer.mtu == .default)
    #expect(try bearer.respond(.read([])) == true)
    #expect(bearer.hexFrames() == ["0b", "030502"])
    #expect(bearer.mtu == 185)
    #expect(bearer.events() == [.request(.read(3)), .mtu(185)])
}

@Test func mtuDecreaseKeepsQueuedPDU() throws {
    var bearer = ATTBearer()
    bearer.receive("020002")
    #expect(bearer.mtu == 512)
    try bearer.notify(3, value: [UInt8](repeating: 7, count: 509))
    bearer.receive("021700")
    #expect(bearer.mtu == .default)
    #expect(bearer.hexFrames().map { $0.count / 2 } == [3, 512, 3])
    #expect(throws: ATTLimitError.self) { try bearer.notify(3, value: [UInt8](repeating: 7, count: 21)) }
}

@Test func bearerRefusesMalformedAndUnknownRequests() {
    let cases = [
        ("0a", "010a000004"), ("0a03", "010a000004"), ("0a030000", "010a000004"), ("02", "0102000004"),
        ("0217", "0102000004"), ("04010002", "0104000004"), ("0e0300", "010e000004"),
        ("200300", "0120000004"),
        ("0801000200" + "0304ff", "0108000004"), ("1802", "0118000004"), ("1603", "0116000004"),
        ("14", "0114000006"), ("22", "0122000006"), ("3f0102", "013f000006"), ("a0", "01a0000006"),
    ]
    var bearer = ATTBearer()
    for (request, response) in cases {
        bearer.receive(request)
        #expect(bearer.hexFrames() == [response])
    }
    #expect(bearer.events() == [])
    #expect(bearer.closure == nil)
}

@Test func requestOverMTUIsRefused() {
    var bearer = ATTBearer()
    bearer.receive("1603000000" + String(repeating: "ff", count: 18))
    #expect(bearer.events().count == 1)
    bearer = ATTBearer()
    bearer.receive("1603000000" + String(repeating: "ff", count: 19))
    #expect(bearer.hexFrames() == ["0116000004"])
    #expect(bearer.events() == [])
}

@Test func ignoredPDUsAreCounted() {
    var bearer = ATTBearer()
    for hex in ["", "52", "5203", "d20300" + "0102", "1e00"] { bearer.receive(hex) }
    #expect(bearer.ignored.malformed == 5)
    for hex in ["40", "7f0102", "ff"] { bearer.receive(hex) }
    #expect(bearer.ignored.unknownCommands == 3)
    bearer.receive("1e")
    #expect(bearer.ignored.confirmations == 1)
    #expect(bearer.ignored.total == 9)
    #expect(bearer.events() == [])
    #expect(bearer.hexFrames() == [])
}

@Test func refusalIsSentInOrder() throws {
    var bearer = ATTBearer()
    bearer.receive("0a0300")
    bearer.receive("0a")
    #expect(bearer.hexFrames() == [])
    #expect(try bearer.respond(.read([1])) == true)
    #expect(bearer.hexFrames() == ["0b01", "010a000004"])
}

@Test func responseMustMatchRequest() throws {
    var bearer = ATTBearer()
    #expect(try bearer.respond(.write) == false)
    bearer.receive("0a0300")
    #expect(try bearer.respond(.write) == false)
    #expect(try bearer.respond(.error(ATTErrorResponse(.writeRequest, 3, .invalidHandle))) == false)
    #expect(throws: ATTLimitError(.pdu(.readResponse), maximum: 23, value: 24)) {
        try bearer.respond(.read([UInt8](repeating: 0, count: 23)))
    }
    #expect(try bearer.respond(.read([])) == true)
    #expect(try bearer.respond(.read([])) == false)
    #expect(bearer.hexFrames() == ["0b"])
}

@Test func unansweredRequestIsRefusedAfterTimeout() throws {
    var bearer = ATTBearer()
    bearer.receive("0a0300", at: 10)
    bearer.receive("0a0500", at: 12)
    #expect(bearer.deadline == .seconds(38))
    bearer.expire(at: .seconds(38))
    #expect(bearer.hexFrames() == ["010a00000e"])
    #expect(bearer.events() == [.request(.read(3)), .overdue(.readRequest), .request(.read(5))])
    #expect(bearer.deadline == .seconds(40))
    #expect(bearer.closure == nil)
}

@Test func requestQueueIsBounded() throws {
    var bearer = ATTBearer()
    for _ in 0..<1000 {
        bearer.receive("0a0300")
        while let event = bearer.nextEvent() {
            #expect(event == .request(.read(3)))
            try bearer.respond(.read([1]))
        }
    }
    // 16 responses and 16 requests wait. The rest was dropped.
    #expect(bearer.ignored.requests == 968)
    var served = 0
    while bearer.frame() != nil {
        served += 1
        while bearer.nextEvent() != nil { try bearer.respond(.read([1])) }
    }
    #expect(served == 32)
}

@Test func indicationsAreSentOneAtATime() throws {
    var bearer = ATTBearer()
    #expect(try bearer.indicate(3, value: [1]) == 1)
    #expect(try bearer.indicate(3, value: [2]) == 2)
    // No indication has been sent yet, so this confirms nothing.
    bearer.receive("1e")
    #expect(bearer.ignored.confirmations == 1)
    #expect(bearer.hexFrames() == ["1d030001"])
    bearer.receive("1e", at: 7)
    #expect(bearer.events() == [.confirmed(1)])
    #expect(bearer.hexFrames(at: 7) == ["1d030002"])
    #expect(bearer.deadline == .seconds(37))
    bearer.receive("1e")
    #expect(bearer.events() == [.confirmed(2)])
    #expect(bearer.deadline == nil)
}

@Test("the indication timeout starts when it is sent, not when it is queued or becomes next")
func indicationTimeoutStartsWhenSent() throws {
    var bearer = ATTBearer()
    _ = try bearer.indicate(3, value: [1])
    _ = try bearer.indicate(3, value: [2])
    #expect(bearer.deadline == nil)
    bearer.expire(at: .seconds(100))
    #expect(bearer.hexFrames(at: 100) == ["1d030001"])
    #expect(bearer.deadline == .seconds(130))
    // The second indication waits for the confirmation until 125 s, and for the channel until 165 s.
    bearer.receive("1e", at: 125)
    #expect(bearer.events() == [.confirmed(1)])
    #expect(bearer.deadline == nil)
    bearer.expire(at: .seconds(160))
    #expect(bearer.events() == [])
    #expect(bearer.hexFrames(at: 165) == ["1d030002"])
    #expect(bearer.deadline == .seconds(195))
    bearer.expire(at: .seconds(194))
    #expect(bearer.events() == [] && bearer.closure == nil)
    bearer.receive("1e", at: 194)
    #expect(bearer.events() == [.confirmed(2)])
    #expect(bearer.deadline == nil)
}

@Test func unconfirmedIndicationClosesBearer() throws {
    var bearer = ATTBearer()
    _ = try bearer.indicate(3, value: [1])
    _ = bearer.hexFrames()
    bearer.expire(at: .seconds(30))
    #expect(bearer.events() == [.failed(1, .closed(.transactionTimeout)), .closed(.transactionTimeout)])
}

@Test func valuesOverMTUAreTruncatedOnlyOnRequest() throws {
    var bearer = ATTBearer()
    let value = [UInt8](0..<21)
    #expect(throws: ATTLimitError(.pdu(.handleValueNotification), maximum: 23, value: 24)) {
        try bearer.notify(3, value: value)
    }
    #expect(throws: ATTLimitError(.pdu(.handleValueIndication), maximum: 23, value: 24)) {
        try bearer.indicate(3, value: value)
    }
    try bearer.notify(3, value: value, truncating: true)
    _ = try bearer.indicate(3, value: value, truncating: true)
    let cut = value[..<20].hex
    #expect(bearer.hexFrames() == ["1b0300" + cut, "1d0300" + cut])
}

@Test func notifyChoosesPDUByValueCount() throws {
    var bearer = ATTBearer()
    var values = ATTTupleList<ATTHandleLengthValue>()
    try bearer.notify(values)
    values.append(ATTHandleLengthValue(3, [1]))
    try bearer.notify(values)
    values.append(ATTHandleLengthValue(5, [2, 3]))
    try bearer.notify(values)
    #expect(bearer.hexFrames() == ["1b030001", "23" + "0300010001" + "050002000203"])
}

@Test func readyIsReportedAfterRefusedNotification() throws {
    var configuration = ATTBearer.Configuration()
    configuration.unsolicitedLimit = 2
    configuration.indicationLimit = 1
    var bearer = ATTBearer(configuration)
    try bearer.notify(3, value: [1])
    try bearer.notify(3, value: [2])
    #expect(throws: ATTLimitError(.notifications, maximum: 2, value: 3)) { try bearer.notify(3, value: [3]) }
    #expect(bearer.events() == [])
    #expect(bearer.frame()?.hex == "1b030001")
    #expect(bearer.events() == [.ready])
    #expect(bearer.frame()?.hex == "1b030002")
    #expect(bearer.events() == [])
    _ = try bearer.indicate(3, value: [])
    _ = try bearer.indicate(3, value: [])
    #expect(throws: ATTLimitError(.indications, maximum: 1, value: 2)) {
        try bearer.indicate(3, value: [])
    }
}
