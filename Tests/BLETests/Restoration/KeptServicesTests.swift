import ATT
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket
import Testing

@testable import BLE

/// Services that a restored peripheral manager publishes one after another.
struct KeptServicesTests {
    private static func service(
        _ uuid: BluetoothUUID = 0xfff0, properties: CharacteristicProperties = [.read, .write, .notify]
    ) -> GATTService {
        GATTService(uuid) { GATTCharacteristic(0xfff1, properties: properties, value: .stored([1])) }
    }

    /// Returns the value of the service that begins at `start`.
    private static func value(_ start: AttributeHandle, of host: Adapter) async -> [UInt8]? {
        await host.server.gatt.database[AttributeHandle(start.rawValue + 2)]?.value
    }

    @Test(arguments: [false, true])
    func servicesOfSameTypeKeepTheirHandles(isChanged: Bool) async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            let manager = try await world.server(first)
            try await manager.publish([Self.service()])
            let range = try #require(try await manager.add([Self.service()]))
            #expect(try await manager.tryUpdate(AttributeHandle(range.start.rawValue + 2), to: [5]))
            await world.die(first)

            let second = try await world.rise()
            let next = try await world.server(second)
            // The first service has other properties than before, or the same.
            try await next.publish([isChanged ? Self.service(properties: .read) : Self.service()])
            let found = try #require(try await next.add([Self.service()]))
            #expect(found == range)
            #expect(await Self.value(found.start, of: second) == [5])
            await world.die(second)
            let third = try await world.rise()
            let services = try await world.server(third).restored.services
            // The service with the earlier properties is not kept, but all others are.
            #expect(services.map(\.uuid).filter { $0 == 0xfff0 }.count == 2)
            #expect(services.contains { $0.handle == range.start })
        }
    }

    @Test func addingServiceRevertsNoOtherValue() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            let manager = try await world.server(first)
            try await manager.publish([Self.service()])
            let handle = try #require(await manager.valueHandle(of: 0xfff1))
            #expect(try await manager.tryUpdate(handle, to: [7]))
            let range = try #require(try await manager.add([Self.service(0xffe0)]))
            #expect(try await manager.tryUpdate(AttributeHandle(range.start.rawValue + 2), to: [9]))
            await world.die(first)

            let second = try await world.rise()
            let next = try await world.server(second, keepsUpdates: false)
            try await next.publish([Self.service()])
            #expect(await second.server.gatt.database[handle]?.value == [7])
            #expect(try await next.tryUpdate(handle, to: [8]))
            #expect(try await next.add([Self.service(0xffe0)]) == range)
            #expect(await second.server.gatt.database[handle]?.value == [8])
            #expect(await Self.value(range.start, of: second) == [9])
        }
    }

    // MARK: When centrals are let in

    /// Returns whether the peer finds the host within a time limit.
    private static func isOnAir(_ world: LivesAndDeaths, within limit: Duration) async throws -> Bool {
        do {
            _ = try await CentralManager(world.peer).first(within: limit) { $0.name == "peer" }
            return true
        } catch {
            guard case .notFound = error else { throw error }
            return false
        }
    }

    @Test func bondedCentralFindsAllServicesOrNone() async throws {
        try await LivesAndDeaths.run { world in
            let central = CentralManager(world.peer)
            let first = try await world.rise(bonded: true)
            let manager = try await world.server(first)
            try await manager.publish([Self.service()])
            let handle = try #require(await manager.valueHandle(of: 0xfff1))
            try await manager.add([Self.service(0xffe0)])
            let address = await first.address
            do {
                let advertising = try await manager.advertise(Self.request())
                let device = try await central.connect(to: address)
                try await device.pair()
                let database = try await device.discover()
                let values = try await device.values(
                    of: try #require(database.characteristics(0xfff1).first))
                await world.die(first)
                withExtendedLifetime((values, advertising)) {}
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise(bonded: true)
            let next = try await world.server(second)
            // The central connects as soon as it can.
            let connecting = world.bed.task { try await central.connect(to: address, timeout: nil) }
            try await next.publish([Self.service()])
            await world.bed.wait(.seconds(4))
            #expect(await central.state(of: Peripheral.Identifier(address)) == .connecting)
            try await next.add([Self.service(0xffe0)])
            _ = try await connecting.value
            await world.bed.wait(.seconds(3))
            #expect(await next.hasSubscribers(handle))
        }
    }

    @Test func unpublishedServicesDelayAdvertisingFiveSeconds() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            do {
                let manager = try await world.server(first)
                try await manager.publish([Self.service(), Self.service(0xffe0)])
                let advertising = try await manager.advertise(Self.request())
                await world.die(first)
                withExtendedLifetime(advertising) {}
            }
            let second = try await world.rise()
            do {
                let next = try await world.server(second)
                try await next.publish([])
                #expect(try await !Self.isOnAir(world, within: .seconds(4)))
                // Each new service restarts the delay.
                try await next.add([Self.service()])
                #expect(try await !Self.isOnAir(world, within: .seconds(4)))
                #expect(try await Self.isOnAir(world, within: .seconds(2)))
                await world.die(second)
            }
            // An advertisement that the program requests is on air at once.
            let third = try await world.rise()
            let last = try await world.server(third)
            try await last.publish([Self.service()])
            _ = try await last.advertise(Self.request())
            #expect(try await Self.isOnAir(world, within: .seconds(1)))
        }
    }

    private static func request() throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = "peer"
        return AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse))
    }

    // MARK: With the other role

    @Test func gatewayPublishesWhileLinksAreOpen() async throws {
        try await LivesAndDeaths.run { world in
            try await world.peer.serve(maximumLinks: 2)
            let peer = Peripheral.Identifier(await world.peer.address)
            let first = try await world.rise(bonded: true)
            let manager = try await world.server(first)
            try await manager.publish([Self.service(0xffe0, properties: [.read, .notify])])
            let handle = try #require(await manager.valueHandle(of: 0xfff1))
            do {
                let device = try await world.manager(first).connect(to: peer)
                try await device.pair()
                // The peer uses this host's server on the same link.
                let back = try await CentralManager(world.peer).connect(to: await first.address)
                let found = try #require(try await back.discover().characteristics(0xfff1).first)
                let values = try await back.values(of: found)
                #expect(await manager.hasSubscribers(handle))
                await world.die(first)
                withExtendedLifetime((values, device)) {}
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise(bonded: true)
            let central = try await world.manager(second)
            await world.bed.wait(.seconds(20))
            #expect(await central.state(of: peer) == .connected)
            // A link that ends before services are published does not discard the stored subscription.
            try await central.connect(to: peer).disconnect()
            await world.bed.wait(.seconds(5))
            let device = try await central.connect(to: peer)
            await world.bed.wait(.seconds(5))
            let next = try await world.server(second)
            try await next.publish([Self.service(0xffe0, properties: [.read, .notify])])
            await world.bed.wait(.seconds(1))
            #expect(await next.hasSubscribers(handle))
            let back = try await CentralManager(world.peer).connect(to: await second.address)
            let found = try #require(try await back.discover().characteristics(0xfff1).first)
            #expect(try await back.read(found) == [1])
            // All services can be replaced only while no central is connected.
            let again = await failure { () throws(BLEError) in try await next.publish([]) }
            #expect(
                again
                    == .invalidRequest(.servicesInUse))
            withExtendedLifetime(device) {}
        }
    }

    @Test func firstServiceCanBeAddedWhileLinksAreOpen() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let link = try await hosts.central.connect(to: try await hosts.find())
            let manager = PeripheralManager(hosts.client)
            try await manager.add([Self.service()])
            let back = try await CentralManager(hosts.server).connect(to: await hosts.client.address)
            let found = try #require(try await back.discover().characteristics(0xfff1).first)
            #expect(try await back.read(found) == [1])
            await link.disconnect()
        }
    }
}
