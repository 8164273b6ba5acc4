import ATT
import BLECore
import TestSupport
import Testing

/// Two bearers on one link with virtual time. Each is a client and a server of the other.
private struct Pair {
    var left = ATTBearer()
    var right = ATTBearer()
    var now = Instant.zero

    /// Transfers frames until neither bearer has any. The servers answer a read with its handle as the value.
    mutating func settle() throws -> (left: [ATTBearer.Event], right: [ATTBearer.Event]) {
        var reported: (left: [ATTBearer.Event], right: [ATTBearer.Event]) = ([], [])
        var moved = true
        while moved {
            moved = false
            if let frame = left.frame() {
                right.receive(frame.span, at: now)
                moved = true
            }
            if let frame = right.frame() {
                left.receive(frame.span, at: now)
                moved = true
            }
            reported.left += try Self.serve(&left)
            reported.right += try Self.serve(&right)
        }
        return reported
    }

    private static func serve(_ bearer: inout ATTBearer) throws -> [ATTBearer.Event] {
        var reported: [ATTBearer.Event] = []
        while let event = bearer.nextEvent() {
            if case .request(.read(let handle)) = event {
                try bearer.respond(.read([UInt8(truncatingIfNeeded: handle.rawValue)]))
            } else {
                reported.append(event)
            }
            if case .unsolicited(.indication) = event { bearer.confirm() }
        }
        return reported
    }
}

@Test func bothEndsActAsClientAndServer() throws {
    var pair = Pair()
    _ = try pair.left.request(.read(3))
    _ = try pair.right.request(.read(4))
    _ = try pair.left.indicate(9, value: [9])
    try pair.right.notify(8, value: [8])
    let reported = try pair.settle()
    #expect(
        reported.left == [
            .unsolicited(.notification(8, value: [8])), .confirmed(2), .response(1, .read([3])),
        ])
    #expect(reported.right == [.unsolicited(.indication(9, value: [9])), .response(1, .read([4]))])
    #expect(pair.left.ignored.total == 0)
    #expect(pair.right.ignored.total == 0)
}

@Test("no unsolicited PDU is sent between an MTU request and its response (3.4.2.2)")
func notificationsWaitForMTUResponse() throws {
    var bearer = ATTBearer()
    try bearer.notify(8, value: [8])
    _ = try bearer.exchangeMTU()
    #expect(bearer.hexFrames() == ["1b080008", "020502"])
    try bearer.notify(8, value: [9])
    _ = try bearer.indicate(9, value: [9])
    // Responses and commands are sent. The request that arrived meanwhile is answered with the default MTU.
    bearer.receive("0a0300")
    _ = bearer.events()
    try bearer.respond(.read([7]))
    try bearer.send(.write(4, value: [4]))
    #expect(bearer.hexFrames() == ["0b07", "52040004"])
    #expect(throws: ATTLimitError(.pdu(.handleValueNotification), maximum: 23, value: 24)) {
        try bearer.notify(8, value: [UInt8](repeating: 0, count: 21))
    }
    bearer.receive("034000")
    #expect(bearer.hexFrames() == ["1b080009", "1d090009"])
    #expect(bearer.mtu == 64)
}

@Test func bothEndsCanExchangeMTU() throws {
    var pair = Pair()
    var configuration = ATTBearer.Configuration()
    configuration.receiveMTU = 100
    pair.right = ATTBearer(configuration)
    _ = try pair.left.exchangeMTU()
    _ = try pair.right.exchangeMTU()
    _ = try pair.settle()
    #expect(pair.left.mtu == 100)
    #expect(pair.right.mtu == 100)
}

@Test func randomRequestsEachEndOnce() throws {
    var random = SplitMix64(seed: 7)
    for _ in 0..<200 {
        var pair = Pair()
        var requests: [ATTTransactionID] = []
        var indications: [ATTTransactionID] = []
        var cancelled: [ATTTransactionID] = []
        var ended: [ATTTransactionID] = []
        for _ in 0..<40 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: requests.append(try pair.left.request(.read(7)))
            case 2: indications.append(try pair.left.indicate(3, value: []))
            case 3: try pair.left.send(.write(3, value: []))
            case 4:
                guard let id = requests.randomElement(using: &random), !ended.contains(id) else { continue }
                pair.left.cancel(id)
                cancelled.append(id)
            default: ended += try pair.settle().left.compactMap(\.ended)
            }
        }
        ended += try pair.settle().left.compactMap(\.ended)
        #expect(ended.sorted() == (indications + requests.filter { !cancelled.contains($0) }).sorted())
        #expect(pair.left.deadline == nil)
    }
}

extension ATTBearer.Event {
    fileprivate var ended: ATTTransactionID? {
        switch self {
        case .response(let id, _), .failed(let id, _), .confirmed(let id): id
        default: nil
        }
    }
}

@Test func randomRequestsEachReceiveOneResponse() throws {
    var random = SplitMix64(seed: 11)
    var bearer = ATTBearer()
    for _ in 0..<50_000 {
        let frame = random.bytes(upTo: 30)
        bearer.receive(frame.span, at: .zero)
        var kinds: [ATTOpcode.Kind] = []
        while let event = bearer.nextEvent() {
            if case .request(let request) = event {
                try bearer.respond(.error(ATTErrorResponse(request.opcode, 1, .unlikelyError)))
            } else if case .unsolicited(.indication) = event {
                bearer.confirm()
            }
        }
        while let sent = bearer.frame() { kinds.append(try #require(ATTOpcode(sent[0]).kind)) }
        let opcode = frame.first.map { ATTOpcode($0) }
        switch opcode?.kind {
        case .request: #expect(kinds == [.response])
        case nil where opcode?.isCommand == false: #expect(kinds == [.response])
        case .unsolicited where opcode == .handleValueIndication: #expect(kinds == [.confirmation])
        default: #expect(kinds == [])
        }
    }
    #expect(bearer.closure == nil)
}
