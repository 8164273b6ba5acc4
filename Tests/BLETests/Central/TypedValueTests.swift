import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import Testing

/// Typed values of predefined services, exchanged between two hosts.
struct TypedValueTests {
    private static let information = DeviceInformation(
        manufacturer: "Acme", model: "T-1",
        plugAndPlay: PlugAndPlayID(vendorSource: 1, vendor: 0xffff, product: 1, version: 0x0100))

    private func run(_ body: @escaping @Sendable (TwoHosts, Peripheral) async throws -> Void) async throws {
        try await TwoHosts.run { hosts in
            let full = try #require(BatteryLevel(percent: 80))
            try await hosts.peripheral.publish([
                .battery(full), .deviceInformation(Self.information),
                GATTService(
                    .healthThermometerService,
                    characteristics: [GATTCharacteristic(.temperatureMeasurement, properties: .indicate)]),
            ])
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan))
            try await hosts.central.withConnection(to: hosts.server.address) { try await body(hosts, $0) }
        }
    }

    @Test func batteryLevelIsReadAndNotified() async throws {
        try await run { hosts, device in
            #expect(try await device.read(.batteryLevel).percent == 80)
            var levels = try await device.values(of: .batteryLevel).makeAsyncIterator()
            let less = try #require(BatteryLevel(percent: 79))
            try await hosts.peripheral.update(.batteryLevel, to: less)
            let next = try await levels.next()
            #expect(next == less)
            #expect(try await device.read(.batteryLevel) == less)
        }
    }

    @Test func temperatureMeasurementArrivesByIndication() async throws {
        try await run { hosts, device in
            let value = try #require(MedicalFloat(DecimalNumber(3660, exponent: -2), width: .four))
            let measured = TemperatureMeasurement(value, .celsius, site: .init(rawValue: 1))
            var values = try await device.values(of: .temperatureMeasurement).makeAsyncIterator()
            try await hosts.peripheral.update(.temperatureMeasurement, to: measured)
            let next = try await values.next()
            #expect(next == measured)
            // A malformed measurement ends the typed stream with an error that names the field.
            let found = await hosts.peripheral.valueHandle(of: .temperatureMeasurement)
            let handle = try #require(found)
            try await hosts.peripheral.update(handle, to: [0, 1])
            let end = await failure { () throws(BLEError) in _ = try await values.next() }
            guard case .peerMisbehaved(.malformedValue(let error))? = end else {
                Issue.record("\(String(describing: end))")
                return
            }
            #expect("\(error)".contains("Temperature Measurement: temperature at octet 1"))
        }
    }

    @Test func deviceInformationIsRead() async throws {
        try await run { _, device in
            let information = try await device.deviceInformation()
            #expect(information == Self.information)
            let missing = await failure { () throws(BLEError) in
                _ = try await device.read(.heartRateMeasurement)
            }
            #expect(
                missing
                    == .notFound(.characteristicOfService(0x2a37, service: 0x180d, of: device.address)))
        }
    }

    @Test func uartSendsInBothDirections() async throws {
        try await TwoHosts.run { hosts in
            let uart = try await hosts.peripheral.serveUART()
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan))
            try await hosts.central.withConnection(to: hosts.server.address) { device in
                var answers = try await device.values(of: .nordicUARTTransmit).makeAsyncIterator()
                try await device.write(Array("hello".utf8), to: .nordicUARTReceive, type: .withoutResponse)
                var lines = uart.received.makeAsyncIterator()
                let next = try await lines.next()
                let line = try #require(next)
                #expect(line.octets == Array("hello".utf8))
                let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
                let isSent = try await uart.send(long, to: line.central)
                #expect(isSent)
                let first = try await answers.next()
                let second = try await answers.next()
                #expect(first?.count == 512)
                #expect((first ?? []) + (second ?? []) == long)
            }
        }
    }

    @Test func uartSendsNothingToDisconnectedCentral() async throws {
        try await TwoHosts.run { hosts in
            let uart = try await hosts.peripheral.serveUART()
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan))
            var events = hosts.peripheral.events().makeAsyncIterator()
            try await hosts.central.withConnection(to: hosts.server.address) { _ in }
            var gone: Central?
            while gone == nil, let event = try await events.next() {
                if case .disconnected(let central, _, _) = event { gone = central }
            }
            let central = try #require(gone)
            #expect(try await !uart.send([1], to: central))
            // A closed adapter is an error.
            await hosts.server.close()
            let failure = await failure { () throws(BLEError) in _ = try await uart.send([1], to: central) }
            #expect(failure == .adapter(.closed))
        }
    }

    @Test func rssiIsSmoothed() {
        var smoother = RSSISmoother(weight: 0.5, outlier: 10)
        #expect(smoother.add(nil) == nil)
        #expect(smoother.add(127) == nil)
        #expect(smoother.add(-60) == -60)
        #expect(smoother.add(-64) == -62)
        // A single outlier is ignored. A second one on the same side is used.
        #expect(smoother.add(-90) == -62)
        #expect(smoother.add(-40) == -62)
        #expect(smoother.add(-42) == -52)
        #expect(smoother.add(127) == -52)
        #expect(RSSISmoother(weight: 7).weight == 1)
        #expect(RSSISmoother(weight: .nan).weight == 0.01)
    }
}
