import ATT
import BLECore
import GATTClient
import Testing

/// A server that answers like our server, but sometimes falsely: with changed or missing octets, responses to
/// other requests, more than one response, errors of any code, or noise.
private struct Liar {
    var served: ServedLinks
    var random: SplitMix64
    /// The percentage of false answers.
    let lies: Int

    mutating func answers(to pdu: [UInt8]) -> [[UInt8]] {
        let honest = served.answers(to: pdu, on: 0)
        guard random.number(1...100) <= lies else { return honest }
        var answer = honest.first ?? [0x01]
        switch random.number(0...7) {
        case 0: answer[random.number(0...(answer.count - 1))] = UInt8(random.number(0...255))
        case 1: answer.removeLast(random.number(0...(answer.count - 1)))
        case 2: answer += random.bytes(upTo: 20)
        case 3: answer = [pdu[0] &+ 1] + random.bytes(upTo: 22)
        case 4: answer = [0x01, pdu[0], 0, 0, UInt8(random.number(0...255))]
        case 5: return honest + [answer, [0x1b, 3, 0, 1], [0x1d, 3, 0, 1]]
        case 6: return [random.bytes(upTo: 22), answer]
        // An octet, perhaps of a handle, changes by at most 2.
        default:
            let at = random.number(0...(answer.count - 1))
            answer[at] = answer[at] &+ UInt8(random.number(0...4)) &- 2
        }
        return [answer]
    }
}

/// A procedure, and its maximum number of requests. A walk continues after the last attribute of a response,
/// so it has no more requests than there are handles.
private struct Case: Sendable {
    let name: String
    let limit: Int
    /// Runs the procedure, and returns whether it had a result.
    let run: @Sendable (inout JoinedEnds, ([UInt8]) -> [[UInt8]]) throws -> Bool

    init(_ name: String, limit: Int, _ procedure: some GATTProcedure) {
        self.name = name
        self.limit = limit
        run = { (ends, server) in try ends.run(procedure, limit: limit, server) != nil }
    }
}

private let some = AttributeRange(1, 60)
private let cases = [
    Case("full discovery", limit: 6 * 65_536, DiscoverDatabase()),
    Case("full discovery of a service type", limit: 6 * 65_536, DiscoverDatabase(service: 0x180f)),
    Case("primary services", limit: 65_536, DiscoverServices.primary),
    Case("services of a type", limit: 65_536, DiscoverServices.primary(0x180f)),
    Case("secondary services", limit: 65_536, DiscoverServices.secondary),
    Case("includes", limit: 120, FindIncludedServices(in: some)),
    Case("characteristics", limit: 60, DiscoverCharacteristics(in: some)),
    Case("descriptors", limit: 60, DiscoverDescriptors(in: some)),
    Case("values of a type", limit: 65_536, ReadUsingUUID(0x2803)),
    Case("a long value", limit: 25, ReadLongValue(3)),
    Case("several values", limit: 1, ReadMultipleVariable([1, 2, 3])),
    Case("a long write", limit: 19, WriteLongValue(3, [UInt8](repeating: 0, count: 300))),
    Case("reliable writes", limit: 6, ReliableWrite([(3, [1, 2]), (3, [UInt8](repeating: 0, count: 40))])),
]

@Test(arguments: cases.indices)
func proceduresEndWithHostileServer(index: Int) throws {
    let (name, limit, run) = (cases[index].name, cases[index].limit, cases[index].run)
    var results = 0
    for seed in 0..<600 {
        var random = SplitMix64(seed: UInt64(seed * 100 + index))
        let database = RandomDatabase(&random)
        var liar = Liar(
            served: try ServedLinks(database.services), random: SplitMix64(seed: random.next()),
            lies: random.element([0, 2, 20, 100]))
        let server: ([UInt8]) -> [[UInt8]] = { liar.answers(to: $0) }
        var client = try JoinedEnds(mtu: random.element([23, 64, 517]), server)
        do {
            if try run(&client, server) { results += 1 }
        } catch is GATTClientError {
            // The client detected a false response, or received an error.
        }
        #expect(client.requests <= limit, "\(name), seed \(seed)")
    }
    #expect(results >= 3, "\(name) had results only \(results) times")
}
