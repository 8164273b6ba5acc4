import BLECore
import GATTServer
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Data that were accepted for a link are sent before it is disconnected, at the data rate of a real link.
struct UnsentDataTests {
    /// A central, and a server with one characteristic whose written values are recorded.
    private struct Hosts: Sendable {
        let bed: VirtualTestbed
        let central: CentralManager
        let server: Adapter
        /// The port between the server and its controller.
        let port: ControlledPort
        let written = Lock<[UInt8]>([])
        let options: ConnectionOptions

        func connect() async throws -> Peripheral {
            try await central.connect(to: await server.address, options: options)
        }
    }

    private static let uuid: BluetoothUUID = 0xfff1
    private static let peer = DeviceAddress(0xc0de_0000_0001, type: .random)
    private static let parts = (0..<200).map { [UInt8](repeating: $0, count: 20) }

    /// Runs `body` on links that send at most three packets in each connection interval of 30 ms.
    private func run(_ body: @escaping @Sendable (Hosts) async throws -> Void) async throws {
        try await VirtualTestbed.run(conditions: .init(packetsPerConnectionEvent: 3)) { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            var options = ConnectionOptions()
            options.parameters = .init(interval: .milliseconds(30) ... .milliseconds(30))
            let hosts = Hosts(
                bed: bed, central: CentralManager(try await bed.host("client")),
                server: try await bed.host("server", on: port), port: port, options: options)
            try await PeripheralManager(hosts.server).publish([
                GATTService(
                    0xfff0,
                    characteristics: [
                        GATTCharacteristic(
                            Self.uuid, properties: [.writeWithoutResponse, .notify],
                            onWrite: { request in
                                hosts.written.withLock { $0 += request.value }
                                return .accept
                            })
                    ])
            ])
            _ = try await hosts.server.advertise()
            try await body(hosts)
        }
    }

    @Test func disconnectWaitsForWrites() async throws {
        try await run { hosts in
            let device = try await hosts.connect()
            let sink = try #require(try await device.discover().characteristics(Self.uuid).first)
            for part in Self.parts { try await device.writeWithoutResponse(part, to: sink) }
            await device.disconnect()
            await hosts.bed.wait(.seconds(1))
            #expect(hosts.written.withLock { $0 } == Self.parts.flatMap(\.self))
        }
    }

    @Test func endOfWithConnectionWaitsForWrites() async throws {
        try await run { hosts in
            try await hosts.central.withConnection(
                to: await hosts.server.address, options: hosts.options
            ) { device in
                let sink = try #require(try await device.discover().characteristics(Self.uuid).first)
                for part in Self.parts { try await device.writeWithoutResponse(part, to: sink) }
            }
            await hosts.bed.wait(.seconds(1))
            #expect(hosts.written.withLock { $0 } == Self.parts.flatMap(\.self))
        }
    }

    @Test("a step of a chain ends when its writes have been sent")
    func chainStepWaitsForWrites() async throws {
        try await run { hosts in
            try await hosts.central.chain().use { (device) throws(BLEError) in
                let sink = try await device.discover().characteristics(Self.uuid).first
                guard let sink else { throw .notFound(.device(within: nil)) }
                for part in Self.parts { try await device.writeWithoutResponse(part, to: sink) }
            }
            await hosts.bed.wait(.seconds(1))
            #expect(hosts.written.withLock { $0 } == Self.parts.flatMap(\.self))
            let error = await #expect(throws: ChainError.self) {
                try await hosts.central.chain().use { (device) throws(BLEError) in
                    let sink = try await device.discover().characteristics(Self.uuid).first
                    guard let sink else { throw .notFound(.device(within: nil)) }
                    hosts.port.close()
                    for part in Self.parts.prefix(20) {
                        try await device.writeWithoutResponse(part, to: sink)
                    }
                }
            }
            #expect(error?.step == .use && error?.error == .unsent(20))
        }
    }

    @Test func serverDisconnectWaitsForNotifications() async throws {
        try await run { hosts in
            let server = PeripheralManager(hosts.server)
            var events = server.events().makeAsyncIterator()
            await hosts.bed.wait(.milliseconds(1))
            let device = try await hosts.connect()
            guard case .connected(let central, _)? = try await events.next() else {
                throw BLEError.notFound(.device(within: nil))
            }
            let source = try #require(try await device.discover().characteristics(Self.uuid).first)
            let values = try await device.values(of: source)
            for part in Self.parts { try await server.update(source.valueHandle, to: part) }
            await server.disconnect(central)
            var seen: [[UInt8]] = []
            do { for try await value in values { seen.append(value.value) } } catch BLEError.disconnected {}
            #expect(seen == Self.parts)
        }
    }

    @Test func unsentPacketsAreReported() async throws {
        try await run { hosts in
            let device = try await hosts.connect()
            let sink = try #require(try await device.discover().characteristics(Self.uuid).first)
            // The peer disappears without ending the link, which lasts until the supervision timeout, 4 s.
            hosts.port.close()
            for part in Self.parts.prefix(20) { try await device.writeWithoutResponse(part, to: sink) }
            let before = hosts.bed.loop.now
            let error = await failure { () throws(BLEError) in try await device.waitUntilSent() }
            #expect(error == .unsent(20))
            #expect(hosts.bed.loop.now == before + .seconds(2))
            // After the link's end a call throws the same.
            _ = try await device.disconnection()
            #expect(await failure { () throws(BLEError) in try await device.waitUntilSent() } == .unsent(20))
        }
    }

    @Test func otherUsersTrafficDoesNotDelayWait() async throws {
        try await run { hosts in
            let device = try await hosts.connect()
            let sink = try #require(try await device.discover().characteristics(Self.uuid).first)
            let traffic = Task(executorPreference: hosts.bed.loop) {
                while true { try await device.writeWithoutResponse(Self.parts[0], to: sink) }
            }
            await hosts.bed.wait(.seconds(1))
            try await device.waitUntilSent()
            traffic.cancel()
            _ = await traffic.result
        }
    }

    @Test func socketIsWatchedWhileTaskWaits() async throws {
        try await KernelHost.run { host in
            let socket = KernelSocket(on: host.loop)
            let id = await host.link(to: Self.peer, over: socket)
            socket.keep(3)
            let waiting = Task(executorPreference: host.loop) { try await host.adapter.untilSent(on: id) }
            await host.wait(.milliseconds(1))
            #expect(socket.isWatched)
            waiting.cancel()
            _ = await waiting.result
            socket.keep(2)
            await host.wait(.milliseconds(1))
            #expect(!socket.isWatched)
        }
    }

    @Test func kernelSocketClosesAfterItsPackets() async throws {
        try await KernelHost.run { host in
            let socket = KernelSocket(on: host.loop)
            let id = await host.link(to: Self.peer, over: socket)
            socket.keep(3)
            let ending = Task(executorPreference: host.loop) { await host.adapter.endLink(id) }
            for left in [2, 1] {
                _ = await host.loop.sleep(for: .milliseconds(1_900))
                #expect(await host.adapter.linkCount == 1)
                socket.keep(left)
            }
            _ = await host.loop.sleep(for: .milliseconds(1_900))
            let before = host.loop.now
            socket.keep(0)
            await ending.value
            #expect(host.loop.now == before)
            #expect(await host.adapter.linkCount == 0)
            #expect(!socket.isWatched)
        }
    }

    /// A kernel reports sent packets only while less than half of its send buffer is in use.
    @Test func unreportedKernelPacketsCountAsSent() async throws {
        try await KernelHost.run { host in
            let socket = KernelSocket(on: host.loop)
            let id = await host.link(to: Self.peer, over: socket)
            let before = host.loop.now
            socket.keepSilently(9)
            let ending = Task(executorPreference: host.loop) { await host.adapter.endLink(id) }
            for left in (4...8).reversed() {
                _ = await host.loop.sleep(for: .milliseconds(1_990))
                socket.keepSilently(left)
            }
            await ending.value
            // The longest wait of a disconnection.
            #expect(host.loop.now == before + .seconds(10))
        }
    }

    @Test func endingLinkRefusesRequests() async throws {
        try await run { hosts in
            let device = try await hosts.connect()
            let sink = try #require(try await device.discover().characteristics(Self.uuid).first)
            for part in Self.parts.prefix(20) { try await device.writeWithoutResponse(part, to: sink) }
            let disconnecting = Task(executorPreference: hosts.bed.loop) { await device.disconnect() }
            await hosts.bed.wait(.milliseconds(60))
            let error = await failure { () throws(BLEError) in
                try await device.writeWithoutResponse([0xff], to: sink)
            }
            #expect(error == .disconnected(.status(.connectionTerminatedByLocalHost)))
            let begun = hosts.bed.loop.now
            let asked = await failure { () throws(BLEError) in _ = try await device.discover(refreshing: true)
            }
            #expect(asked == error && hosts.bed.loop.now == begun)
            await disconnecting.value
            #expect(hosts.written.withLock { $0 } == Self.parts.prefix(20).flatMap(\.self))
        }
    }

    @Test func sentDataIsNoErrorAfterLinkEnds() async throws {
        try await run { hosts in
            let device = try await hosts.connect()
            let sink = try #require(try await device.discover().characteristics(Self.uuid).first)
            try await device.writeWithoutResponse([1], to: sink)
            try await device.waitUntilSent()
            #expect(hosts.written.withLock { $0 } == [1])
            hosts.port.close()
            _ = try await device.disconnection()
            try await device.waitUntilSent()
        }
    }
}
