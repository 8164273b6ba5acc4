import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import HCI
import HCISocket
import Testing

@Suite struct MainJobTests {
    @Test func scanFindsAdvertisement() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let found = try await hosts.central.first(within: .seconds(5)) { $0.name != nil }
            #expect(found.name == "Thermometer")
            #expect(found.fields.serviceUUIDs == [0x1809])
            #expect(found.isConnectable)
            #expect(found.address == (await hosts.server.address))
        }
    }

    @Test func clientDiscoversReadsAndWrites() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let mtu = try await device.mtu
                #expect(mtu == 517)
                let database = try await device.discover()
                #expect(database.services.map(\.uuid) == [0x1800, 0x1801, 0x1809])
                let temperature = try await hosts.characteristic(0x2a6e, of: device)
                #expect(try await device.read(temperature.valueHandle) == [0xb2, 0x08])
                let interval = try await hosts.characteristic(0x2a21, of: device)
                try await device.write([30, 0], to: interval.valueHandle)
                #expect(try await device.read(interval.valueHandle) == [30, 0])
            }
        }
    }

    @Test func longValuesAreReadAndWrittenCompletely() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            var options = ConnectionOptions()
            options.mtu = .default
            try await hosts.central.withConnection(to: try await hosts.find(), options: options) { device in
                let mtu = try await device.mtu
                #expect(mtu == 23)
                let long = try await hosts.characteristic(0x2a9f, of: device)
                #expect(try await device.read(long.valueHandle) == [UInt8](repeating: 7, count: 300))
                let other = (0..<400).map { UInt8($0 % 251) }
                try await device.write(other, to: long.valueHandle)
                #expect(try await device.read(long.valueHandle) == other)
            }
        }
    }

    @Test func notificationsArriveInOrder() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let temperature = try await hosts.characteristic(0x2a6e, of: device)
                let handle = temperature.valueHandle
                let values = try await device.values(of: temperature)
                for number in 0..<200 {
                    try await hosts.peripheral.update(handle, to: [UInt8(number), 0])
                }
                var received: [UInt8] = []
                for try await value in values {
                    received.append(value.value[0])
                    if received.count == 200 { break }
                }
                #expect(received == (0..<200).map { UInt8($0) })
            }
        }
    }

    @Test(
        "indications are confirmed, and used by default where notifications are unsupported",
        arguments: [true, false])
    func indicationsAreConfirmed(isAskedFor: Bool) async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let measurement = try await hosts.characteristic(0x2a1c, of: device)
                let values = try await device.values(of: measurement, indications: isAskedFor)
                let reached = try await hosts.peripheral.update(measurement.valueHandle, to: [1, 2, 3])
                #expect(reached.map(\.address) == [await hosts.client.address])
                for try await value in values {
                    #expect(value.value == [1, 2, 3])
                    #expect(value.isIndication)
                    break
                }
            }
        }
    }

    @Test func advertisingPausesUntilLinkIsFree() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let address = try await hosts.find()
            for _ in 0..<3 {
                try await hosts.central.withConnection(to: address) { device in
                    let other = try await Adapter.open(
                        on: await hosts.air.attach(), options: AdapterOptions(loop: hosts.server.loop))
                    await #expect(throws: BLEError.self) {
                        try await CentralManager(other).first(within: .seconds(3)) {
                            $0.name == "Thermometer"
                        }
                    }
                    await other.close()
                }
            }
            #expect(try await hosts.find() == address)
        }
    }
}

@Suite struct MainJobErrorTests {
    @Test func connectTimeoutFreesRadio() async throws {
        try await TwoHosts.run { hosts in
            let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)
            await #expect(throws: BLEError.timedOut(.connecting, after: .seconds(5))) {
                try await hosts.central.connect(to: absent, timeout: .seconds(5))
            }
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let mtu = try await device.mtu
                #expect(mtu == 517)
            }
        }
    }

    @Test func serverRefusalThrowsTypedATTError() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            try await hosts.central.withConnection(to: try await hosts.find()) { device in
                let temperature = try await hosts.characteristic(0x2a6e, of: device)
                let refusal = ATTErrorResponse(.writeRequest, temperature.valueHandle, .writeNotPermitted)
                let met = await failure { () throws(BLEError) in
                    try await device.write([1], to: temperature.valueHandle)
                }
                #expect(met == .att(refusal))
                #expect(try await device.read(temperature.valueHandle) == [0xb2, 0x08])
            }
        }
    }

    @Test func lostPeerEndsStreamsAndRequests() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let device = try await hosts.central.connect(to: try await hosts.find())
            let temperature = try await hosts.characteristic(0x2a6e, of: device)
            let values = try await device.values(of: temperature)
            // The simulated air closes: both hosts lose their radios, and the server does not end the link.
            await hosts.air.close()
            let ended = await failure { () throws(BLEError) in
                for try await _ in values {}
            }
            #expect(ended != nil)
            let refused = await failure { () throws(BLEError) in
                _ = try await device.read(temperature.valueHandle)
            }
            #expect(refused != nil)
        }
    }

    @Test func cancelledScanStopsRadio() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let scan = hosts.bed.task { try await hosts.central.first(within: nil) { $0.name == "absent" } }
            await hosts.bed.wait(.seconds(1))
            var isInUse = await hosts.bed.isRadioInUse(by: hosts.client)
            #expect(isInUse)
            scan.cancel()
            await #expect(throws: BLEError.cancelled) { try await scan.value }
            await hosts.bed.wait(.seconds(1))
            isInUse = await hosts.bed.isRadioInUse(by: hosts.client)
            #expect(!isInUse)
            #expect(try await hosts.find() == (await hosts.server.address))
        }
    }
}
