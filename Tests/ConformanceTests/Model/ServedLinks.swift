import ATT
import BLECore
import GATT
import GATTServer

/// Our server with two links. It receives and returns octets.
struct ServedLinks {
    private(set) var server: GATTServer
    private var connections = [0, 1].map { GATTConnection(central($0)) }

    init(_ services: [GATTService]) throws {
        var configuration = ServerOptions()
        configuration.prepareQueueLimit = ReferenceModel.queueLimit
        configuration.authorize = { ReferenceModel.authorizes(Int($0.handle.rawValue)) }
        server = GATTServer(try AttributeDatabase(services, generic: nil), configuration)
        for connection in connections { server.connect(connection.client) }
    }

    /// Returns the PDUs that the server sends in answer to a PDU.
    mutating func answers(to pdu: [UInt8], on link: Int) -> [[UInt8]] {
        connections[link].receive(pdu.span, at: .zero)
        while connections[link].nextEvent(serving: &server) != nil {}
        while server.nextEvent() != nil {}
        var sent: [[UInt8]] = []
        while let frame = connections[link].frame() { sent.append(frame) }
        return sent
    }

    /// Sets the security of a link to that of the model's link.
    mutating func secure(_ link: Int, as model: ModelLink) {
        let level = SecurityLevel.allCases[model.level]
        server.setSecurity(
            LinkSecurity(level: level, keySize: model.keySize, isBonded: model.isBonded),
            of: Self.central(link))
    }

    private static func central(_ number: Int) -> ClientID { ClientID(rawValue: UInt64(number)) }
}
