import BLECore
import HCI
import SMP
import Testing

@testable import BLE

/// The procedures of a link, with answers and events that a test chooses.
private struct PlayedProcedures {
    var procedures = LinkProcedures()
    var now = Instant.zero
    private var number: UInt64 = 0

    static let handle = ConnectionHandle(0x40)

    mutating func ask(_ procedure: LinkProcedure) -> UInt64 {
        number += 1
        procedures.ask(number, for: procedure, by: start(procedure))
        return number
    }

    mutating func encryptForPairing() -> UInt64 {
        number += 1
        procedures.ask(number, for: .encryption, by: .encryption(LongTermKey(1), .pairing))
        return number
    }

    mutating func settle(_ procedure: LinkProcedure) -> UInt64 {
        number += 1
        procedures.ask(number, for: procedure, by: .nothing)
        return number
    }

    mutating func updateAsAccepted(_ latency: UInt16) {
        number += 1
        procedures.updateAsAccepted(number, by: .command(Self.update(latency)))
    }

    static func update(_ latency: UInt16) -> MachineCommand {
        MachineCommand(LEConnectionUpdate(connection: handle, parameters: parameters(latency)))
    }

    private static func parameters(_ latency: UInt16 = 0) -> LEConnectionParameters {
        LEConnectionParameters(
            intervalMin: ConnectionInterval(rawValue: 24), intervalMax: ConnectionInterval(rawValue: 40),
            latency: latency, supervisionTimeout: Centiseconds(rawValue: 42))
    }

    private func start(_ procedure: LinkProcedure) -> LinkProcedures.Start {
        switch procedure {
        case .timing: .request(Self.parameters())
        case .encryption: .encryption(LongTermKey(1), .failed)
        default: .command(MachineCommand(ReadRemoteVersionInformation(connection: Self.handle)))
        }
    }

    mutating func answered(_ answer: CommandAnswer, of number: UInt64) {
        let command = MachineCommand(ReadRemoteVersionInformation(connection: Self.handle))
        procedures.answered(answer, to: command, of: number)
    }

    mutating func ended(_ procedure: LinkProcedure, ifItIs number: UInt64? = nil) {
        procedures.ended(procedure, .success(()), ifItIs: number)
    }

    mutating func after(_ seconds: Int) -> [String] {
        now = now + .seconds(seconds)
        procedures.expire(at: now)
        return events()
    }

    /// Returns the events that are due now.
    mutating func events() -> [String] {
        var shown: [String] = []
        while let event = procedures.nextEvent(at: now) {
            switch event {
            case .begin(let number, let procedure, .command(let command)) where procedure == .timing:
                shown.append("\(number) begins with latency \(command.packet.parameters[6])")
            case .begin(let number, let procedure, _): shown.append("\(number) begins \(procedure)")
            case .ended(let number, .success): shown.append("\(number) ends")
            case .ended(let number, .failure(let error)): shown.append("\(number) fails: \(error)")
            case .acceptedUpdateFailed(let error): shown.append("accepted update failed: \(error)")
            case .pairingNotEncrypted(let error): shown.append("pairing fails: \(error)")
            }
        }
        return shown
    }
}

@Suite struct LinkProceduresTests {
    private let refusal = BLEError.hci(.commandDisallowed, command: .readRemoteVersionInformation)
    private let silence = BLEError.controllerSilent(command: .readRemoteVersionInformation)

    @Test("procedures run one after the other, and encryption beside them")
    func proceduresRunOneByOneBesideEncryption() {
        var played = PlayedProcedures()
        let (phys, timing, encryption) = (played.ask(.phys), played.ask(.timing), played.ask(.encryption))
        #expect(played.events() == ["\(phys) begins phys", "\(encryption) begins encryption"])
        played.ended(.encryption)
        #expect(played.events() == ["\(encryption) ends"])
        played.ended(.timing)
        #expect(played.events() == [], "another one's end")
        played.ended(.phys)
        #expect(played.events() == ["\(phys) ends", "\(timing) begins timing"])
        played.procedures.requestAnswered()
        #expect(played.events() == [])
        played.ended(.timing)
        #expect(played.events() == ["\(timing) ends"] && played.procedures.deadline == nil)
    }

    @Test("a change before the answer to a request completes the request with the answer")
    func changeBeforeAnswerEndsRequestWithAnswer() {
        var played = PlayedProcedures()
        let (first, second) = (played.ask(.timing), played.ask(.timing))
        #expect(played.events() == ["\(first) begins timing"])
        played.ended(.timing)
        #expect(played.events() == [], "the peer takes no other request before it has answered")
        played.procedures.requestAnswered()
        #expect(played.events() == ["\(first) ends", "\(second) begins timing"])
        // A refused request fails, even if the parameters have changed.
        played.ended(.timing)
        played.procedures.ended(.timing, .failure(.parametersRefused))
        #expect(played.events() == ["\(second) fails: \(BLEError.parametersRefused)"])
    }

    @Test("an unanswered request succeeds if the change came, else fails, and the next one starts")
    func unansweredRequestEndsWithChange() {
        var played = PlayedProcedures()
        let silence = BLEError.timedOut(.parameterRequest, after: .seconds(30))
        let (first, second, third) = (played.ask(.timing), played.ask(.timing), played.ask(.timing))
        #expect(played.events() == ["\(first) begins timing"])
        played.ended(.timing)
        played.procedures.requestAnswered(orNot: silence)
        #expect(played.events() == ["\(first) ends", "\(second) begins timing"])
        played.procedures.requestAnswered(orNot: silence)
        #expect(played.events() == ["\(second) fails: \(silence)", "\(third) begins timing"])
    }

    @Test("a refused command fails its procedure; a late answer has no effect")
    func refusedCommandEndsProcedure() {
        var played = PlayedProcedures()
        let (first, second) = (played.ask(.version), played.ask(.version))
        _ = played.events()
        played.answered(.done([]), of: first)
        #expect(played.events() == [])
        played.answered(.refused(.commandDisallowed), of: first)
        #expect(played.events() == ["\(first) fails: \(refusal)", "\(second) begins version"])
        played.answered(.refused(.commandDisallowed), of: first)
        #expect(played.events() == [])
        // The event may come before the answer.
        played.ended(.version)
        played.answered(.refused(.commandDisallowed), of: second)
        #expect(played.events() == ["\(second) ends"])
    }

    @Test("a procedure with an unanswered command fails, and the next one waits until its time is over")
    func unansweredCommandDelaysNextProcedure() {
        var played = PlayedProcedures()
        let (first, second) = (played.ask(.version), played.ask(.features))
        _ = played.events()
        played.answered(.silent, of: first)
        #expect(played.events() == ["\(first) fails: \(silence)"])
        #expect(played.after(39) == [])
        #expect(played.after(1) == ["\(second) begins features"])
    }

    @Test("an abandoned procedure continues, and its end is not attributed to the next one")
    func abandonedProcedureDelaysNext() {
        var played = PlayedProcedures()
        let (first, second, third) = (played.ask(.phys), played.ask(.phys), played.ask(.phys))
        _ = played.events()
        played.procedures.giveUp(first)
        played.procedures.giveUp(second)
        #expect(played.events() == [])
        played.ended(.phys)
        #expect(played.events() == ["\(third) begins phys"])
        played.ended(.phys, ifItIs: first)
        #expect(played.events() == [])
        played.ended(.phys, ifItIs: third)
        #expect(played.events() == ["\(third) ends"])
    }

    @Test("each procedure has 40 s from its start") func procedureTimesOutAfter40Seconds() {
        var played = PlayedProcedures()
        let (first, second) = (played.ask(.phys), played.ask(.version))
        _ = played.events()
        #expect(played.after(39) == [])
        #expect(
            played.after(1) == [
                "\(first) fails: \(BLEError.timedOut(.phyUpdate, after: .seconds(40)))",
                "\(second) begins version",
            ])
        #expect(played.procedures.deadline == played.now + .seconds(40))
    }

    @Test("settling waits for the running procedure of its kind") func settlingWaitsForRunningProcedure() {
        var played = PlayedProcedures()
        let none = played.settle(.encryption)
        #expect(played.events() == ["\(none) ends"])
        let (encryption, wait) = (played.ask(.encryption), played.settle(.encryption))
        #expect(played.events() == ["\(encryption) begins encryption"])
        played.procedures.giveUp(encryption)
        played.ended(.encryption)
        #expect(played.events() == ["\(wait) ends"])
    }

    @Test("of several latency requests the last one is carried out, and a refused one is reported")
    func latestLatencyRequestApplies() {
        var played = PlayedProcedures()
        played.updateAsAccepted(1)
        #expect(played.events() == ["1 begins with latency 1"])
        played.updateAsAccepted(2)
        played.updateAsAccepted(3)
        #expect(played.events() == [])
        played.ended(.timing)
        #expect(played.events() == ["2 begins with latency 3"])
        played.answered(.refused(.commandDisallowed), of: 2)
        #expect(played.events() == ["accepted update failed: \(refusal)"])
    }

    @Test("closing the link drops its procedures") func closingDropsProcedures() {
        var played = PlayedProcedures()
        _ = (played.ask(.phys), played.ask(.version))
        _ = played.events()
        played.procedures.close(.cancelled)
        played.ended(.phys)
        #expect(played.after(100) == [] && played.procedures.deadline == nil)
    }

    @Test("a pairing gets the failure of its encryption, and nothing else")
    func pairingGetsFailureOnly() {
        var played = PlayedProcedures()
        let success = played.encryptForPairing()
        #expect(played.events() == ["\(success) begins encryption"])
        played.ended(.encryption)
        #expect(played.events() == [])
        let refused = played.encryptForPairing()
        #expect(played.events() == ["\(refused) begins encryption"])
        played.answered(.refused(.commandDisallowed), of: refused)
        #expect(played.events() == ["pairing fails: \(refusal)"])
        let silent = played.encryptForPairing()
        #expect(played.events() == ["\(silent) begins encryption"])
        played.answered(.silent, of: silent)
        #expect(played.events() == ["pairing fails: \(silence)"])
        played.procedures.close(.cancelled)
        #expect(played.events() == [], "it has failed before")
    }

    @Test(
        "a pairing fails when its encryption takes too long, or its link is closed", arguments: [false, true])
    func pairingFailsWithLink(isQueued: Bool) {
        var played = PlayedProcedures()
        if isQueued {
            let first = played.ask(.encryption)
            let second = played.encryptForPairing()
            #expect(played.events() == ["\(first) begins encryption"])
            played.ended(.encryption)
            #expect(played.events() == ["\(first) ends", "\(second) begins encryption"])
            #expect(played.after(100).first?.hasPrefix("pairing fails") == true)
            _ = played.ask(.encryption)
        }
        _ = (played.encryptForPairing(), played.events())
        played.procedures.close(.cancelled)
        #expect(played.events() == ["pairing fails: \(BLEError.cancelled)"])
    }
}
