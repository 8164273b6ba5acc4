import ATT
import BLECore
import GATT
import GATTServer
import TestSupport

/// A server and its connection to one client, with PDUs in hex.
struct ServedClient {
    static let client = ClientID(rawValue: 1)
    /// A value that is notified; its CCCD is the next handle.
    static let notified: AttributeHandle = 3
    /// A value that is indicated.
    static let indicated: AttributeHandle = 6
    /// Another value that is notified.
    static let second: AttributeHandle = 9

    var server: GATTServer
    var connection: GATTConnection
    var now = Instant.zero

    /// Creates a server and a connection to it. With generic services, the value of Service Changed is at 8
    /// and its CCCD at 9, and values have higher handles.
    init(_ services: [GATTService]? = nil, generic: GenericServices? = nil, unsolicitedLimit: Int = 64) throws
    {
        let characteristics = [
            GATTCharacteristic(0xff01, properties: [.read, .write, .notify]),
            GATTCharacteristic(0xff02, properties: [.read, .indicate]),
            GATTCharacteristic(0xff03, properties: [.read, .notify]),
        ]
        let services = services ?? [GATTService(0xff00, characteristics: characteristics)]
        server = GATTServer(try AttributeDatabase(services, generic: generic))
        var configuration = ATTBearer.Configuration()
        configuration.unsolicitedLimit = unsolicitedLimit
        connection = GATTConnection(Self.client, configuration)
        server.connect(Self.client)
    }

    /// Returns a client with subscriptions to all values.
    static func subscribed(unsolicitedLimit: Int = 64) throws -> ServedClient {
        var client = try ServedClient(unsolicitedLimit: unsolicitedLimit)
        for request in ["1204000100", "1207000200", "120a000100"] { _ = client.ask(request) }
        _ = client.events()
        return client
    }

    /// Receives a PDU, and returns the PDUs that are sent then.
    mutating func ask(_ hex: String) -> [String] {
        receive(hex)
        return sent()
    }

    mutating func receive(_ hex: String) {
        connection.receive(octets(hex).span, at: now)
    }

    /// Sets values as the application does, and starts their delivery.
    mutating func update(_ values: (AttributeHandle, [UInt8])...) throws -> DeliveryID {
        let updates = try server.setValues(values.map { (handle: $0.0, value: $0.1) })
        return connection.deliver(server.delivery(of: updates, to: Self.client))
    }

    private var pending: [GATTConnection.Event] = []

    /// Returns the events since the last call, in order.
    mutating func events() -> [GATTConnection.Event] {
        while let event = connection.nextEvent(serving: &server) { pending.append(event) }
        defer { pending = [] }
        return pending
    }

    /// Returns the operations that have ended. In these tests they are waits for room.
    mutating func ends() -> [TicketID] {
        pending = events()
        var ends: [TicketID] = []
        while let event = connection.session.nextEvent() {
            if case .finished(let id, _) = event { ends.append(id) }
        }
        return ends
    }

    /// Returns the PDUs that are sent when the channel accepts at most `limit`.
    mutating func sent(atMost limit: Int = .max) -> [String] {
        var frames: [String] = []
        while frames.count < limit {
            pending += events()
            guard let frame = written(by: { connection.nextFrame(into: &$0, at: now) }) else { break }
            frames.append(frame.hex)
        }
        pending += events()
        return frames
    }
}

extension GATTConnection.Event {
    /// The end of a delivery; nil for other events.
    var end: DeliveryEnd? {
        if case .delivered(_, let end) = self { end } else { nil }
    }

    /// The value that was sent; nil for other events.
    var sentValue: [UInt8]? {
        if case .sent(let update) = self { update.value } else { nil }
    }
}
