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
                #expect(try await device.read(device.sample()) == [1])
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
