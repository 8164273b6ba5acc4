import BLE
import BLECore
import HCISocket
import SystemPackage
import Testing

/// Known devices and the states of their connections.
struct KnownPeripheralTests {
    @Test func peripheralPassesThroughStates() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            let central = CentralManager(client)
            let id = await central.identifier(of: server.address)
            #expect(await central.state(of: id) == .disconnected)
            let waiting = bed.task { try await central.connect(to: id, timeout: nil) }
            await bed.wait(.seconds(1))
            #expect(await central.state(of: id) == .connecting)
            try await server.serve()
            let device = try await waiting.value
            #expect(await central.state(of: id) == .connected)
            #expect(await device.state == .connected)
            #expect(await device.id == id)
            let leaving = bed.task { await device.disconnect() }
            while await central.state(of: id) == .connected { await Task.yield() }
            #expect(await central.state(of: id) == .disconnecting)
            // A `Peripheral` that has disconnected has no link, although the link has not ended yet.
            #expect(await device.state == .disconnected)
            try await leaving.value
            #expect(await central.state(of: id) == .disconnected)
        }
    }

    @Test func sharedLinkEndsWithLastUser() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            try await server.serve()
            // Two managers of one process.
            let id = await CentralManager(client).identifier(of: server.address)
            let first = try await CentralManager(client).connect(to: id)
            let second = try await CentralManager(client).connect(to: id)
            await first.disconnect()
            #expect(await first.state == .disconnected)
            #expect(await second.state == .connected)
            #expect(try await second.read(second.sample()) == [1])
            await second.disconnect()
            #expect(await CentralManager(client).state(of: id) == .disconnected)
        }
    }

    @Test func lastingOrRequestedPeripheralsAreRetrieved() async throws {
        try await VirtualTestbed.run { bed in
            let central = CentralManager(try await bed.host("client"))
            let ids = [0x4011_2233_4455, 0xc011_2233_4455, 0x0011_2233_4455].map {
                Peripheral.Identifier(DeviceAddress($0, type: .random))
            }
            #expect(await central.retrievePeripherals(withIdentifiers: ids).map(\.id) == [ids[1]])
            let waiting = bed.task { try await central.connect(to: ids[0], timeout: nil) }
            await bed.wait(.seconds(1))
            let known = await central.retrievePeripherals(withIdentifiers: ids)
            #expect(known.map(\.id) == [ids[0], ids[1]])
            #expect(known.map(\.state) == [.connecting, .disconnected])
            #expect(known.map(\.linkOwner) == [nil, nil])
            waiting.cancel()
            _ = await waiting.result
            #expect(await central.state(of: ids[0]) == .disconnected)
        }
    }

    @Test func connectedPeripheralsAreRetrievedByService() async throws {
        try await VirtualTestbed.run { bed in
            let (one, other) = (try await bed.host("one"), try await bed.host("other"))
            let client = try await bed.host("client")
            try await one.serve()
            _ = try await other.advertise()
            let central = CentralManager(client)
            #expect(try await central.retrieveConnectedPeripherals() == [])
            _ = try await client.connect(to: one)
            _ = try await client.connect(to: other)
            let ids = [
                await central.identifier(of: one.address), await central.identifier(of: other.address),
            ]
            #expect(try await central.retrieveConnectedPeripherals().map(\.id) == ids)
            let serving = try await central.retrieveConnectedPeripherals(withServices: [
                0x1234, Sample.service,
            ])
            #expect(serving.map(\.id) == [ids[0]])
            #expect(serving.map(\.linkOwner) == [.thisProcess])
            #expect(try await central.retrieveConnectedPeripherals(withServices: [0x1234]) == [])
        }
    }

    @Test func bondedPeerIsRetrievedByIdentity() async throws {
        try await PairedHosts.run { hosts in
            let central = CentralManager(hosts.client)
            let device = try await hosts.connect()
            try await device.pair()
            let id = await device.id
            await device.disconnect()
            let known = await central.retrievePeripherals(withIdentifiers: [id])
            #expect(known.map(\.isBonded) == [true])
            #expect(known.map(\.state) == [.disconnected])
        }
    }

    @Test("links of other programs on a kernel adapter are listed with their owner")
    func foreignLinksAreListed() async throws {
        let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
        try await KernelHost.run { host in
            host.kernel.othersLinks = [lamp]
            let known = try await host.central.retrieveConnectedPeripherals(withServices: [0x180f])
            #expect(known.map(\.id) == [Peripheral.Identifier(lamp)])
            #expect(known.map(\.linkOwner) == [.otherProcess])
            #expect(known.map(\.state) == [.disconnected])
        }
    }
}
