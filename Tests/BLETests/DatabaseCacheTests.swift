import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import HCISocket
import Testing

private let battery = GATTService(
    0x180f,
    characteristics: [
        GATTCharacteristic(
            0x2a19, properties: [.read, .write, .writeWithoutResponse, .notify], value: .stored([100]))
    ])

/// The opcodes of the requests that discovery sends.
private let discovering: Set<UInt8> = [0x04, 0x06, 0x10]

struct DatabaseCacheTests {
    @Test func sameHashAvoidsDiscovery() async throws {
        try await TwoHosts.altered { hosts, port in
            let first = try await hosts.connect()
            let found = try await first.discover()
            #expect(port.received.contains { discovering.contains($0[0]) })
            #expect(found.hash?.count == 16)
            await first.disconnect()
            port.forget()
            let second = try await hosts.connect()
            #expect(try await second.discover() == found)
            let asked = port.received.map { $0[0] }
            // The only requests are for the MTU, the hash, the client's features and Service Changed.
            #expect(asked == [0x02, 0x08, 0x12, 0x12])
            #expect(port.received[1] == [0x08, 0x01, 0x00, 0xff, 0xff, 0x2a, 0x2b])
            // Handles that were found on the first link can be used on the second.
            let value = try #require(found.characteristics(Sample.value).first)
            #expect(try await second.read(value) == [1])
            await second.disconnect()
        }
    }

    @Test func changedHashRediscoversAndInvalidatesHandles() async throws {
        try await TwoHosts.altered { hosts, port in
            let first = try await hosts.connect()
            let old = try #require(try await first.discover().characteristics(Sample.value).first)
            await first.disconnect()
            try await hosts.peripheral.add([battery])
            port.forget()
            let second = try await hosts.connect()
            // The second link has not read the hash yet. It does so before it sends a request with the old handle.
            let refused = await failure { () throws(BLEError) in _ = try await second.read(old) }
            #expect(refused == .databaseChanged(old.valueHandle))
            #expect(port.received.contains { discovering.contains($0[0]) })
            #expect(!port.hasReceived([0x0a] + old.valueHandle.wire))
            #expect(try await second.discover().service(0x180f) != nil)
            await second.disconnect()
        }
    }

    @Test func withoutHashOnlyBondedPeerUsesCache() async throws {
        try await TwoHosts.altered { hosts, port in
            // The server answers reads of the hash with Attribute Not Found.
            port.alter { frame in
                frame[0] == 0x09 && frame.count == 20 ? [[0x01, 0x08, 0x01, 0x00, 0x0a]] : [frame]
            }
            let address = try await hosts.find()
            let first = try await hosts.connect()
            let found = try await first.discover()
            #expect(found.hash == nil)
            await first.disconnect()
            port.forget()
            let second = try await hosts.connect()
            #expect(try await second.discover() == found)
            #expect(port.received.contains { discovering.contains($0[0]) })
            await second.disconnect()
            await hosts.client.restoreDatabases([address: CachedDatabase(found, isBonded: true)])
            port.forget()
            let third = try await hosts.connect()
            #expect(try await third.discover() == found)
            #expect(!port.received.contains { discovering.contains($0[0]) })
            await third.disconnect()
            await hosts.client.forgetDatabase(of: address)
            #expect(await hosts.client.cachedDatabases.isEmpty)
        }
    }

    @Test func serviceChangeInvalidatesHandles() async throws {
        try await TwoHosts.altered { hosts, port in
            let range = try #require(try await hosts.peripheral.add([battery]))
            let device = try await hosts.connect()
            let found = try await device.discover()
            let sample = try #require(found.characteristics(Sample.value).first)
            let old = try #require(found.characteristics(0x2a19).first)
            let values = try await device.values(of: sample)
            try await hosts.peripheral.removeService(at: range.start)
            let again = try #require(try await hosts.peripheral.add([battery]))
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(port.hasReceived([0x1e]))
            // A bare handle is not checked: its validity is up to the caller.
            let bare = await failure { () throws(BLEError) in _ = try await device.read(old.valueHandle) }
            #expect(bare != .databaseChanged(old.valueHandle))
            port.forget()
            await refuses(old) { () throws(BLEError) in _ = try await device.read(old) }
            await refuses(old) { () throws(BLEError) in try await device.write([1], to: old) }
            await refuses(old) { () throws(BLEError) in try await device.writeReliably([1], to: old) }
            await refuses(old) { () throws(BLEError) in try await device.writeWithoutResponse([1], to: old) }
            await refuses(old) { () throws(BLEError) in _ = try await device.read([old, sample]) }
            await refuses(old) { () throws(BLEError) in _ = try await device.values(of: old) }
            await refuses(old) { () throws(BLEError) in
                try await device.write([1, 2], to: old, inPartsOf: 1)
            }
            #expect(port.received == [])
            let database = try await device.discover()
            #expect(database.service(0x180f)?.handle == again.start)
            let new = try #require(database.characteristics(0x2a19).first)
            #expect(try await device.read(new) == [100])
            await refuses(old) { () throws(BLEError) in _ = try await device.read(old) }
            // The change affects other handles, so this one and its stream go on.
            #expect(try await device.read(sample) == [1])
            try await hosts.peripheral.update(sample.valueHandle, to: [7])
            for try await value in values {
                #expect(value.value == [7])
                break
            }
            await device.disconnect()
        }
    }

    @Test func serviceChangeEndsValueStreams() async throws {
        try await TwoHosts.altered { hosts, port in
            let range = try #require(try await hosts.peripheral.add([battery]))
            let device = try await hosts.connect()
            let level = try #require(try await device.discover().characteristics(0x2a19).first)
            let values = try await device.values(of: level)
            try await hosts.peripheral.removeService(at: range.start)
            let ended = await failure { () throws(BLEError) in for try await _ in values {} }
            #expect(ended == .databaseChanged(level.valueHandle))
            // The client does not unsubscribe, because the handle can belong to another attribute now.
            _ = try await device.discover()
            let configuration = try #require(level.descriptor(.clientCharacteristicConfiguration))
            #expect(!port.received.contains([0x12] + configuration.handle.wire + [0, 0]))
            await device.disconnect()
        }
    }

    @Test func outOfSyncErrorRequiresRediscovery() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let outOfSync = ATTErrorResponse(.readRequest, value.valueHandle, .databaseOutOfSync)
            port.alter { $0[0] == 0x0b ? [ATTResponse.error(outOfSync).encoded] : [$0] }
            let raw = await failure { () throws(BLEError) in _ = try await device.read(value.valueHandle) }
            #expect(raw == .att(outOfSync))
            let stale = await failure { () throws(BLEError) in _ = try await device.read(value) }
            #expect(stale == .databaseChanged(value.valueHandle))
            port.alter(nil)
            // Discovery finds the same database, so the handles are valid again.
            let again = try await device.discover()
            #expect(again.characteristics(Sample.value) == [value])
            #expect(try await device.read(value) == [1])
            await device.disconnect()
        }
    }

    @Test func outOfSyncDuringDiscoveryRestartsIt() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let outOfSync = ATTErrorResponse(.readByTypeRequest, 0x0001, .databaseOutOfSync)
            let refusal = ATTResponse.error(outOfSync).encoded
            let once = Once()
            port.alter { $0[0] == 0x11 && once.first() ? [refusal.replacing(1, 0x10)] : [$0] }
            #expect(try await device.discover().service(Sample.service) != nil)
            #expect(port.received.count { $0[0] == 0x10 && $0[5...] == [0x00, 0x28] } == 3)
            // Discovery fails if the database is out of sync every time.
            port.alter { $0[0] == 0x11 ? [refusal.replacing(1, 0x10)] : [$0] }
            let given = await failure { () throws(BLEError) in
                _ = try await device.discover(refreshing: true)
            }
            #expect(given == .peerMisbehaved(.restlessDatabase))
            await device.disconnect()
        }
    }

    @Test func serviceChangeDuringDiscoveryRestartsIt() async throws {
        try await TwoHosts.altered { hosts, port in
            let address = try await hosts.find()
            let device = try await hosts.connect()
            // Service Changed, as it is indicated to a bonded client as soon as it connects.
            let changed = try #require(await hosts.peripheral.valueHandle(of: .serviceChanged))
            port.inject([0x1d] + changed.wire + [0x01, 0x00, 0xff, 0xff])
            let database = try await device.discover()
            #expect(port.hasReceived([0x1e]))
            #expect(port.received.count { $0 == [0x08, 0x01, 0x00, 0xff, 0xff, 0x2a, 0x2b] } == 2)
            #expect(await hosts.client.cachedDatabases[address]?.database == database)
            await device.disconnect()
        }
    }

    @Test func singleServiceIsFoundWithFewRequests() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            port.forget()
            let services = try await device.discover(service: Sample.service)
            #expect(services.map(\.uuid) == [Sample.service])
            let asked = port.received.map { $0[0] }
            #expect(!asked.contains(0x10) && asked.first == 0x06)
            let value = try #require(services.first?.characteristic(Sample.value))
            port.forget()
            #expect(try await device.read(value) == [1])
            #expect(port.received == [[0x0a] + value.valueHandle.wire])
            // The handle stays valid after discovery of all services, and a service is then found without a request.
            let database = try await device.discover()
            #expect(try await device.read(value) == [1])
            port.forget()
            #expect(try await device.discover(service: Sample.service) == services)
            #expect(try await device.discover(service: 0x180f).isEmpty)
            #expect(port.received == [])
            #expect(database.services(Sample.service) == services)
            // A change of its service makes the handle invalid.
            let start = try #require(services.first?.handle)
            try await hosts.peripheral.removeService(at: start)
            _ = await hosts.loop.sleep(for: .seconds(1))
            await refuses(value) { () throws(BLEError) in _ = try await device.read(value) }
            await device.disconnect()
        }
    }

    @Test func runsAnyProcedure() async throws {
        try await TwoHosts.altered { hosts, _ in
            let device = try await hosts.connect()
            let services = try await device.run(DiscoverServices.primary)
            #expect(services.map(\.uuid) == [0x1800, 0x1801, Sample.service])
            #expect(try await device.run(DiscoverServices.secondary).isEmpty)
            let range = try #require(services.last?.range)
            let found = try await device.run(DiscoverCharacteristics(in: range, uuid: Sample.other))
            #expect(found.map(\.uuid) == [Sample.other])
            #expect(try await device.read(allOf: Sample.other, in: range).map(\.value) == [[2]])
            await device.disconnect()
        }
    }

    @Test func gattHousekeepingIsNotReportedAsEvents() async throws {
        try await TwoHosts.altered { hosts, _ in
            let events = hosts.peripheral.events()
            let device = try await hosts.connect()
            _ = try await device.discover()
            await device.disconnect()
            var seen: [PeripheralEvent] = []
            for try await event in events {
                seen.append(event)
                if case .disconnected = event { break }
            }
            for event in seen {
                switch event {
                case .connected, .disconnected, .mtu, .parameters: break
                default: Issue.record("\(event)")
                }
            }
        }
    }

    @Test func discoveryWritesClientFeaturesOnce() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let database = try await device.discover()
            let features = try #require(database.characteristics(.clientSupportedFeatures).first)
            let changed = try #require(database.characteristics(.serviceChanged).first)
            let configuration = try #require(changed.descriptor(.clientCharacteristicConfiguration))
            #expect(port.received.contains([0x12] + features.valueHandle.wire + [0x05]))
            #expect(port.received.contains([0x12] + configuration.handle.wire + [0x02, 0x00]))
            port.forget()
            #expect(try await device.discover() == database)
            #expect(port.received == [])
            #expect(try await device.discover(refreshing: true) == database)
            #expect(port.received.contains { discovering.contains($0[0]) })
            // The client's features and configuration were written before.
            #expect(!port.hasReceived([0x12]))
            await device.disconnect()
        }
    }
}

/// Checks that `body` is refused, because `old` belongs to an outdated database.
private func refuses(
    _ old: RemoteCharacteristic, location: SourceLocation = #_sourceLocation,
    _ body: () async throws(BLEError) -> Void
) async {
    let refused = await failure(body)
    #expect(refused == .databaseChanged(old.valueHandle), sourceLocation: location)
}

/// A flag whose `first` returns true only on the first call.
final class Once: Sendable {
    private let state = Lock(true)
    func first() -> Bool {
        state.withLock { state in
            defer { state = false }
            return state
        }
    }
}

extension [UInt8] {
    fileprivate func replacing(_ index: Int, _ octet: UInt8) -> [UInt8] {
        var copy = self
        copy[index] = octet
        return copy
    }
}
