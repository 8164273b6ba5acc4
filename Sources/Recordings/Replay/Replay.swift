import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

/// A server in the place of a recorded one: it gets the clients' side of a dialogue, and what it says is compared
/// with what the recorded server said, octet by octet.
package struct Replay {
    /// Where the two said different things.
    package struct Difference: Hashable, Sendable {
        /// The packet of the recording that is different; where it has none, the one that was asked in.
        package let frame: Int
        /// What the client had sent; empty when the server spoke unasked.
        package let asked: [UInt8]
        /// What the recorded server said; empty for nothing.
        package let recorded: [UInt8]
        /// What this one says; empty for nothing.
        package let ours: [UInt8]
    }

    /// The number of compared responses.
    package private(set) var answers = 0
    /// Notifications and indications that were compared.
    package private(set) var notifications = 0
    /// The number of values, by handle, that this server would not have sent, since the client had not subscribed.
    package private(set) var unsubscribed: [AttributeHandle: Int] = [:]
    /// `unsubscribed` as differences, for callers that count them as such.
    package private(set) var unsubscribedNotifications: [Difference] = []
    /// Requests that the recording shows no answer to.
    package private(set) var unanswered = 0
    /// Where the two said different things, in the order of the recording.
    package private(set) var differences: [Difference] = []

    private var server: GATTServer
    private let receiveMTU: (Int) -> ATTMTU
    private let storesNotifications: Bool
    private let security: LinkSecurity
    private var connections: [Int: GATTConnection] = [:]
    private var asked: [Int: (request: [UInt8], ours: [UInt8])] = [:]
    private var frame = 0

    /// Plays a dialogue. `storesNotifications`: the application stored each value that it sent. `receiveMTU`
    /// is how much the server takes on a link. `security` is that of a link once it is encrypted, which the
    /// recording does not contain. A value that this server has no attribute for is not sent, which is a
    /// difference.
    package init(
        _ dialogue: RecordedDialogue, on server: GATTServer, storesNotifications: Bool,
        security: LinkSecurity = LinkSecurity(level: .secureConnections, isBonded: true),
        receiveMTU: @escaping (Int) -> ATTMTU
    ) {
        self.server = server
        self.storesNotifications = storesNotifications
        self.security = security
        self.receiveMTU = receiveMTU
        for (turn, frame) in zip(dialogue.turns, dialogue.frames) {
            self.frame = frame
            play(turn)
        }
        unanswered += asked.count
    }

    private mutating func play(_ turn: RecordedDialogue.Turn) {
        switch turn {
        case .client(let pdu, let link):
            open(link)
            connections[link]?.receive(pdu.encoded.span, at: .zero)
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
        case .server(.unsolicited(let unsolicited), let link): send(unsolicited, on: link)
        case .server(.request(let request), let link):
            open(link)
            _ = connections[link]?.session.run(RawRequest(request), raisesSecurity: false)
            compare(request.encoded, with: said(on: link))
        case .server(let pdu, let link): compare(pdu.encoded, with: said(on: link))
        case .encryption(let isOn, let link):
            open(link)
            server.setSecurity(isOn ? security : .none, of: ClientID(rawValue: UInt64(link)))
        case .end(let link):
            connections[link] = nil
            if asked.removeValue(forKey: link) != nil { unanswered += 1 }
            server.disconnect(ClientID(rawValue: UInt64(link)))
        }
    }

    private mutating func open(_ link: Int) {
        guard connections[link] == nil else { return }
        var configuration = ATTBearer.Configuration()
        configuration.receiveMTU = receiveMTU(link)
        let client = ClientID(rawValue: UInt64(link))
        connections[link] = GATTConnection(client, configuration)
        server.connect(client)
    }

    /// Gives the application's value, which only the recording knows, to this server, as the recorded one got
    /// it.
    private mutating func send(_ unsolicited: ATTUnsolicited, on link: Int) {
        notifications += 1
        let values = unsolicited.values
        if storesNotifications {
            for (handle, value) in values { try? server.setValue(value, of: handle) }
        }
        let updates = values.map { ValueUpdate($0.0, server.database[$0.0]?.type ?? BluetoothUUID(0), $0.1) }
        let central = ClientID(rawValue: UInt64(link))
        let delivery: Delivery
        if case .multipleNotification = unsolicited {
            // Whether the client can take it, the recording knows better.
            delivery = Delivery(notifications: updates, packs: true)
        } else {
            delivery = server.delivery(of: updates, to: central)
            guard !delivery.isEmpty else {
                for update in updates { unsubscribed[update.handle, default: 0] += 1 }
                unsubscribedNotifications.append(
                    Difference(frame: frame, asked: [], recorded: unsolicited.encoded, ours: []))
                return
            }
        }
        _ = connections[link]?.deliver(delivery)
        compare(unsolicited.encoded, with: said(on: link))
    }

    /// All that our side has to say on a link now.
    private mutating func said(on link: Int) -> [UInt8] {
        guard var connection = connections[link] else { return [] }
        var said: [UInt8] = []
        var isThere = true
        while isThere {
            while connection.nextEvent(serving: &server) != nil {}
            while connection.session.nextEvent() != nil {}
            said += [UInt8](capacity: ATTMTU.maximum.octets) {
                isThere = connection.nextFrame(into: &$0, at: .zero)
            }
        }
        connections[link] = connection
        return said
    }

    private mutating func compare(_ recorded: [UInt8], with ours: [UInt8], to asked: [UInt8] = []) {
        guard recorded != ours else { return }
        differences.append(Difference(frame: frame, asked: asked, recorded: recorded, ours: ours))
    }
}

extension ATTUnsolicited {
    /// The values that the PDU carries.
    fileprivate var values: [(AttributeHandle, [UInt8])] {
        switch self {
        case .notification(let handle, let value), .indication(let handle, let value): [(handle, value)]
        case .multipleNotification(let list): list.map { ($0.handle, Array($0.value)) }
        }
    }
}
