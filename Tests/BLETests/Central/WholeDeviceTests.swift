import ATT
import BLECore
import GATTServer
import HCISocket
import Testing

@testable import BLE

/// What a program asks of a device as a whole: its name, all values, and all that it sends.
@Suite(.timeLimit(.minutes(10))) struct WholeDeviceTests {
    private static let refused: BluetoothUUID = 0x2a3d

    private func serve(_ server: PeripheralManager) async throws {
        try await server.publish([
            GATTService(
                0x180f,
                characteristics: [
                    GATTCharacteristic(0x2a19, properties: [.read, .notify], value: .stored([80])),
                    GATTCharacteristic(
                        Self.refused, properties: [.read, .indicate],
                        permissions: AttributePermissions(read: .authenticated), value: .stored([1])),
                    GATTCharacteristic(0x2a06, properties: .writeWithoutResponse, value: .stored([])),
                ])
        ])
    }

    @Test("everything that can be read is read, and refusals are part of the result")
    func everythingIsRead() async throws {
        try await VirtualTestbed.run { bed in
            let server = PeripheralManager(try await bed.adapter("server"))
            try await serve(server)
            var content = AdvertisingContent()
            content.name = "Puls"
            try await server.withAdvertising(content) {
                let central = CentralManager(try await bed.adapter("central"))
                let found = try await central.first(within: .seconds(5)) { $0.name == "Puls" }
                var options = ConnectionOptions()
                options.raisesSecurity = false
                try await central.withConnection(to: try #require(found.address), options: options) {
                    device in
                    #expect(await device.name == "Puls")
                    #expect(await central.isScanning == false)
                    let all = try await device.readAll()
                    let level = try #require(all.database.characteristics(0x2a19).first)
                    let closed = try #require(all.database.characteristics(Self.refused).first)
                    let alert = try #require(all.database.characteristics(0x2a06).first)
                    #expect(all[level] == [80] && all[closed] == nil && all[alert] == nil)
                    guard case .failure(let refusal)? = all.results[closed.valueHandle] else {
                        Issue.record("no refusal")
                        return
                    }
                    #expect(refusal.code == .insufficientAuthentication)
                    #expect(all.results[alert.valueHandle] == nil)
                    #expect(all[level.descriptors[0]] == [0, 0])
                }
            }
            let isAdvertising = await server.isAdvertising
            #expect(!isAdvertising)
            // The end of the adapter is the reason for everything that is not there any more.
            await server.adapter.close()
            let other = CharacteristicKey<UInt8>(0xfff2)
            await #expect(throws: BLEError.adapter(.closed)) { try await server.update(other, to: 1) }
            await #expect(throws: BLEError.adapter(.closed)) { try await server.tryUpdate(other, to: 1) }
        }
    }

    @Test("one stream has the values of all characteristics, and refusals are reported")
    func allValuesAreOneStream() async throws {
        try await VirtualTestbed.run { bed in
            let server = PeripheralManager(try await bed.adapter("server"))
            try await serve(server)
            try await server.withAdvertising(AdvertisingContent()) {
                #expect(await server.isAdvertising)
                let central = CentralManager(try await bed.adapter("central"))
                let scan = central.scan()
                let found = try await central.first(within: .seconds(5))
                #expect(await central.isScanning)
                _ = scan
                var options = ConnectionOptions()
                options.raisesSecurity = false
                try await central.withConnection(to: try #require(found.address), options: options) {
                    device in
                    var refused: [BluetoothUUID] = []
                    var values = try await device.allValues { characteristic, _ in
                        refused.append(characteristic.uuid)
                    }
                    .makeAsyncIterator()
                    #expect(refused == [Self.refused])
                    try await server.update(CharacteristicKey<UInt8>(0x2a19), to: 81)
                    let value = try await values.next()
                    #expect(value?.value == [81])
                }
            }
        }
    }

    @Test("a chain to a known device connects without a scan, and reports every packet of a scan")
    func chainToKnownDevice() async throws {
        try await VirtualTestbed.run { bed in
            let server = PeripheralManager(try await bed.adapter("server"))
            try await serve(server)
            try await server.withAdvertising(AdvertisingContent()) {
                let central = CentralManager(try await bed.adapter("central"))
                let seen = Lock(0)
                let found = try await central.chain().onFound { _ in seen.withLock { $0 += 1 } }
                    .where { _ in seen.withLock { $0 } >= 3 }.within(.seconds(5)).first()
                #expect(seen.withLock { $0 } == 3)
                let id = try #require(found.id)
                let channel = central.channel("known")
                let events = channel.events()
                let level = try await channel.peripheral(id).read(.batteryLevel)
                #expect(level.percent == 80)
                var iterator = events.makeAsyncIterator()
                let first = try await iterator.next()
                #expect(first == .began(.connect, id))
                let all = try await central.chain(to: id).readAll()
                #expect(all.database.characteristics(0x2a19).count == 1)
                #expect(try await central.chain(to: id).within(.seconds(5)).first().id == id)
            }
        }
    }
}
