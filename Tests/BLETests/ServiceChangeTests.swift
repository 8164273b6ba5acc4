import ATT
import BLE
import BLECore
import GATTServer
import HCI
import HCISocket
import Testing

private let battery = GATTService(
    0x180f,
    characteristics: [GATTCharacteristic(0x2a19, properties: [.read, .notify], value: .stored([100]))])

struct ServiceChangeTests {
    @Test func clientIsNotifiedOfServiceChanges() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let change = try await hosts.characteristic(.serviceChanged, of: device)
                let reported = try await device.values(of: change, indications: true)
                let range = try #require(try await hosts.peripheral.add([battery]))
                try await hosts.peripheral.removeService(at: range.start)
                var received: [[UInt8]] = []
                for try await value in reported {
                    received.append(value.value)
                    if received.count == 2 { break }
                }
                let octets = [range.start, range.end].flatMap {
                    [UInt8(truncatingIfNeeded: $0.rawValue), UInt8($0.rawValue >> 8)]
                }
                #expect(received == [octets, octets])
            }
        }
    }

    @Test("a change of one service leaves what was found of the others usable")
    func changeLeavesOtherServices() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let range = try #require(try await hosts.peripheral.add([battery]))
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let level = try await hosts.characteristic(0x2a19, of: device)
                let interval = try await hosts.characteristic(0x2a21, of: device)
                let temperature = try await hosts.characteristic(0x2a6e, of: device)
                var changes = device.serviceChanges().makeAsyncIterator()
                try await hosts.peripheral.removeService(at: range.start)
                #expect(try await changes.next()?.range.contains(level.valueHandle) == true)
                for _ in 0..<2 {
                    #expect(try await device.read(interval) == [60, 0])
                    let stream = try await device.values(of: temperature)
                    try await hosts.peripheral.update(temperature.valueHandle, to: [1, 2])
                    #expect(try await stream.next(within: .seconds(1))?.value == [1, 2])
                    let gone = await failure { () throws(BLEError) in _ = try await device.read(level) }
                    #expect(gone == .databaseChanged(level.valueHandle))
                    // A discovery of the new database changes nothing in that.
                    _ = try await device.discover()
                }
            }
        }
    }

    @Test func addedServiceIsUsableAtOnce() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let range = try #require(try await hosts.peripheral.add([battery]))
                let level = try await hosts.characteristic(0x2a19, of: device)
                #expect(range.contains(level.valueHandle))
                #expect(try await device.read(level.valueHandle) == [100])
                try await hosts.peripheral.removeService(at: range.start)
                let refusal = await failure { () throws(BLEError) in
                    _ = try await device.read(level.valueHandle)
                }
                #expect(refusal != nil)
            }
        }
    }

    @Test func bondedCentralReceivesMissedServiceChange() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serve([0])
            let port = AlteringPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let first = try await client.connect(to: server)
            try await first.pair()
            // A discovery subscribes to Service Changed.
            _ = try await first.discover()
            await first.disconnect()
            try await PeripheralManager(server).add([battery])
            let confirmations = Lock(0)
            port.alter { frame in
                if frame == [0x1e] { confirmations.withLock { $0 += 1 } }
                return [frame]
            }
            for count in [1, 1] {
                let link = try await client.connect(to: server)
                #expect(try await link.security.isBonded)
                await bed.wait(.seconds(1))
                #expect(confirmations.withLock { $0 } == count)
                await link.disconnect()
            }
        }
    }

    @Test func multipleValuesAreSentInOneNotification() async throws {
        let packets = Lock<[[UInt8]]>([])
        try await TwoHosts.run { hosts in
            let options = AdapterOptions(
                loop: hosts.server.loop,
                capture: { direction, packet in
                    guard direction == .controllerToHost, packet[0] == HCIPacketType.acl.rawValue else {
                        return
                    }
                    packets.withLock { $0.append([UInt8](copying: packet.extracting(9..<packet.count))) }
                })
            let client = try await Adapter.open(on: await hosts.air.attach(), options: options)
            _ = try await hosts.serveThermometer()
            try await hosts.peripheral.add([battery])
            try await CentralManager(client).withConnection(to: try await hosts.find()) { device in
                let database = try await device.discover()
                let temperature = try #require(database.characteristics(0x2a6e).first)
                let level = try #require(database.characteristics(0x2a19).first)
                let temperatures = try await device.values(of: temperature)
                let levels = try await device.values(of: level)
                let reached = try await hosts.peripheral.update([
                    (temperature.valueHandle, [1, 2]), (level.valueHandle, [99]),
                ])
                #expect(reached.count == 1)
                for try await value in temperatures {
                    #expect(value.value == [1, 2])
                    break
                }
                for try await value in levels {
                    #expect(value.value == [99])
                    break
                }
            }
            await client.close()
        }
        let multiple = ATTOpcode.multipleHandleValueNotification.rawValue
        #expect(packets.withLock { $0.filter { $0.first == multiple }.count } == 1)
    }

    @Test func tooLongValueFailsUnlessTruncated() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            var options = ConnectionOptions()
            options.mtu = 23
            let link = try await hosts.central.connect(to: try await hosts.find(), options: options)
            let temperature = try await hosts.characteristic(0x2a6e, of: link)
            let values = try await link.values(of: temperature)
            let long = [UInt8](0..<30)
            let error = await failure { () throws(BLEError) in
                try await hosts.peripheral.update(temperature.valueHandle, to: long)
            }
            guard case .limit(_, 20, 30) = error else { return #expect(error == nil) }
            try await hosts.peripheral.update(temperature.valueHandle, to: long, truncating: true)
            for try await value in values {
                #expect(value.value == Array(long.prefix(20)))
                break
            }
            await link.disconnect()
        }
    }
}
