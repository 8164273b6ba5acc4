import BLE
import BLECore
import Glibc
import SMP

/// Answers pairing requests with the options of the command line, and asks the user at the terminal for the
/// rest.
struct PairingAgent: PairingDelegate {
    let ioCapability: IOCapability
    let console: Console
    /// The passkey that is displayed or entered.
    var passkey: Passkey?
    /// Whether the agent accepts every numeric comparison, which then does not authenticate the peer.
    var acceptsComparison = false
    /// The out-of-band data of peers, which are read when they are needed, because a server may get them
    /// while it runs.
    var outOfBand = OutOfBandArguments()
    /// Whether pairing with a new device is reported: a user who only reads a value may not know that this
    /// leaves a bond.
    var showsPairing = false
    /// Whether bonds are stored. Otherwise they end with the run.
    var storesBonds = true
    /// The folder of bonds on the command line, which recommended commands must contain, too.
    var stateDir: String?
    /// The bonds that devices without their keys may replace.
    var replacement = SecurityConfiguration.Replacement.never

    var comparesNumbers: Bool { !acceptsComparison }

    func display(_ passkey: Passkey, for peer: DeviceAddress) async {
        console.show(PairingEvent(peer: peer, what: .display(passkey)))
    }

    func enterPasskey(for peer: DeviceAddress) async -> Passkey? {
        if let passkey { return passkey }
        while let text = await TerminalQuestion.ask("the passkey that \(peer.text) shows: "), !text.isEmpty {
            if let passkey = Passkey(text) { return passkey }
            console.note("a passkey has six digits")
        }
        console.note("no passkey was entered for \(peer.text); --passkey or --passkey-file can give it")
        return nil
    }

    func peerPressed(_ key: KeypressNotification, peer: DeviceAddress) async {
        switch key {
        case .started: console.note("the passkey is being typed on \(peer.text)")
        case .digitEntered: console.note("a digit was typed on \(peer.text)")
        case .digitErased: console.note("a digit was erased on \(peer.text)")
        case .cleared: console.note("all digits were erased on \(peer.text)")
        case .completed: console.note("the passkey was typed on \(peer.text)")
        default: break
        }
    }

    func compare(_ passkey: Passkey, with peer: DeviceAddress) async -> Bool {
        console.show(PairingEvent(peer: peer, what: .compare(passkey)))
        if acceptsComparison { return true }
        let answer = await TerminalQuestion.ask("does \(peer.text) show \(passkey), too? [y/N] ")
        if answer == nil { console.note("the numbers were not compared; --accept-comparison accepts them") }
        return answer.map { ["y", "yes"].contains($0.lowercased()) } ?? false
    }

    func outOfBandData(of peer: DeviceAddress) async -> OutOfBandData? {
        do throws(Failure) {
            if let data = try outOfBand.records().data(of: peer) { return data }
            console.note("no --oob-data is from \(peer.text)")
        } catch {
            console.note("\(error.message); pairing with \(peer.text) goes on without")
        }
        return nil
    }

    func authorizePairing(with peer: DeviceAddress, replacing bond: Bond?) async -> Bool {
        guard let bond else {
            if showsPairing {
                console.note(
                    storesBonds
                        ? "pairing with \(peer.text); bletool bonds list\(place) shows what is kept"
                        : "pairing with \(peer.text), for this run only")
            }
            return true
        }
        let isAllowed =
            switch replacement {
            case .never: false
            case .unauthenticated: !bond.strength.isAuthenticated
            case .window: PairingWindow.ofServer.take(for: peer)
            }
        let request = "\(peer.text) is bonded and requests to pair again, which"
        guard !isAllowed else {
            console.note("\(request) may replace its bond")
            return true
        }
        let way = replacement == .window ? "; or kill -USR1 \(getpid()), and try again" : ""
        console.note("\(request) is refused: bletool bonds remove \(peer)\(place)\(way)")
        return false
    }

    private var place: String { stateDir.map { " --state-dir \($0.printable)" } ?? "" }
}

/// A message to the user while devices pair.
struct PairingEvent: Event {
    var peer: DeviceAddress
    var what: What

    enum What: Sendable {
        /// The passkey to type on the peer.
        case display(Passkey)
        /// The number that both devices display.
        case compare(Passkey)
    }

    var json: JSONValue {
        let (name, passkey) = parts
        return [
            "event": JSONValue(name), "address": JSONValue(peer), "addressType": JSONValue(typeOf: peer),
            "passkey": JSONValue("\(passkey)"),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let (_, passkey) = parts
        let number = Style.bold("\(passkey)", when: colored)
        return switch what {
        case .display: ["type \(number) on \(peer.text)"]
        case .compare: ["\(peer.text) shows the same number, or is not who it seems: \(number)"]
        }
    }

    private var parts: (name: String, passkey: Passkey) {
        switch what {
        case .display(let passkey): ("passkey", passkey)
        case .compare(let passkey): ("comparison", passkey)
        }
    }
}
