import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTServer
import Testing

/// The Device Name that clients read.
@Suite(.timeLimit(.minutes(10))) struct DeviceNameTests {
    private static let name = "Thermometer in the kitchen of the house"

    /// Returns the names that a client reads from a server that advertises `name`, then another name, then a beacon's.
    private func names(_ generic: GenericServices?, publishesFirst: Bool = true) async throws -> [String] {
        try await VirtualTestbed.run { bed in
            let (server, client) = (try await bed.host("server"), try await bed.host("client"))
            let manager = PeripheralManager(server)
            if publishesFirst { try await manager.publish([], generic: generic) }
            var content = AdvertisingContent()
            content.name = Self.name
            let request = AdvertisingRequest(
                try AdvertisingPlan(content, kind: .connectable, overflow: .shortenName))
            let advertising = try await manager.advertise(request)
            if !publishesFirst { try await manager.publish([], generic: generic) }
            let device = try await client.connect(to: server)
            var names: [String] = []
            func read() async throws {
                let found = try await device.discover().characteristics(.deviceName)
                for each in found {
                    names.append(String(decoding: try await device.read(each), as: UTF8.self))
                }
            }
            try await read()
            content.name = "Puls"
            try await advertising.update(AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)))
            try await read()
            // The name of nonconnectable advertising is that of a beacon, not of the server.
            content.name = "Beacon"
            await advertising.stop()
            let beacon = AdvertisingRequest(
                try AdvertisingPlan(content, kind: .nonconnectable), kind: .nonconnectable)
            _ = try await manager.advertise(beacon)
            try await read()
            await device.disconnect()
            return names
        }
    }

    @Test("the device name defaults to the complete advertised name", arguments: [true, false])
    func defaultNameIsAdvertisedName(publishesFirst: Bool) async throws {
        #expect(
            try await names(GenericServices(), publishesFirst: publishesFirst) == [Self.name, "Puls", "Puls"])
    }

    @Test("an explicit device name is used") func explicitNameIsUsed() async throws {
        #expect(try await names(GenericServices(deviceName: "Own")) == ["Own", "Own", "Own"])
        #expect(try await names(GenericServices(deviceName: "")) == ["", "", ""])
    }

    @Test("without the generic services there is no device name")
    func nameRequiresGenericServices() async throws {
        #expect(try await names(nil) == [])
    }
}
