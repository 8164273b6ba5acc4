import BLE
import BLECore
import GATTClient
import HCI
import HCISocket
import Testing
import VirtualController

/// Thirty-two simultaneous links of one host, as central, as peripheral, and in both roles.
struct ManyLinksTests {
    private static let count = 32

    @Test func centralWithThirtyTwoPeripherals() async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client") { $0.acceptListSize = 32 }
            var servers: [Adapter] = []
            for number in 0..<Self.count {
                servers.append(try await bed.host("server \(number)"))
                try await servers[number].serve([UInt8(number)])
            }
            let connecting = servers.map { server in bed.task { try await client.connect(to: server) } }
            var devices: [Peripheral] = []
            for task in connecting { devices.append(try await task.value) }
            try await Self.talk(bed, devices, servers)
        }
    }

    @Test func peripheralWithThirtyTwoCentrals() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            try await server.serve([7], maximumLinks: Self.count)
            var devices: [Peripheral] = []
            for number in 0..<Self.count {
                let client = try await bed.host("client \(number)")
                devices.append(try await client.connect(to: server))
            }
            try await Self.listen(bed, devices, server)
        }
    }

    @Test func sixteenPeripheralsAndSixteenCentrals() async throws {
        try await VirtualTestbed.run { bed in
            let middle = try await bed.host("middle", extended: true)
            try await middle.serve([7], maximumLinks: 16)
            var servers: [Adapter] = []
            var upwards: [Peripheral] = []
            for number in 0..<16 {
                let client = try await bed.host("client \(number)", extended: number % 2 == 0)
                upwards.append(try await client.connect(to: middle))
                servers.append(try await bed.host("server \(number)", extended: number % 2 == 0))
                try await servers[number].serve([UInt8(number)])
            }
            let connecting = servers.map { server in bed.task { try await middle.connect(to: server) } }
            var downwards: [Peripheral] = []
            for task in connecting { downwards.append(try await task.value) }
            async let talking: Void = Self.talk(bed, downwards, servers)
            async let listening: Void = Self.listen(bed, upwards, middle)
            _ = try await (talking, listening)
        }
    }

    /// Checks that one central reads from all peripherals and receives their notifications, at the same time.
    private static func talk(_ bed: VirtualTestbed, _ devices: [Peripheral], _ servers: [Adapter])
        async throws
    {
        let exchanges = devices.enumerated().map { number, device in
            bed.task {
                let value = try await device.sample()
                #expect(try await device.read(value) == [UInt8(number)])
                let values = try await device.values(of: value)
                let manager = PeripheralManager(servers[number])
                for round in 1...5 {
                    try await manager.update(value.valueHandle, to: [UInt8(number), UInt8(round)])
                }
                var yielded: [[UInt8]] = []
                for try await received in values {
                    yielded.append(received.value)
                    if yielded.count == 5 { break }
                }
                #expect(yielded == (1...5).map { [UInt8(number), UInt8($0)] })
                #expect(try await device.read(value) == [UInt8(number), 5])
            }
        }
        for exchange in exchanges { try await exchange.value }
        #expect(Set(devices.map(\.address)).count == devices.count)
        for device in devices { await device.disconnect() }
    }

    /// Checks that all centrals read from one peripheral and receive its notifications.
    private static func listen(_ bed: VirtualTestbed, _ devices: [Peripheral], _ server: Adapter) async throws
    {
        let handle = try #require(await PeripheralManager(server).valueHandle(of: Sample.value))
        let listening = devices.map { device in
            bed.task {
                let value = try await device.sample()
                #expect(try await device.read(value) == [7])
                return try await device.values(of: value)
            }
        }
        var streams: [BoundedStream<ReceivedValue>] = []
        for task in listening { streams.append(try await task.value) }
        for round in 1...5 {
            let reached = try await PeripheralManager(server).update(handle, to: [UInt8(round)])
            #expect(reached.count == devices.count)
        }
        for stream in streams {
            var yielded: [[UInt8]] = []
            for try await received in stream {
                yielded.append(received.value)
                if yielded.count == 5 { break }
            }
            #expect(yielded == [[1], [2], [3], [4], [5]])
        }
        for device in devices { await device.disconnect() }
    }
}
