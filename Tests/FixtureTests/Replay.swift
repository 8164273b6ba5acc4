import ATT
import BLECore
import GATTServer
import Recordings

/// Our server in the place of a recorded one: it hears the clients' side of a dialogue, and what it says is
/// compared with what the recorded server said, octet by octet.
struct Replay {
    /// Where the two said different things.
    struct Difference: Hashable, Sendable {
        /// What the client had sent, in hexadecimal as the others; empty when the server spoke unasked.
        let asked: String
        let recorded: String
        let ours: String
    }

    /// Responses that were compared.
    private(set) var answers = 0
    /// Notifications and indications that were compared.
    private(set) var pushes = 0
    /// Those that our server would not have sent, since the client had not subscribed: how many, by handle.
    private(set) var unsubscribed: [AttributeHandle: Int] = [:]
    /// Requests that the recording shows no answer to.
    private(set) var unanswered = 0
    private(set) var differences: [Difference] = []

    private var server: GATTServer
    private let receiveMTU: (Int) -> ATTMTU
    private let storesPushes: Bool
    private var bearers: [Int: ATTBearer] = [:]
    private var asked: [Int: (request: [UInt8], ours: [UInt8])] = [:]

    /// Plays a dialogue. `storesPushes` says that the application stored each value that it sent.
    init(
        _ dialogue: RecordedDialogue, on server: GATTServer, storesPushes: Bool,
        receiveMTU: @escaping (Int) -> ATTMTU
    ) throws {
        self.server = server
        self.storesPushes = storesPushes
        self.receiveMTU = receiveMTU
        for turn in dialogue.turns { try play(turn) }
        unanswered += asked.count
    }

    private mutating func play(_ turn: RecordedDialogue.Turn) throws {
        switch turn {
        case .client(let pdu, let link):
            open(link)
            bearers[link]?.receive(pdu.encoded.span, at: .zero)
            let ours = said(on: link)
            if case .request = pdu {
                asked[link] = (pdu.encoded, ours)
            } else {
                compare([], with: ours, to: pdu.encoded)
            }
        case .server(.response(let response), let link):
            answers += 1
            let (request, ours) = asked.removeValue(forKey: link) ?? ([], [])
            compare(response.encoded, with: ours, to: request)
        case .server(.push(let push), let link): try send(push, on: link)
        case .server(.request(let request), let link):
            open(link)
            _ = try? bearers[link]?.send(request, at: .zero)
            compare(request.encoded, with: said(on: link))
        case .server(let pdu, let link): compare(pdu.encoded, with: said(on: link))
        case .end(let link):
            bearers[link] = nil
            if asked.removeValue(forKey: link) != nil { unanswered += 1 }
            server.disconnect(CentralID(rawValue: UInt64(link)))
        }
    }

    private mutating func open(_ link: Int) {
        guard bearers[link] == nil else { return }
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = receiveMTU(link)
        bearers[link] = ATTBearer(configuration)
        server.connect(CentralID(rawValue: UInt64(link)))
    }

    /// Gives the application's value, which only the recording knows, to our server, as the recorded one got
    /// it.
    private mutating func send(_ push: ATTPush, on link: Int) throws {
        switch push {
        case .multipleNotification(let list):
            pushes += 1
            if storesPushes {
                for tuple in list { try server.setValue(Array(tuple.value), of: tuple.handle) }
            }
            try bearers[link]?.notify(list)
            compare(push.encoded, with: said(on: link))
        case .notification(let handle, let value), .indication(let handle, let value):
            pushes += 1
            let central = CentralID(rawValue: UInt64(link))
            if storesPushes { try server.setValue(value, of: handle) }
            guard let subscriber = server.subscribers(of: handle).first(where: { $0.central == central })
            else {
                unsubscribed[handle, default: 0] += 1
                return
            }
            _ = try? bearers[link]?.push(value, of: handle, to: subscriber, at: .zero)
            compare(push.encoded, with: said(on: link))
        }
    }

    /// All that our side has to say on a link now.
    private mutating func said(on link: Int) -> [UInt8] {
        guard var bearer = bearers[link] else { return [] }
        var said: [UInt8] = []
        var isThere = true
        while isThere {
            while bearer.nextEvent(serving: CentralID(rawValue: UInt64(link)), from: &server) != nil {}
            said += [UInt8](capacity: ATTMTU.maximum.octets) { isThere = bearer.nextFrame(into: &$0) }
        }
        bearers[link] = bearer
        return said
    }

    private mutating func compare(_ recorded: [UInt8], with ours: [UInt8], to asked: [UInt8] = []) {
        guard recorded != ours else { return }
        differences.append(Difference(asked: asked.hex, recorded: recorded.hex, ours: ours.hex))
    }
}
