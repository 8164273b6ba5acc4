import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// Links that are re-established after each disconnect.
struct MaintainTests {
    @Test func pausesGrowToMaximum() {
        let backoff = Backoff(first: .seconds(1), factor: 3, longest: .seconds(20))
        #expect((0...5).map { backoff.pause(after: $0) } == [0, 1, 3, 9, 20, 20].map { .seconds($0) })
        #expect(Backoff(first: .seconds(9), longest: .seconds(2)).pause(after: 1) == .seconds(2))
        #expect(Backoff(factor: 0).pause(after: .max) == .milliseconds(500))
        #expect(Backoff().pause(after: .max) == .seconds(30))
    }

    @Test func droppingDeviceReconnectsWithGrowingPauses() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            try await server.serve()
            let manager = PeripheralManager(server)
            let events = manager.events()
            // Disconnects each link after one second, and the fourth after 60 s.
            let dropping = bed.task {
                var count = 0
                for try await event in events {
                    guard case .connected(let central, _) = event else { continue }
                    count += 1
                    await bed.wait(count == 4 ? .seconds(60) : .seconds(1))
                    await manager.disconnect(central, reason: .lowResources)
                }
            }
            let reported = Lock<[MaintenanceEvent]>([])
            let central = CentralManager(client)
            let id = await central.identifier(of: server.address)
            var sessions = 0
            for try await device in central.maintain(
                id, report: { event in reported.withLock { $0.append(event) } })
            {
                sessions += 1
                #expect(await device.id == id)
                // A discovery is no use of the device.
                _ = try await device.sample()
                if sessions == 5 { break }
            }
            // Leaving the loop ends the link.
            await bed.wait(.seconds(1))
            #expect(await central.state(of: id) == .disconnected)
            let reason = DisconnectReason.status(.remoteDeviceTerminatedLowResources)
            #expect(
                reported.withLock { $0 } == [
                    .connected(session: 1, .none),
                    .disconnected(session: 1, reason, pause: .milliseconds(500)),
                    .connected(session: 2, .none), .disconnected(session: 2, reason, pause: .seconds(1)),
                    .connected(session: 3, .none), .disconnected(session: 3, reason, pause: .seconds(2)),
                    .connected(session: 4, .none), .disconnected(session: 4, reason, pause: .zero),
                    .connected(session: 5, .none),
                ])
            dropping.cancel()
        }
    }

    @Test(
        "a short link on which the device was of use is no failure, but 500 ms are between two attempts",
        arguments: [Duration.seconds(1), .zero])
    func usefulLinkIsNoFailure(_ rest: Duration) async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            try await server.serve()
            let manager = PeripheralManager(server)
            let handle = try #require(await manager.valueHandle(of: Sample.value))
            let events = manager.events()
            let dropping = bed.task {
                for try await case .read(let central, _, _, _) in events {
                    await bed.wait(rest)
                    await manager.disconnect(central)
                }
            }
            let pauses = Lock<[Duration]>([])
            let central = CentralManager(client)
            let links = central.maintain(await central.identifier(of: server.address)) { event in
                if case .disconnected(_, _, let pause) = event { pauses.withLock { $0.append(pause) } }
            }
            var sessions = 0
            for try await device in links {
                sessions += 1
                if sessions == 5 { break }
                #expect(try await device.read(handle) == [1])
            }
            let all = pauses.withLock { $0 }
            #expect(all.count == 4)
            #expect(
                all.allSatisfy { rest == .zero ? $0 > .zero && $0 <= .milliseconds(500) : $0 == .zero },
                "\(all)")
            dropping.cancel()
        }
    }

    @Test("a device that is known by its name is looked for anew before each link")
    func deviceIsFoundUnderNextAddress() async throws {
        try await VirtualTestbed.run { bed in
            let (first, second) = (try await bed.host("first"), try await bed.host("second"))
            let central = CentralManager(try await bed.host("client"))
            try await first.serve()
            let reported = Lock<[MaintenanceEvent]>([])
            var addresses: [DeviceAddress] = []
            let links = central.maintain(matching: .named("peer")) { event in
                reported.withLock { $0.append(event) }
            }
            for try await device in links {
                addresses.append(device.address)
                if addresses.count == 2 { break }
                #expect(try await device.read(device.sample()) == [1])
                await first.close()
                try await second.serve()
            }
            #expect(addresses == [await first.address, await second.address])
            let found = reported.withLock { $0 }.compactMap { event -> DeviceAddress? in
                if case .found(let id) = event { id.address } else { nil }
            }
            #expect(found == addresses)
        }
    }

    @Test("a device that has left its address before it was connected is looked for again")
    func addressThatIsGoneIsLeft() async throws {
        try await VirtualTestbed.run { bed in
            let (first, second) = (try await bed.host("first"), try await bed.host("second"))
            let central = CentralManager(try await bed.host("client"))
            let advertising = try await first.serve()
            let reported = Lock<[MaintenanceEvent]>([])
            let links = central.maintain(matching: .named("peer")) { event in
                reported.withLock { $0.append(event) }
                guard case .found(let id) = event else { return }
                bed.loop.execute {
                    _ = bed.task {
                        guard await first.address == id.address else { return }
                        await advertising.stop()
                        try await second.serve()
                    }
                }
            }
            let began = bed.loop.now
            for try await device in links {
                #expect(device.address == (await second.address))
                break
            }
            let late = BLEError.timedOut(.connecting, after: .seconds(5))
            #expect(reported.withLock { $0 }.contains(.failed(late, pause: .milliseconds(500))))
            #expect(began.duration(until: bed.loop.now) < .seconds(8))
        }
    }

    @Test("a released device can be disconnected by its identifier, for all its users")
    func disconnectEndsLinkOfAllUsers() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            try await server.serve()
            let central = CentralManager(client)
            _ = try await client.connect(to: server)
            let user = try await client.connect(to: server)
            let id = await user.id
            #expect(await central.state(of: id) == .connected)
            await central.disconnect(id)
            #expect(await central.state(of: id) == .disconnected)
            #expect(try await user.disconnection() == .status(.connectionTerminatedByLocalHost))
            await central.disconnect(id)
        }
    }

    @Test func maintainWaitsForAbsentDeviceUntilCancelled() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let id = await central.identifier(of: server.address)
            let maintaining = bed.task {
                var lasted = 0
                for try await _ in central.maintain(id) { lasted += 1 }
                return lasted
            }
            await bed.wait(.seconds(3600))
            #expect(await central.state(of: id) == .connecting)
            try await server.serve()
            await bed.wait(.seconds(5))
            // The body of the loop has returned. The link is kept until it ends.
            #expect(await central.state(of: id) == .connected)
            maintaining.cancel()
            let result = await maintaining.result
            #expect(throws: BLEError.cancelled) { try result.get() }
            #expect(await central.state(of: id) == .disconnected)
        }
    }

    @Test func closedAdapterEndsMaintain() async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let absent = Peripheral.Identifier(DeviceAddress(0xc0ff_ee00_0001, type: .random))
            let maintaining = bed.task {
                await failure { () throws(BLEError) in
                    for try await _ in central.maintain(absent) {}
                }
            }
            await bed.wait(.seconds(10))
            await client.close()
            let end = try await maintaining.value
            #expect(end == .adapter(.closed))
        }
    }
}
