import BLECore
import GATTServer
import Testing

/// The numbers of responses by opcode and of errors by code, from which a test checks the coverage.
private struct Tally {
    var answered: [UInt8: Int] = [:]
    var refused: [UInt8: Int] = [:]
}

/// Sends random requests of two clients to a random database, and checks that our server answers as the model does.
private func compare(seed: UInt64, requests: Int, isWild: Bool = false, _ tally: inout Tally) throws {
    var random = SplitMix64(seed: seed)
    let database = RandomDatabase(&random)
    var model = database.model
    var served = try ServedLinks(database.services)
    var links = [ModelLink(), ModelLink()]
    var source = RandomRequests(to: model, SplitMix64(seed: random.next()))
    for number in links.indices where random.one(in: 2) {
        let mtu =
            [0x02] + model.octets(random.element([0, 22, 23, 24, 48, 100, 255, 256, 257, 258, 517, 600]))
        try #require(served.answers(to: mtu, on: number) == model.answers(to: mtu, on: &links[number]))
    }
    for step in 0..<requests {
        let number = random.one(in: 4) ? 1 : 0
        if random.one(in: 20) {
            links[number].level = random.number(0...3)
            links[number].keySize = links[number].level == 0 ? 0 : random.number(7...16)
            links[number].isBonded = random.one(in: 2)
            served.secure(number, as: links[number])
        }
        let pdu = isWild ? source.wildPDU() : source.pdu(mtu: links[number].mtu)
        let allowed = model.answers(to: pdu, on: &links[number])
        let sent = served.answers(to: pdu, on: number)
        let isRight = allowed.isEmpty ? sent.isEmpty : sent.count == 1 && allowed.contains(sent[0])
        try #require(
            isRight,
            """
            seed \(seed), request \(step) at MTU \(links[number].mtu), security \(links[number].level): \
            \(pdu.hex) is answered with \(sent.map(\.hex)), the model requires \(allowed.map(\.hex))
            """)
        guard let answer = sent.first else { continue }
        if answer[0] == 0x01 {
            tally.refused[answer[4], default: 0] += 1
        } else {
            tally.answered[answer[0], default: 0] += 1
        }
    }
    // Commands and prepared writes have stored the same values as in the model.
    for row in model.attributes {
        let stored = served.server.database[AttributeHandle(UInt16(row.handle))]?.value
        if case .configuration = row.kind { continue }
        try #require(stored == row.value, "seed \(seed), attribute \(row.handle)")
    }
}

@Test(arguments: 0..<32)
func serverMatchesModel(block: UInt64) throws {
    var tally = Tally()
    for seed in (block * 100)..<(block * 100 + 10) { try compare(seed: seed, requests: 150, &tally) }
}

@Test(arguments: 0..<8)
func serverMatchesModelForArbitraryRequests(block: UInt64) throws {
    var tally = Tally()
    for seed in (block * 100)..<(block * 100 + 10) {
        try compare(seed: seed, requests: 300, isWild: true, &tally)
    }
}

/// The random requests cause every kind of response and error.
@Test func randomRequestsCoverEveryResponse() throws {
    var tally = Tally()
    for seed in 10_000..<10_060 { try compare(seed: UInt64(seed), requests: 200, &tally) }
    let responses: [UInt8] = [0x05, 0x07, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x13, 0x17, 0x19, 0x21]
    for opcode in responses { #expect(tally.answered[opcode, default: 0] >= 20, "\(opcode.hex)") }
    let codes: [UInt8] = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x0f, 0x10, 0xfd,
    ]
    for code in codes { #expect(tally.refused[code, default: 0] >= 3, "\(code.hex)") }
}
