import ATT
import BLE
import BLECore
import GATTServer
import HCI
import Testing

/// The subscribers of a value, and the room for values on their links.
@Suite(.timeLimit(.minutes(10))) struct SubscriberTests {
    @Test func fullLinkRefusesUpdateUntilReady() async throws {
        try await VirtualTestbed.run { bed in
            let port = StallingPort(await bed.port())
            let server = try await bed.host("server", on: port)
            let client = try await bed.host("client")
            try await server.serve([0])
            let manager = PeripheralManager(server)
            let device = try await client.connect(to: server)
            let sample = try await device.sample()
            let handle = sample.valueHandle
            #expect(await manager.subscribers(of: handle) == [])
            var values = try await device.values(of: sample).makeAsyncIterator()
            let subscribers = await manager.subscribers(of: handle)
            #expect(subscribers.map(\.maximumUpdateLength) == [512])
            #expect(subscribers.map(\.prefersIndications) == [false])
            #expect(subscribers.map(\.central.address) == [await client.address])

            port.stall()
            var sent: UInt8 = 0
            while sent < 100, try await manager.tryUpdate(handle, to: [sent]) { sent += 1 }
            // Four packets are on their way to the controller, and 64 are queued in the bearer.
            #expect(sent == 68)
            // The refused value is not stored either.
            let waiting = bed.task { try await manager.readyToUpdate(handle) }
            await bed.wait(.seconds(1))
            port.resume()
            try await waiting.value
            #expect(try await device.read(sample) == [67])
            let isSent = try await manager.tryUpdate(CharacteristicKey<UInt8>(sample.uuid), to: 0xff)
            #expect(isSent)
            for expected in Array(0..<68) + [0xff] {
                let value = try await values.next()
                #expect(value?.value == [UInt8(expected)])
            }
            let long = await failure { () throws(BLEError) in
                _ = try await manager.tryUpdate(handle, to: [UInt8](repeating: 0, count: 515))
            }
            #expect(long == .limit(.notification(await client.address), maximum: 514, value: 515))
        }
    }

    @Test("a central whose link ends is reported as unsubscribed before it is reported as disconnected")
    func endOfLinkEndsSubscriptions() async throws {
        try await LinkedHosts.run { hosts in
            let sample = try await hosts.device.sample()
            let stream = try await hosts.device.values(of: sample)
            var events = PeripheralManager(hosts.server).events().makeAsyncIterator()
            await hosts.device.disconnect()
            let handle = sample.valueHandle
            var reported: [PeripheralEvent] = []
            while let event = try await events.next() {
                reported.append(event)
                if case .disconnected = event { break }
            }
            #expect(
                reported.filter { if case .unsubscribed = $0 { true } else { false } }
                    == [.unsubscribed(hosts.central, handle, Sample.value)])
            #expect(
                reported.last
                    == .disconnected(hosts.central, .status(.remoteUserTerminatedConnection), error: nil))
            withExtendedLifetime(stream) {}
        }
    }

    @Test func confirmationMakesRoomForNextIndication() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            let manager = PeripheralManager(server)
            try await server.serveIndications()
            let device = try await client.connect(to: server)
            let sample = try await device.sample()
            var values = try await device.values(of: sample, indications: true).makeAsyncIterator()
            var sent: UInt8 = 0
            while sent < 100, try await manager.tryUpdate(sample.valueHandle, to: [sent]) { sent += 1 }
            #expect(sent > 1 && sent < 100)
            try await manager.readyToUpdate(sample.valueHandle)
            let isSent = try await manager.tryUpdate(sample.valueHandle, to: [0xff])
            #expect(isSent)
            for expected in Array(0..<sent) + [0xff] {
                let value = try await values.next()
                #expect(value?.value == [expected])
            }
        }
    }

    @Test func updateWaitsForRoomForIndication() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serveIndications()
            let manager = PeripheralManager(server)
            let device = try await bed.host("client").connect(to: server)
            let sample = try await device.sample()
            var values = try await device.values(of: sample, indications: true).makeAsyncIterator()
            var sent: UInt8 = 0
            while sent < 100, try await manager.tryUpdate(sample.valueHandle, to: [sent]) { sent += 1 }
            let reached = try await manager.update(sample.valueHandle, to: [0xff])
            #expect(reached.count == 1)
            for expected in Array(0..<sent) + [0xff] {
                let value = try await values.next()
                #expect(value?.value == [expected])
            }
        }
    }

    /// A central that does not confirm loses its bearer after 30 s, and the update does not fail for the others.
    @Test func unconfirmedIndicationDoesNotFailOthers() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serveIndications(maximumLinks: 2)
            let manager = PeripheralManager(server)
            let events = manager.events()
            let port = AlteringPort(await bed.port(), on: bed.loop)
            let unreceptive = try await bed.host("unreceptive", on: port).connect(to: server)
            let client = try await bed.host("client")
            let device = try await client.connect(to: server)
            let sample = try await device.sample()
            let lost = try await unreceptive.values(of: try await unreceptive.sample(), indications: true)
            var values = try await device.values(of: sample, indications: true).makeAsyncIterator()
            port.alter { $0 == [0x1e] ? [] : [$0] }
            let reached = try await manager.update(sample.valueHandle, to: [7])
            #expect(reached.map(\.address) == [await client.address])
            let again = try await manager.update(sample.valueHandle, to: [8])
            #expect(again.map(\.address) == [await client.address])
            try await manager.readyToUpdate(sample.valueHandle)
            for expected in [7, 8] as [UInt8] {
                let value = try await values.next()
                #expect(value?.value == [expected])
            }
            withExtendedLifetime(lost) {}
            // The event states why this host has ended the link.
            var causes: [BLEError?] = []
            while causes.isEmpty, let event = try await events.next(within: .seconds(60)) {
                if case .disconnected(_, _, let error) = event { causes.append(error) }
            }
            #expect(causes == [.timedOut(.response, after: .seconds(30))])
        }
    }

    @Test("an unconfirmed indication to one of three centrals does not delay or fail the others")
    func unconfirmedIndicationDoesNotDelayOthers() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serveIndications(maximumLinks: 3)
            let manager = PeripheralManager(server)
            let port = AlteringPort(await bed.port(), on: bed.loop)
            // The central that does not confirm connects first.
            let silent = try await bed.host("silent", on: port).connect(to: server)
            let hosts = [try await bed.host("one"), try await bed.host("two")]
            let devices = [
                try await hosts[0].connect(to: server), try await hosts[1].connect(to: server),
            ]
            let handle = try await silent.sample().valueHandle
            let lost = try await silent.indications()
            var one = try await devices[0].indications().makeAsyncIterator()
            var two = try await devices[1].indications().makeAsyncIterator()
            #expect(await manager.subscribers(of: handle).count == 3)
            port.alter { $0 == [0x1e] ? [] : [$0] }
            let began = bed.loop.now
            var updates: [Task<([DeviceAddress], Instant), any Error>] = []
            for number in [7, 8] as [UInt8] {
                updates.append(
                    bed.task {
                        let reached = try await manager.update(handle, to: [number])
                        return (reached.map(\.address), bed.loop.now)
                    })
                let first = try await one.next()
                let second = try await two.next()
                #expect(first?.value == [number])
                #expect(second?.value == [number])
            }
            // Both centrals have both values while the third one still has time to confirm the first value.
            #expect(began.duration(until: bed.loop.now) < .seconds(5))
            let addresses = [await hosts[0].address, await hosts[1].address]
            for update in updates {
                let (reached, ended) = try await update.value
                #expect(reached == addresses)
                #expect(began.duration(until: ended) >= .seconds(30))
                #expect(began.duration(until: ended) < .seconds(31))
            }
            #expect(await manager.subscribers(of: handle).map(\.central.address) == addresses)
            let again = bed.loop.now
            let reached = try await manager.update(handle, to: [9])
            #expect(reached.map(\.address) == addresses)
            #expect(again.duration(until: bed.loop.now) < .seconds(5))
            withExtendedLifetime(lost) {}
        }
    }

    @Test("a full link refuses an update for all subscribers, not one for another central alone")
    func fullLinkRefusesUpdateForAll() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serveIndications(maximumLinks: 2)
            let manager = PeripheralManager(server)
            let port = AlteringPort(await bed.port(), on: bed.loop)
            let hosts = [try await bed.host("silent", on: port), try await bed.host("other")]
            var devices: [Peripheral] = []
            for host in hosts { devices.append(try await host.connect(to: server)) }
            let handle = try await devices[0].sample().valueHandle
            let lost = try await devices[0].indications()
            var values = try await devices[1].indications().makeAsyncIterator()
            let centrals = await manager.subscribers(of: handle).map(\.central)
            #expect(centrals.map(\.address) == [await hosts[0].address, await hosts[1].address])
            port.alter { $0 == [0x1e] ? [] : [$0] }
            var sent: UInt8 = 0
            while sent < 100, try await manager.tryUpdate(handle, to: [sent], for: [centrals[0]]) {
                sent += 1
            }
            #expect(sent > 0 && sent < 100)

            // Neither central is sent the value that one has no room for, and it is not stored.
            var isSent = try await manager.tryUpdate(handle, to: [0xee])
            #expect(!isSent)
            #expect(try await devices[1].read(try await devices[1].sample()) == [sent - 1])
            isSent = try await manager.tryUpdate(handle, to: [0xff], for: [centrals[1]])
            #expect(isSent)
            let value = try await values.next()
            #expect(value?.value == [0xff])
            // A central that is no subscriber any more is sent nothing, which is no error.
            await devices[1].disconnect()
            await bed.wait(.seconds(1))
            isSent = try await manager.tryUpdate(handle, to: [1], for: [centrals[1]])
            #expect(isSent)
            withExtendedLifetime(lost) {}
        }
    }

    @Test("an update that the only subscriber does not confirm reaches no central and is no error")
    func unconfirmedOnlyIndicationReachesNoCentral() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serveIndications()
            let manager = PeripheralManager(server)
            let port = AlteringPort(await bed.port(), on: bed.loop)
            let device = try await bed.host("client", on: port).connect(to: server)
            let handle = try await device.sample().valueHandle
            let values = try await device.indications()
            port.alter { $0 == [0x1e] ? [] : [$0] }
            let began = bed.loop.now
            let reached = try await manager.update(handle, to: [7])
            #expect(reached.isEmpty)
            let ended = bed.loop.now
            #expect(began.duration(until: ended) >= .seconds(30))
            #expect(began.duration(until: ended) < .seconds(31))
            // Its bearer has ended, so the next update does not wait.
            let again = try await manager.update(handle, to: [8])
            #expect(again.isEmpty && bed.loop.now == ended)
            #expect(try await device.disconnection() == .status(.remoteUserTerminatedConnection))
            withExtendedLifetime(values) {}
        }
    }

    /// A value that is too long for a link is an error only when it reaches no link.
    @Test func tooLongUpdateReachesLinksWithLargerMTU() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serve([0], maximumLinks: 2)
            let manager = PeripheralManager(server)
            let (narrow, wide) = (try await bed.host("narrow"), try await bed.host("wide"))
            var options = ConnectionOptions()
            options.mtu = 23
            let first = try await narrow.connect(to: server, options: options)
            let second = try await wide.connect(to: server)
            let sample = try await second.sample()
            var short = try await first.values(of: first.sample()).makeAsyncIterator()
            var long = try await second.values(of: sample).makeAsyncIterator()
            let value = [UInt8](0..<30)
            let reached = try await manager.update(sample.valueHandle, to: value)
            #expect(reached.map(\.address) == [await wide.address])
            let received = try await long.next()
            #expect(received?.value == value)
            let narrowOnly = try #require(
                await manager.subscribers(of: sample.valueHandle).first { $0.maximumUpdateLength == 20 })
            let error = await failure { () throws(BLEError) in
                try await manager.update(sample.valueHandle, to: value, for: [narrowOnly.central])
            }
            guard case .limit(_, 20, 30)? = error else { return #expect(error == nil) }
            // No part of the value was sent to the narrow link.
            try await manager.update(sample.valueHandle, to: [1])
            let next = try await short.next()
            #expect(next?.value == [1])
        }
    }

    @Test(arguments: ConnectionLatency.allCases)
    func connectionLatencyIsRequested(_ wanted: ConnectionLatency) async throws {
        try await LinkedHosts.run { hosts in
            let manager = PeripheralManager(hosts.server)
            // The link has another latency before, so each request is a change.
            let before: ConnectionLatency = wanted == .medium ? .high : .medium
            try await manager.setDesiredConnectionLatency(before, for: hosts.central)
            let now = try await manager.setDesiredConnectionLatency(wanted, for: hosts.central)
            let timing = try #require(now.timing)
            let intervals: ClosedRange<Duration> =
                switch wanted {
                case .low: .milliseconds(15) ... .milliseconds(30)
                case .medium: .milliseconds(60) ... .milliseconds(90)
                case .high: .milliseconds(240) ... .milliseconds(300)
                }
            #expect(intervals.contains(timing.interval))
            #expect(timing.latency == (wanted == .high ? 2 : 0))
            if wanted == .high { #expect(timing.supervisionTimeout == .seconds(6)) }
            await hosts.bed.wait(.seconds(5))
            #expect(try await hosts.device.connection.parameters.timing == timing)
        }
    }

    @Test func resultBuilderBuildsServices() {
        let service = GATTService(.batteryService) {
            GATTCharacteristic(.batteryLevel, properties: .read)
            for number in [1, 2, 3] as [UInt16] {
                if number < 3 { GATTCharacteristic(BluetoothUUID(0xfff0 + number), properties: .read) }
            }
        }
        #expect(service.characteristics.map(\.uuid) == [0x2a19, 0xfff1, 0xfff2])
    }
}

extension Adapter {
    /// Publishes one value that is indicated, and advertises.
    fileprivate func serveIndications(maximumLinks: Int = 1) async throws {
        try await PeripheralManager(self).publish {
            GATTService(Sample.service) {
                GATTCharacteristic(Sample.value, properties: [.read, .indicate], value: .stored([0]))
            }
        }
        _ = try await advertise(maximumLinks: maximumLinks)
    }
}

extension Peripheral {
    /// Subscribes to the value of `serveIndications` by indications.
    fileprivate func indications() async throws -> BoundedStream<ReceivedValue> {
        try await values(of: try await sample(), indications: true)
    }
}
