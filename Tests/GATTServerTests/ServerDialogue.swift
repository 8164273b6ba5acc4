import ATT
import BLECore
import GATT
import GATTServer
import TestSupport
import Testing

/// A server with one link, to which tests speak in PDUs.
struct ServerDialogue {
    static let central = ClientID(rawValue: 1)

    var server: GATTServer
    var connection: GATTConnection
    private var connectionEvents: [GATTConnection.Event] = []

    init(
        _ services: [GATTService], generic: GenericServices? = nil, mtu: UInt16 = 23,
        security: LinkSecurity = .none, configuration: ServerOptions = ServerOptions()
    ) throws {
        server = GATTServer(try AttributeDatabase(services, generic: generic), configuration)
        connection = GATTConnection(Self.central)
        server.connect(Self.central, security: security)
        if mtu != 23 {
            _ = ask(ATTRequest.exchangeMTU(mtu).encoded.hex)
            #expect(connection.mtu.octets == Int(mtu))
        }
    }

    /// What the server sends when the PDU that `hex` spells comes; PDUs are joined by spaces.
    mutating func ask(_ hex: String) -> String {
        let frame = [UInt8](hex: hex) ?? []
        connection.receive(frame.span, at: .zero)
        return serve()
    }

    /// What the server sends to the requests that have arrived.
    mutating func serve() -> String {
        while let event = connection.nextEvent(serving: &server) { connectionEvents.append(event) }
        return sent()
    }

    /// The application has a new value: what is sent for that.
    mutating func update(_ handle: AttributeHandle, _ value: [UInt8]) throws -> String {
        let updates = try server.setValues([(handle, value)])
        _ = connection.deliver(server.delivery(of: updates, to: Self.central))
        return serve()
    }

    /// A handler completes what it answered with `.later`: what is sent for that.
    mutating func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) -> String {
        connection.complete(pending, with: result, serving: &server)
        return serve()
    }

    /// The time goes by in which the request that is open must be answered: what is sent for that.
    mutating func expire() throws -> String {
        connection.expire(at: try #require(connection.deadline))
        return serve()
    }

    /// The connection's events since the last call.
    mutating func reported() -> [GATTConnection.Event] {
        defer { connectionEvents = [] }
        return connectionEvents
    }

    /// What waits to be sent.
    mutating func sent() -> String {
        var frames: [String] = []
        while let frame = written(by: { connection.nextFrame(into: &$0, at: .zero) }) {
            frames.append(frame.hex)
        }
        return frames.joined(separator: " ")
    }

    /// The server's events since the last call, but those that report refusals.
    mutating func events() -> [GATTServerEvent] {
        allEvents().filter { if case .refused = $0 { false } else { true } }
    }

    /// The server's events since the last call.
    mutating func allEvents() -> [GATTServerEvent] {
        var events: [GATTServerEvent] = []
        while let event = server.nextEvent() { events.append(event) }
        return events
    }
}

/// One step of a dialogue.
struct Exchange: Sendable {
    let request: String
    let response: String

    init(_ request: String, _ response: String) {
        self.request = request
        self.response = response
    }
}

/// Speaks a dialogue; each test is named for the test of the SIG's GATT test suite that it follows.
func speak(_ dialogue: inout ServerDialogue, _ exchanges: [Exchange]) {
    for exchange in exchanges { #expect(dialogue.ask(exchange.request) == exchange.response) }
}
