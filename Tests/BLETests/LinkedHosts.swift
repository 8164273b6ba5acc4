import BLE
import BLECore
import HCI
import HCISocket

/// A link of two hosts under virtual time. A test can answer commands of the second host, the peripheral.
struct LinkedHosts: Sendable {
    let bed: VirtualTestbed
    let client: Adapter
    let server: Adapter
    /// The client's view of the server.
    let device: Peripheral
    /// The server's view of the client.
    let central: Central
    /// The port between the server and its controller.
    let port: ControlledPort

    /// The server's side of the link.
    var connection: Connection { PeripheralManager(server).connection(of: central) }

    /// The first connection handle of a controller. Both controllers use it for this link.
    static let handle = ConnectionHandle(0x0040)

    static func run(
        extended: Bool = false, _ body: @escaping @Sendable (LinkedHosts) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(extended: extended), on: bed.loop)
            let client = try await bed.host("client", extended: extended)
            let server = try await bed.host("server", on: port)
            var events = PeripheralManager(server).events().makeAsyncIterator()
            try await server.serve()
            let device = try await client.connect(to: server)
            guard case .connected(let central, _)? = try await events.next() else {
                throw BLEError.notFound(.device(within: nil))
            }
            // The controllers complete the procedures of a new link in this time.
            await bed.wait(.seconds(1))
            try await body(
                LinkedHosts(
                    bed: bed, client: client, server: server, device: device, central: central,
                    port: port))
        }
    }
}
