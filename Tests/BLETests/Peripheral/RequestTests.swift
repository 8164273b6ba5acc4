import ATT
import BLE
import BLECore
import GATTServer
import HCISocket
import Testing

/// The information in a request about the client that sent it.
struct RequestTests {
    @Test func requestNamesCentralAndMTU() async throws {
        try await VirtualTestbed.run { bed in
            let (server, client) = (try await bed.host("server"), try await bed.host("client"))
            let manager = PeripheralManager(server)
            let reads = Lock<[GATTReadRequest]>([])
            let writes = Lock<[GATTWriteRequest]>([])
            try await manager.publish([
                GATTService(0xfff0) {
                    GATTCharacteristic(
                        0xfff1, properties: [.read, .write, .writeWithoutResponse],
                        onRead: { request in
                            reads.withLock { $0.append(request) }
                            return .value([1])
                        },
                        onWrite: { request in
                            writes.withLock { $0.append(request) }
                            return .accept
                        })
                }
            ])
            _ = try await server.advertise()
            var options = ConnectionOptions()
            options.mtu = ATTMTU(100)
            let device = try await client.connect(to: server, options: options)
            let sample = try await device.sample()
            _ = try await device.read(sample)
            try await device.write([2], to: sample)
            try await device.writeWithoutResponse([3], to: sample)
            await bed.wait(.seconds(1))
            let mtus = reads.withLock { $0.map(\.mtu) } + writes.withLock { $0.map(\.mtu) }
            #expect(mtus == Array(repeating: ATTMTU(100), count: 3))
            let central = try #require(reads.withLock { $0.first?.central })
            #expect(central.address == (await client.address))
            #expect(writes.withLock { $0.map(\.central) } == [central, central])
            // The central of a request identifies its link.
            #expect(try await manager.connection(of: central).parameters.mtu == 100)
            await device.disconnect()
        }
    }
}
