import ATT
import BLECore
import GATTServer
import Recordings
import Testing

/// A recorded server, and the parameters of the server that replaces it.
struct ReplayCase: Sendable {
    /// The source of the attributes of this library's server.
    enum Attributes: Sendable {
        /// The recorded answers, and services that a bonded client had discovered before.
        case recorded(beside: [GATTService] = [])
        /// The configuration at this path, which `bletool serve` used.
        case configured(String)
        case none
    }

    /// A difference between the recorded PDU and the one of this library's server, in hexadecimal; empty for
    /// no PDU.
    struct Difference: Hashable, Sendable {
        let asked: String
        let recorded: String
        let ours: String
    }

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
    /// The number of answers that are compared, so that none is missed.
    let answers: Int
    var notifications = 0
    /// The number of requests without an answer, each the last on its link.
    var unanswered = 0
    /// The number of values, by handle, that were sent to clients that had not subscribed.
    var unsubscribed: [AttributeHandle: Int] = [:]
    /// The differences in the order of the recording. Everything else must be equal.
    var differences: [Known] = []

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
