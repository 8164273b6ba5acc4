import ATT
import BLECore
import GATTServer
import Testing

@Test func aRandomDatabaseAnswersAsTheModelDoes() throws {
    var random = SplitMix64(seed: 3)
    var answered = 0
    for _ in 0..<150 {
        let database = RandomDatabase(&random)
        let mtu = Bool.random(using: &random) ? 23 : UInt16.random(in: 23...517, using: &random)
        var dialogue = try ServerDialogue(database.services, mtu: mtu)
        for _ in 0..<150 {
            let request = database.request(&random, mtu: Int(mtu))
            let answer = dialogue.ask(request.encoded.hex)
            #expect(answer == database.model.answer(request, mtu: Int(mtu)).hex, "\(request) at MTU \(mtu)")
            if !answer.hasPrefix("01") { answered += 1 }
        }
    }
    // The requests are not all refused.
    #expect(answered > 7000)
}

@Test func aClientThatWalksARandomDatabaseMeetsEveryAttribute() throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<100 {
        let database = RandomDatabase(&random)
        var dialogue = try ServerDialogue(database.services)
        var found: [AttributeHandle] = []
        var range: AttributeRange? = .all
        while let rest = range {
            let answer = try ATTResponse(
                [UInt8](hex: dialogue.ask(ATTRequest.findInformation(rest).encoded.hex)) ?? [])
            guard case .findInformation(let list) = answer, let last = list.last else { break }
            found += list.map(\.handle)
            range = rest.after(last.handle)
        }
        #expect(found.map { Int($0.rawValue) } == database.model.rows.map(\.handle))
    }
}

@Test func whateverComesEachRequestGetsOneResponseAndTheDatabaseStaysWhole() throws {
    var random = SplitMix64(seed: 17)
    let opcodes: [UInt8] = [
        0x02, 0x04, 0x06, 0x08, 0x0a, 0x0c, 0x0e, 0x10, 0x12, 0x16, 0x18, 0x1e, 0x20, 0x52, 0xd2, 0x0b, 0x24,
    ]
    for _ in 0..<40 {
        var database = RandomDatabase(&random)
        while database.services.isEmpty { database = RandomDatabase(&random) }
        var dialogue = try ServerDialogue(database.services)
        let before = dialogue.server.database.attributes.map(\.handle)
        for _ in 0..<500 {
            let opcode = opcodes.randomElement(using: &random) ?? 0
            let frame = [opcode, UInt8.random(in: 0...40, using: &random), 0] + random.bytes(upTo: 6)
            let answers = dialogue.ask(frame.hex).split(separator: " ")
            let isRequest = ATTOpcode(opcode).kind == .request || opcode == 0x24
            #expect(answers.count == (isRequest ? 1 : 0))
            for answer in answers {
                let response = try ATTResponse([UInt8](hex: answer) ?? [])
                if case .error(let error) = response {
                    #expect(error.requestOpcode.rawValue == opcode)
                } else {
                    #expect(response.opcode.rawValue == opcode + 1)
                }
            }
        }
        #expect(dialogue.bearer.closure == nil)
        let after = dialogue.server.database.attributes
        #expect(after.map(\.handle) == before)
        #expect(after.allSatisfy { $0.value.count <= $0.length.maximum })
    }
}
