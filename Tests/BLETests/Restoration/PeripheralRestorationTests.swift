import ATT
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import Glibc
import HCISocket
import SMP
import SystemPackage
import Testing

@testable import BLE

/// The state that a peripheral manager restores after its process was killed.
struct PeripheralRestorationTests {
    /// Returns a service with one value that centrals write, one that the program sets, and one that a handler provides.
    private static func service(_ uuid: BluetoothUUID = 0xfff0, first: UInt8 = 1) -> GATTService {
        GATTService(uuid) {
            GATTCharacteristic(0xfff1, properties: [.read, .write], value: .stored([first]))
            GATTCharacteristic(0xfff2, properties: [.read, .notify], value: .stored([first]))
            GATTCharacteristic(0xfff3, properties: .read, onRead: { _ in .value([first]) })
        }
    }

    private static func request(_ name: String = "sensor") throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = name
        return AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse))
    }

    /// Returns the three values as a central reads them, and the handle of the first.
    private static func read(_ world: LivesAndDeaths) async throws -> (
        values: [UInt8], handle: AttributeHandle
    ) {
        let found = try await CentralManager(world.peer).first(within: .seconds(30)) { $0.name == "sensor" }
        let address = try #require(found.address)
        return try await CentralManager(world.peer).withConnection(to: address) { device in
            let database = try await device.discover(refreshing: true)
            var values: [UInt8] = []
            for uuid in [0xfff1, 0xfff2, 0xfff3] as [BluetoothUUID] {
                guard let found = database.characteristics(uuid).first else {
                    throw BLEError.notFound(.device(within: nil))
                }
                values += try await device.read(found)
            }
            return (values, database.characteristics(0xfff1).first?.valueHandle ?? .none)
        }
    }

    @Test func handlesValuesAndAdvertisingAreRestored() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            var handle = AttributeHandle.none
            do {
                let manager = try await world.server(first)
                #expect(manager.restored == RestoredPeripheralState())
                try await manager.publish([GATTService(0x180f), Self.service()])
                // An advertisement that was stopped is not restored.
                try await manager.advertise(Self.request("beacon")).stop()
                let advertising = try await manager.advertise(Self.request(), maximumLinks: 2)
                let device = try await CentralManager(world.peer).connect(to: await first.address)
                let database = try await device.discover()
                let characteristic = try #require(database.characteristics(0xfff1).first)
                handle = characteristic.valueHandle
                try await device.write([42], to: characteristic)
                let second = try #require(database.characteristics(0xfff2).first)
                try await manager.update(second.valueHandle, to: [43])
                await world.die(first)
                withExtendedLifetime(advertising) {}
            }
            await world.bed.wait(.seconds(60))

            let second = try await world.rise()
            let manager = try await world.server(second)
            let restored = manager.restored
            #expect(restored.problems.isEmpty)
            #expect(restored.services.map(\.uuid).suffix(2) == [0x180f, 0xfff0])
            #expect(restored.values[handle] == [42] && restored.values.count == 2)
            #expect(
                restored.advertising == [RestoredAdvertising(request: try Self.request(), maximumLinks: 2)])
            // Connectable advertising does not begin before services are published.
            let silence = await failure { () throws(BLEError) in
                _ = try await CentralManager(world.peer).first(within: .seconds(5)) { $0.name == "sensor" }
            }
            #expect(silence == .notFound(.device(within: .seconds(5))))
            // The services are published in another order, with others, and with other initial values.
            try await manager.publish([GATTService(0x1809), Self.service(first: 9), GATTService(0x180f)])
            let found = try await Self.read(world)
            #expect(found.values == [42, 43, 9] && found.handle == handle)
            // The same request takes over the restored advertisement.
            let advertising = try await manager.advertise(Self.request(), maximumLinks: 2)
            try await manager.dismissRestored()
            _ = try await Self.read(world)
            try await advertising.update(Self.request("other"))
            await world.die(second)

            let third = try await world.rise()
            let last = try await world.server(third)
            #expect(last.restored.advertising.map(\.request) == [try Self.request("other")])
            // The new service has handles that no service had before.
            let highest = restored.services.map(\.endHandle).max() ?? .none
            #expect(last.restored.services.first { $0.uuid == 0x1809 }.map { $0.handle > highest } == true)
        }
    }

    @Test("with one set a restored advertisement yields to a requested one when it is dismissed")
    func restoredAdvertisementYieldsToNewOne() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            #expect(await first.controller.numberOfAdvertisingSets == 1)
            let manager = try await world.server(first)
            try await manager.publish([Self.service()])
            _ = try await manager.advertise(Self.request("before"))
            await world.die(first)

            let second = try await world.rise()
            let successor = try await world.server(second)
            try await successor.publish([Self.service()])
            _ = try await CentralManager(world.peer).first(within: .seconds(5)) { $0.name == "before" }
            _ = try await successor.advertise(Self.request("sensor"))
            try await successor.dismissRestored()
            _ = try await Self.read(world)
            await world.die(second)

            let third = try await world.server(try await world.rise())
            #expect(third.restored.advertising.map(\.request) == [try Self.request("sensor")])
        }
    }

    @Test("an advertisement that was replaced by another one is not restored")
    func replacedAdvertisementIsNotRestored() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            let manager = try await world.server(first)
            try await manager.publish([Self.service()])
            _ = try await manager.advertise(Self.request("before"))
            await world.die(first)

            let second = try await world.rise()
            let successor = try await world.server(second)
            try await successor.publish([Self.service()])
            _ = try await CentralManager(world.peer).first(within: .seconds(5)) { $0.name == "before" }
            _ = try await successor.advertise(Self.request("sensor"))
            await world.die(second)
            withExtendedLifetime(successor) {}

            let third = try await world.server(try await world.rise())
            #expect(third.restored.advertising.map(\.request) == [try Self.request("sensor")])
        }
    }

    @Test func changedServiceReceivesNewHandles() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise()
            let manager = try await world.server(first)
            try await manager.publish([])
            let range = try #require(try await manager.add([Self.service(0xfff0), Self.service(0xffe0)]))
            let value = try #require(await manager.valueHandle(of: 0xfff1))
            #expect(try await manager.tryUpdate(value, to: [5]))
            await world.die(first)

            let second = try await world.rise()
            let next = try await world.server(second)
            try await next.publish([])
            // The services are added one by one, the last first. The unchanged one keeps its handles.
            let other = try #require(try await next.add([Self.service(0xffe0)]))
            #expect(other.end == range.end && other.start > range.start)
            var changed = Self.service(0xfff0)
            changed.characteristics[1].properties = .read
            let moved = try #require(try await next.add([changed]))
            #expect(moved.start > range.end)
            #expect(
                await second.server.gatt.database[await next.valueHandle(of: 0xfff1, in: 0xfff0)]?.value == [
                    1
                ])
            // A removed service is not restored, and its handles are not used again.
            try await next.removeService(at: moved.start)
            await world.die(second)
            let third = try await world.rise()
            let last = try await world.server(third)
            #expect(last.restored.services.map(\.uuid).filter { $0 == 0xfff0 }.isEmpty)
            try await last.publish([])
            #expect(try #require(try await last.add([Self.service(0xfff0)])).start > moved.end)
        }
    }

    @Test func writesAreStoredBeforeResponse() async throws {
        try await LivesAndDeaths.run { world in
            let isFull = Lock(false)
            let disk = Disk { step throws(Errno) in
                if case .create = step, isFull.withLock({ $0 }) { throw .noSpace }
            }
            let host = try await world.rise()
            let manager = try await world.server(host, keepsUpdates: false, disk)
            try await manager.publish([Self.service()])
            let advertising = try await manager.advertise(Self.request())
            let device = try await CentralManager(world.peer).connect(to: await host.address)
            let database = try await device.discover()
            let written = try #require(database.characteristics(0xfff1).first)
            let set = try #require(database.characteristics(0xfff2).first)
            try await device.write([7], to: written)
            #expect(await world.keptValues() == [written.valueHandle: [7]])
            // Values that the program sets are not stored here, so they do not need the disk.
            isFull.withLock { $0 = true }
            try await manager.update(set.valueHandle, to: [8])
            let refused = await failure { () throws(BLEError) in try await device.write([9], to: written) }
            #expect(refused == .att(ATTErrorResponse(.writeRequest, .none, .unlikelyError)))
            isFull.withLock { $0 = false }
            try await device.write([10], to: written)
            #expect(await world.keptValues() == [written.valueHandle: [10]])
            isFull.withLock { $0 = true }
            let full = await failure { () throws(BLEError) in
                _ = try await manager.add([Self.service(0xffe0)])
            }
            guard case .restoration(.state(.system(.noSpace, _))) = full else {
                Issue.record("\(String(describing: full))")
                return
            }
            await advertising.stop()
        }
    }

    @Test func bondedCentralStaysSubscribed() async throws {
        try await LivesAndDeaths.run { world in
            let first = try await world.rise(bonded: true)
            let manager = try await world.server(first)
            try await manager.publish([Self.service()])
            let advertising = try await manager.advertise(Self.request())
            let central = CentralManager(world.peer)
            let device = try await central.connect(to: await first.address)
            try await device.pair()
            let database = try await device.discover()
            let characteristic = try #require(database.characteristics(0xfff2).first)
            let values = try await device.values(of: characteristic)
            await world.die(first)
            withExtendedLifetime((values, advertising)) {}
            await world.bed.wait(.seconds(60))

            let second = try await world.rise(bonded: true)
            let next = try await world.server(second)
            try await next.publish([Self.service()])
            _ = try await central.connect(to: await second.address)
            await world.bed.wait(.seconds(5))
            // The central has not subscribed again.
            #expect(await next.hasSubscribers(characteristic.valueHandle))
        }
    }

    @Test func adapterHasOneRestoredServer() async throws {
        try await LivesAndDeaths.run { world in
            let host = try await world.rise()
            let manager = try await world.server(host)
            let second = await failure { () throws(BLEError) in _ = try await world.server(host) }
            #expect(second == .restoration(.inUse("sensor", process: getpid())))
            let other = await failure { () throws(BLEError) in
                _ = try await PeripheralManager(host, restoring: "other", in: world.folder.path)
            }
            #expect(other == .invalidRequest(.serverRestored))
            // A central manager may have the same name.
            _ = try await CentralManager(host, restoring: "sensor", in: world.folder.path)
            try await manager.publish([Self.service()])
            await host.close()
            let next = try await world.rise()
            #expect(try await world.server(next).restored.services.count == 3)
        }
    }
}

extension PeripheralManager {
    fileprivate func valueHandle(
        of characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async -> AttributeHandle {
        await adapter.server.gatt.database.valueHandle(of: characteristic, in: service) ?? .none
    }
}

extension LivesAndDeaths {
    /// Creates a peripheral manager of the host that is restored by the name `sensor`.
    func server(
        _ host: Adapter, keepsUpdates: Bool = true, _ disk: Disk = Disk()
    ) async throws(BLEError) -> PeripheralManager {
        try await PeripheralManager(
            host, restoring: "sensor", in: folder.path, keepsUpdates: keepsUpdates, mortal(disk))
    }

    /// Returns the values that are stored on the disk.
    fileprivate func keptValues() async -> [AttributeHandle: [UInt8]] {
        guard let octets = folder.contents(at: "\(folder.path)/restoring/sensor.peripheral") else {
            return [:]
        }
        return StateTextTests.read(octets, as: ServingState.self).0.values
    }
}
