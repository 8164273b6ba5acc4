import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

/// A replay of a recording with another server. The server receives the clients' PDUs of a dialogue, and its
/// PDUs are compared octet by octet with those of the recorded server.
package struct Replay {
    /// A PDU in which the two servers differ.
    package struct Difference: Hashable, Sendable {
        /// The number of the packet in the recording that differs or, without such a packet, of the packet
        /// with the client's PDU.
        package let frame: Int
        /// The PDU of the client; empty if the server's PDU answers none.
        package let asked: [UInt8]
        /// The PDU of the recorded server; empty if it sent none.
        package let recorded: [UInt8]
        /// The PDU of this server; empty if it sends none.
        package let ours: [UInt8]
    }

    /// The number of compared responses.
    package private(set) var answers = 0
    /// The number of compared notifications and indications.
    package private(set) var notifications = 0
    /// The number of values, by handle, that this server would not have sent, since the client had not subscribed.
    package private(set) var unsubscribed: [AttributeHandle: Int] = [:]
    /// The PDUs behind `unsubscribed` as differences, for callers that count them as such.
    package private(set) var unsubscribedNotifications: [Difference] = []
    /// The number of requests for which the recording contains no answer.
    package private(set) var unanswered = 0
    /// The differences between the two servers, in the order of the recording.
    package private(set) var differences: [Difference] = []

    private var server: GATTServer
    private let receiveMTU: (Int) -> ATTMTU
    private let storesNotifications: Bool
    private let canNotify: (AttributeHandle, [UInt8]) -> Bool
    private let security: LinkSecurity
    private var connections: [Int: GATTConnection] = [:]
    private var asked: [Int: (request: [UInt8], ours: [UInt8])] = [:]
    /// The links whose next answer is that to a request which was cut.
    private var isAskingInPart: Set<Int> = []
    private var frame = 0

    /// Replays a dialogue. `storesNotifications` means that the application stored each value that it sent.
    /// `canNotify` returns whether this server's application can send a value; one that it cannot send counts
    /// as a difference.
    /// `receiveMTU` returns the MTU that the server offers on a link. `security` is the security of a link
    /// once it is encrypted, which the recording does not contain. A value without an attribute on this
    /// server is not sent, which counts as a difference.
    package init(
        _ dialogue: RecordedDialogue, on server: GATTServer, storesNotifications: Bool,
        security: LinkSecurity = LinkSecurity(level: .secureConnections, isBonded: true),
        canNotify: @escaping (AttributeHandle, [UInt8]) -> Bool = { _, _ in true },
        receiveMTU: @escaping (Int) -> ATTMTU
    ) {
        self.server = server
        self.storesNotifications = storesNotifications
        self.security = security
        self.canNotify = canNotify
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
            let ours = sentOctets(on: link)
            if case .request = pdu {
                isAskingInPart.remove(link)
                asked[link] = (pdu.encoded, ours)
            } else {
                compare([], with: ours, to: pdu.encoded)
            }
        case .cut(isRequest: true, let link):
            isAskingInPart.insert(link)
            if asked.removeValue(forKey: link) != nil { unanswered += 1 }
        case .cut(isRequest: false, let link):
            isAskingInPart.remove(link)
            if asked.removeValue(forKey: link) != nil { unanswered += 1 }
        case .server(.response, let link) where isAskingInPart.contains(link): isAskingInPart.remove(link)
        case .server(.response(let response), let link):
            answers += 1
            let (request, ours) = asked.removeValue(forKey: link) ?? ([], [])
            compare(response.encoded, with: ours, to: request)
        case .server(.unsolicited(let unsolicited), let link): send(unsolicited, on: link)
        case .server(.request(let request), let link):
            open(link)
            _ = connections[link]?.session.run(RawRequest(request), raisesSecurity: false)
            compare(request.encoded, with: sentOctets(on: link))
        case .server(let pdu, let link): compare(pdu.encoded, with: sentOctets(on: link))
        case .encryption(let isOn, let link):
            open(link)
            server.setSecurity(isOn ? security : .none, of: ClientID(rawValue: UInt64(link)))
        case .end(let link):
            connections[link] = nil
            isAskingInPart.remove(link)
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

    /// Passes the application's value, which only the recording contains, to this server, as the recorded
    /// application passed it to the recorded server.
    private mutating func send(_ unsolicited: ATTUnsolicited, on link: Int) {
        notifications += 1
        let values = unsolicited.values
        guard values.allSatisfy(canNotify) else { return compare(unsolicited.encoded, with: []) }
        if storesNotifications {
            for (handle, value) in values {
                do throws(AttributeValueError) {
                    try server.setValue(value, of: handle)
                } catch .invalidLength {
                    // A value that cannot be stored is not sent.
                    return compare(unsolicited.encoded, with: [])
                } catch {
                    continue
                }
            }
        }
        let updates = values.map { ValueUpdate($0.0, server.database[$0.0]?.type ?? BluetoothUUID(0), $0.1) }
        let central = ClientID(rawValue: UInt64(link))
        let delivery: Delivery
        if case .multipleNotification = unsolicited {
            // The recording proves that the client supports it, so no check is needed.
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
        compare(unsolicited.encoded, with: sentOctets(on: link))
    }

    /// Returns all octets that this server sends on a link now.
    private mutating func sentOctets(on link: Int) -> [UInt8] {
        guard var connection = connections[link] else { return [] }
        var sent: [UInt8] = []
        var isThere = true
        while isThere {
            while connection.nextEvent(serving: &server) != nil {}
            while connection.session.nextEvent() != nil {}
            sent += [UInt8](capacity: ATTMTU.maximum.octets) {
                isThere = connection.nextFrame(into: &$0, at: .zero)
            }
        }
        connections[link] = connection
        return sent
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
