import ATT
import BLECore
import GATT
import GATTServer
import Testing

private let battery = GATTService(
    0x180f,
    characteristics: [GATTCharacteristic(0x2a19, properties: [.read, .indicate], value: .stored([100]))])
private let heart = GATTService(
    0x180d, characteristics: [GATTCharacteristic(0x2a37, properties: [.read], value: .stored([60]))])

/// Added and removed services, as they are reported to one client. Service Changed is at 0x0008, its CCCD at
/// 0x0009; the battery's value is at 0x0012, its CCCD at 0x0013; added services begin at 0x0014.
struct ServicesChangedTests {
    private func subscribed() throws -> ServedClient {
        var client = try ServedClient([battery], generic: GenericServices())
        #expect(client.ask("1209000200") == ["13"])
        #expect(client.ask("1213000200") == ["13"])
        _ = client.events()
        return client
    }

    @Test func nextServiceChangeWaitsForConfirmation() throws {
        var client = try subscribed()
        try client.server.add([heart])
        client.connection.servicesChanged()
        #expect(client.sent() == ["1d080014001600"])
        try client.server.remove(0x0014)
        try client.server.add([heart])
        client.connection.servicesChanged()
        #expect(client.sent() == [])
        #expect(client.ask("1e") == ["1d080014001900"])
        #expect(client.ask("1e") == [])
        // The connection reports no events of this to its owner.
        #expect(client.events() == [])
    }

    @Test func serviceChangeIsSentBetweenValueIndications() throws {
        var client = try subscribed()
        let updates = try [[1], [2]].map { try client.server.setValues([(0x0012, $0)]) }
        for update in updates { _ = client.connection.deliver(Delivery(indications: update)) }
        #expect(client.sent() == ["1d120001"])
        try client.server.add([heart])
        client.connection.servicesChanged()
        #expect(client.sent() == [])
        #expect(client.ask("1e") == ["1d080014001600"])
        #expect(client.ask("1e") == ["1d120002"])
    }

    @Test func unsubscribedClientReceivesNoServiceChange() throws {
        var client = try ServedClient([battery], generic: GenericServices())
        try client.server.add([heart])
        client.connection.servicesChanged()
        #expect(client.sent() == [])
    }

    @Test func returningBondedClientReceivesServiceChange() throws {
        var client = try subscribed()
        let record = client.server.disconnect(ServedClient.client)
        try client.server.add([heart])
        client.connection = GATTConnection(ServedClient.client)
        client.server.connect(ServedClient.client)
        #expect(client.sent() == [])
        client.server.restore(record, of: ServedClient.client)
        client.connection.servicesChanged()
        #expect(client.sent() == ["1d08000100ffff"])
    }
}
