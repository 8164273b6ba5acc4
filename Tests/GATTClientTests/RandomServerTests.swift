import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

/// A server that sends random responses of the type that a request requires: often plausible, sometimes false.
private struct RandomServer {
    var random: SplitMix64
    let mtu = 23
    /// The number of errors in 10 responses.
    var refusals = 2

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Returns a handle that in most cases follows `start` closely.
    mutating func handle(_ start: AttributeHandle) -> AttributeHandle {
        let near = UInt16(clamping: Int(start.rawValue) + number(0...3))
        return AttributeHandle(number(0...60) == 0 ? UInt16(truncatingIfNeeded: random.next()) : near)
    }

    mutating func octets(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(number(0...255)) } }

    mutating func answer(_ request: ATTRequest) -> ATTResponse? {
        if number(1...10) <= refusals {
            let codes: [ATTErrorCode] = [
                .attributeNotFound, .invalidOffset, .unlikelyError, .unsupportedGroupType,
            ]
            return .error(ATTErrorResponse(request.opcode, .none, codes[number(0...3)]))
        }
        return try? ATTResponse(pdu(request))
    }

    private mutating func pdu(_ request: ATTRequest) -> [UInt8] {
        let opcode = [request.opcode.rawValue + 1]
        switch request {
        case .readByGroupType(let range, _):
            return opcode + [6] + list(range.start, 3, isGroup: true) { $0.octets(2) }
        case .findByTypeValue(let range, _, _):
            return opcode + list(range.start, 5, isGroup: true) { _ in [] }
        case .readByType(let range, let type):
            let isInclude = type.uuid == .include
            let length = isInclude ? [6, 8][number(0...1)] : 7
            return opcode + [UInt8(length)]
                + list(range.start, 2, isGroup: false) { server in
                    let first = server.handle(range.start.next ?? .last)
                    if isInclude {
                        return first.octets + server.handle(first).octets + server.octets(length - 6)
                    }
                    return server.octets(1) + first.octets + server.octets(2)
                }
        case .findInformation(let range):
            return opcode + [1] + list(range.start, 5, isGroup: false) { $0.octets(2) }
        case .read, .readBlob, .readMultiple:
            return opcode + octets(number(0...2) == 0 ? number(0...22) : [2, 16, 22][number(0...2)])
        case .readMultipleVariable: return opcode + octets(number(4...22))
        case .prepareWrite(let handle, let offset, let value):
            let changed = number(0...20) == 0 ? octets(value.count) : value
            return ATTResponse.prepareWrite(handle, offset: offset, value: changed).encoded
        case .write, .executeWrite: return opcode
        case .exchangeMTU: return opcode + [23, 0]
        }
    }

    /// Returns up to `limit` entries of a list, each a handle, the end of its group if it has one, and `rest`.
    private mutating func list(
        _ start: AttributeHandle, _ limit: Int, isGroup: Bool, _ rest: (inout RandomServer) -> [UInt8]
    ) -> [UInt8] {
        var (at, list) = (start, [UInt8]())
        for _ in 0..<number(1...limit) {
            let first = handle(at)
            let end = isGroup ? handle(first) : first
            list += first.octets + (isGroup ? end.octets : []) + rest(&self)
            at = end.next ?? .last
        }
        return list
    }
}

extension AttributeHandle {
    fileprivate var octets: [UInt8] {
        [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)]
    }
}

/// Runs a procedure to its end. Returns the number of its requests, and whether it had a result.
private func run(
    _ procedure: some GATTProcedure, _ server: inout RandomServer, limit: Int
) -> (requests: Int, isDone: Bool) {
    var procedure = procedure
    for requests in 0... {
        #expect(requests <= limit)
        guard requests <= limit else { return (requests, false) }
        do {
            guard case .ask(let request) = try procedure.next(mtu: server.mtu) else {
                return (requests, true)
            }
            #expect(request.encodedCount <= server.mtu)
            guard let response = server.answer(request) else { return (requests + 1, false) }
            try procedure.receive(response)
        } catch {
            return (requests + 1, false)
        }
    }
    return (0, false)
}

private let procedures: [(name: String, make: @Sendable () -> any GATTProcedure, limit: Int)] = [
    ("primary", { DiscoverServices.primary }, 65_536),
    ("primary by UUID", { DiscoverServices.primary(0x1800) }, 65_536),
    ("secondary", { DiscoverServices.secondary }, 65_536),
    ("includes", { FindIncludedServices(in: AttributeRange(1, 40)) }, 80),
    ("characteristics", { DiscoverCharacteristics(in: AttributeRange(1, 40)) }, 40),
    ("descriptors", { DiscoverDescriptors(in: AttributeRange(1, 40)) }, 40),
    ("database", { DiscoverDatabase() }, 5 * 65_536),
    ("read", { ReadValue(3) }, 1),
    ("long read", { ReadLongValue(3) }, 25),
    ("long read from an offset", { ReadLongValue(3, from: 100) }, 20),
    ("by UUID", { ReadUsingUUID(0x2a00) }, 65_536),
    ("multiple", { ReadMultiple([3, 9]) }, 1),
    ("multiple variable", { ReadMultipleVariable([3, 9]) }, 1),
    ("write", { WriteValue(3, [1, 2]) }, 1),
    ("long write", { WriteLongValue(3, counting(300)) }, 19),
    ("reliable write", { ReliableWrite([(3, counting(60)), (4, counting(60))]) }, 10),
]

@Test(arguments: procedures.indices)
func procedureEndsWithRandomResponses(index: Int) {
    let (name, make, limit) = procedures[index]
    var done = 0
    for seed in 0..<500 {
        var server = RandomServer(random: SplitMix64(seed: UInt64(seed * 100 + index)))
        // Some servers send few errors or none, so that procedures come far.
        server.refusals = seed % 3
        if run(make(), &server, limit: limit).isDone { done += 1 }
    }
    #expect(done > 0, "\(name) never had a result")
}

/// The slowest server that is possible: one attribute in each response, up to the last handle.
@Test func discoveryEndsWithOneServicePerResponse() throws {
    var procedure = DiscoverServices.primary
    var requests = 0
    while case .ask(.readByGroupType(let range, _)) = try procedure.next(mtu: 23) {
        requests += 1
        try procedure.receive(
            try ATTResponse([0x11, 6] + range.start.octets + range.start.octets + [0, 0x18]))
    }
    #expect(requests == 65_535)
    guard case .done(let services) = try procedure.next(mtu: 23) else { throw CancellationError() }
    #expect(services.count == 65_535)
}
