import ATT
import BLECore
import GATT
import GATTServer
import TestSupport
import Testing

/// A server with one link, with which tests exchange PDUs.
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

    /// Returns the PDUs that the server sends when it receives the PDU `hex`, joined by spaces.
    mutating func ask(_ hex: String) -> String {
        let frame = [UInt8](hex: hex) ?? []
        connection.receive(frame.span, at: .zero)
        return serve()
    }

    /// Returns the PDUs that the server sends in answer to the received requests.
    mutating func serve() -> String {
        while let event = connection.nextEvent(serving: &server) { connectionEvents.append(event) }
        return sent()
    }

    /// Sets a value and returns the PDUs that are sent as a result.
    mutating func update(_ handle: AttributeHandle, _ value: [UInt8]) throws -> String {
        let updates = try server.setValues([(handle, value)])
        _ = connection.deliver(server.delivery(of: updates, to: Self.central))
        return serve()
    }

    /// Completes a request that a handler answered with `.later`. Returns the PDUs that are sent as a result.
    mutating func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) -> String {
        connection.complete(pending, with: result, serving: &server)
        return serve()
    }

    /// Lets the time limit of the open request expire, and returns the PDUs that are sent as a result.
    mutating func expire() throws -> String {
        connection.expire(at: try #require(connection.deadline))
        return serve()
    }

    /// Returns the connection's events since the last call.
    mutating func reported() -> [GATTConnection.Event] {
        defer { connectionEvents = [] }
        return connectionEvents
    }

    /// Returns the PDUs that wait to be sent.
    mutating func sent() -> String {
        var frames: [String] = []
        while let frame = written(by: { connection.nextFrame(into: &$0, at: .zero) }) {
            frames.append(frame.hex)
        }
        return frames.joined(separator: " ")
    }

    /// Returns the server's events since the last call, except those that report refusals.
    mutating func events() -> [GATTServerEvent] {
        allEvents().filter { if case .refused = $0 { false } else { true } }
    }

    /// Returns the server's events since the last call.
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

/// Sends the requests of a dialogue, and checks the responses.
func run(_ dialogue: inout ServerDialogue, _ exchanges: [Exchange]) {
    for exchange in exchanges { #expect(dialogue.ask(exchange.request) == exchange.response) }
}
