import ATT
import BLECore
import GATTServer
import Recordings
import Testing

/// A server of a recording, and what it takes to stand in for it.
struct ReplayCase: Sendable {
    /// Where our server's attributes come from.
    enum Attributes: Sendable {
        /// From the recorded answers, and beside them what a bonded client knew from an earlier time.
        case recorded(beside: [GATTService] = [])
        /// From the configuration at this path, which `bletool serve` had.
        case configured(String)
        /// There are none.
        case none
    }

    /// Where the two said different things, in hexadecimal; empty for nothing.
    struct Difference: Hashable, Sendable {
        let asked: String
        let recorded: String
        let ours: String
    }

    /// A difference that there must be.
    struct Known: Sendable {
        let difference: Difference
        let reason: String

        init(asked: String = "", recorded: String, ours: String, because reason: String) {
            difference = Difference(asked: asked, recorded: recorded, ours: ours)
            self.reason = reason
        }
    }

    let file: RecordedFile
    let server: RecordedDialogue.Server
    let attributes: Attributes
    /// How much there is to compare, so that nothing is missed.
    let answers: Int
    var notifications = 0
    /// Requests that were the last on their link.
    var unanswered = 0
    /// What was sent to clients that had not subscribed.
    var unsubscribed: [AttributeHandle: Int] = [:]
    /// In the order of the recording; everything else is equal.
    var differences: [Known] = []

    /// Plays the dialogue.
    func replay() throws -> Replay {
        let dialogues = RecordedDialogue.all(in: try file.packets)
        let dialogue = try #require(dialogues.first { $0.server == server })
        let mtus = dialogue.receiveMTUs
        switch attributes {
        case .recorded(let others):
            let services = RecordedDatabase(dialogue).services + others
            let server = GATTServer(try AttributeDatabase(services, generic: nil))
            return Replay(dialogue, on: server, storesNotifications: false) { mtus[$0] ?? .default }
        case .configured(let path):
            let served = try ServedConfiguration(path)
            return Replay(dialogue, on: served.server, storesNotifications: true) { _ in served.receiveMTU }
        case .none:
            return Replay(dialogue, on: GATTServer(.empty), storesNotifications: false) {
                mtus[$0] ?? .default
            }
        }
    }
}

extension ReplayCase: CustomTestStringConvertible {
    var testDescription: String { "\(file.name), \(server)" }
}

extension RecordedDialogue {
    /// The MTU that the server first sent to its client, by link.
    fileprivate var receiveMTUs: [Int: ATTMTU] {
        turns.reduce(into: [:]) { mtus, turn in
            switch turn {
            case .server(.response(.exchangeMTU(let mtu)), let link),
                .server(.request(.exchangeMTU(let mtu)), let link):
                mtus[link] = mtus[link] ?? ATTMTU(mtu)
            default: break
            }
        }
    }
}
