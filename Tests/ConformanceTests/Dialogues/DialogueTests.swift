import BLECore
import Testing

@Test(arguments: Dialogue.all)
func implementationFollowsDialogue(_ dialogue: Dialogue) throws {
    if dialogue.isClient {
        var tester = ClientTester()
        try hold(dialogue, with: &tester)
    } else {
        var tester = ServerTester()
        try hold(dialogue, with: &tester)
    }
}

@Test func dialoguesExistWithUniqueIDs() {
    #expect(Dialogue.all.count > 250)
    #expect(Set(Dialogue.all.map(\.id)).count == Dialogue.all.count)
}

/// Sends the peer's PDUs to the tester, and compares its PDUs and events with the dialogue. Others are issues.
private func hold(_ dialogue: Dialogue, with tester: inout some Tester) throws {
    var sent: [[UInt8]] = []
    var shown: [String] = []
    func turn(_ place: Comment) {
        #expect(sent.map(\.hex) == [], "sent before \(place)")
        #expect(shown == [], "reported before \(place)")
        (sent, shown) = tester.turn()
    }
    let lines = try dialogue.lines()
    #expect(!lines.isEmpty)
    for line in lines {
        let place = Comment(rawValue: "\(dialogue.file):\(line.number)")
        switch line.step {
        case .theirs(let pdu, let more):
            tester.receive(pdu)
            if !more { turn(place) }
        case .ours(let pdu): #expect(sent.popFirst()?.hex == pdu.hex, place)
        case .reported(let text): #expect(shown.popFirst() == text, place)
        case .happens(let command, let arguments):
            try tester.perform(command, arguments)
            turn(place)
        }
    }
    #expect(sent.map(\.hex) == [], "sent at the end")
    #expect(shown == [], "reported at the end")
}

extension Array {
    fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
