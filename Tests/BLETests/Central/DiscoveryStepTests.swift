import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import Testing

/// Discovery in steps, typed descriptors, and the stream of service changes.
struct DiscoveryStepTests {
    private static let format = CharacteristicPresentationFormat(.sint16, exponent: -2, unit: 0x272f)

    private func run(_ body: @escaping @Sendable (TwoHosts, Peripheral) async throws -> Void) async throws {
        try await TwoHosts.run { hosts in
            try await hosts.peripheral.publish([
                GATTService(
                    0x180f, isPrimary: false, handle: 0x0040,
                    characteristics: [GATTCharacteristic(0x2a19, properties: .read, value: [50])]),
                GATTService(
                    0x181a, handle: 0x0020, includes: [.handle(0x0040)],
                    characteristics: [
                        GATTCharacteristic(
                            0x2a6e, properties: [.read, .notify], value: .stored([0xb2, 0x08]),
                            descriptors: [
                                .userDescription("Inside"), .presentationFormat(Self.format),
                            ]),
                        GATTCharacteristic(0x2a6f, properties: .read, value: [1, 0]),
                    ]),
                GATTService(0x1815),
            ])
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan))
            try await hosts.central.withConnection(to: hosts.server.address) { try await body(hosts, $0) }
        }
    }

    @Test(arguments: [false, true]) func stepsMatchFullDiscovery(_ knowsAll: Bool) async throws {
        try await run { _, device in
            if knowsAll { _ = try await device.discover() }
            let all = try await device.discoverServices()
            #expect(all.map(\.uuid) == [0x1800, 0x1801, 0x181a, 0x1815])
            let some = try await device.discoverServices([0x181a, 0x180f])
            #expect(some.map(\.uuid) == [0x181a])
            let service = try #require(some.first)

            let included = try await device.discoverIncludedServices(for: service)
            #expect(included.map(\.uuid) == [0x180f])
            #expect(try await device.discoverIncludedServices([0x1800], for: service) == [])
            let battery = try #require(included.first)
            #expect(battery.serviceHandle == 0x0040)
            let level = try await device.discoverCharacteristics(for: battery)
            #expect(level.map(\.uuid) == [0x2a19])
            #expect(try await device.read(try #require(level.first)) == [50])

            let both = try await device.discoverCharacteristics(for: service)
            #expect(both.map(\.uuid) == [0x2a6e, 0x2a6f])
            // An application can also use handles that it has stored, without a discovery of the service.
            #expect(try await device.discoverCharacteristics(for: service.range) == both)
            let found = try await device.discoverCharacteristics([0x2a6e], for: service)
            let temperature = try #require(found.first)
            #expect(found.count == 1)
            let descriptors = try await device.discoverDescriptors(for: temperature)
            #expect(descriptors.map(\.uuid) == [0x2901, 0x2904, 0x2902])
            var values: [DescriptorValue] = []
            for descriptor in descriptors { values.append(try await device.value(of: descriptor)) }
            #expect(
                values == [
                    .userDescription("Inside"), .presentationFormat(Self.format), .clientConfiguration([]),
                ])
        }
    }

    @Test func characteristicFoundInStepsIsSubscribable() async throws {
        try await run { hosts, device in
            let service = try #require(try await device.discoverServices([0x181a]).first)
            let found = try await device.discoverCharacteristics([0x2a6e], for: service)
            let temperature = try #require(found.first)
            #expect(temperature.descriptors == [])
            var values = try await device.values(of: temperature).makeAsyncIterator()
            try await hosts.peripheral.update(temperature.valueHandle, to: [1, 2])
            let value = try await values.next()
            #expect(value?.value == [1, 2])
        }
    }

    @Test("service changes are reported with their handles", arguments: [false, true])
    func serviceChangesAreReportedWithHandles(discoversAll: Bool) async throws {
        try await run { hosts, device in
            if discoversAll { _ = try await device.discover() }
            let old = try #require(try await device.discoverServices([0x181a]).first)
            var changes = device.serviceChanges().makeAsyncIterator()
            // The service that was found in steps can still be used.
            #expect(try await device.discoverCharacteristics([0x2a6e], for: old).count == 1)
            // Waits until the device has subscribed to Service Changed.
            await hosts.bed.wait(.seconds(2))
            try await hosts.peripheral.removeService(at: old.handle)
            let change = try await changes.next()
            #expect(change?.range == old.range)
            let refused = await failure { () throws(BLEError) in
                _ = try await device.discoverCharacteristics(for: old)
            }
            #expect(refused == .databaseChanged(old.handle))
            #expect(try await device.discoverServices([0x181a]) == [])
        }
    }
}
