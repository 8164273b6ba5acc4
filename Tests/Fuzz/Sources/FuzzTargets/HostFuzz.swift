import ATT
import BLE
import BLEAdvertising
import BLECore
import Dispatch
import GATTClient
import GATTServer
import HCI
import HCISocket
import VirtualController

/// A complete host beside another one on an air in virtual time. Its users perform any operation, and its
/// controller sends any packets and loses others. There is no trap, and all calls end after the host has been
/// closed and they have been cancelled.
///
/// The input is operations of one octet, some with arguments.
public func fuzzHost(_ bytes: Span<UInt8>) {
    let input = [UInt8](copying: bytes)
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await VirtualTestbed.run { bed in
                try await PlayedHost(bed).play(input)
            }
        } catch {
            fatalError("\(error)")
        }
        ended.signal()
    }
    ended.wait()
}

/// A host's port to a controller that sends additional packets and loses others.
private final class FuzzedPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let inner: any PacketPort
    private var handlers: PacketPortHandlers?
    /// The number of the next packets to the host that are lost.
    var losses = 0

    init(_ inner: any PacketPort) { self.inner = inner }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        try inner.start(
            PacketPortHandlers(
                receive: { [weak self] packet in self?.deliver(packet) }, writable: handlers.writable,
                closed: handlers.closed))
    }

    private func deliver(_ packet: Span<UInt8>) {
        if losses > 0 { losses -= 1 } else { handlers?.receive(packet) }
    }

    func emit(_ packet: [UInt8]) { handlers?.receive(packet.span) }
    func send(_ packet: Span<UInt8>) { inner.send(packet) }

    func close() {
        handlers = nil
        inner.close()
    }
}

private final class PlayedHost: @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let bed: VirtualTestbed
    private var tasks: [Task<Void, Never>] = []
    private var running = 0
    private var advertisements: [Advertising] = []
    private var devices: [Peripheral] = []

    init(_ bed: VirtualTestbed) { self.bed = bed }

    func play(_ octets: [UInt8]) async throws {
        let port = FuzzedPort(await bed.air.attach())
        let host = try await bed.adapter("host", on: port)
        let peer = try await bed.adapter("peer")
        for adapter in [host, peer] {
            try await PeripheralManager(adapter).publish([
                GATTService(
                    0xfff0,
                    characteristics: [
                        GATTCharacteristic(
                            0xfff1, properties: [.read, .write, .notify], value: .stored([1]))
                    ])
            ])
        }
        await advertise(peer)
        var input = ByteReader(octets.span, of: "fuzz input")
        while let operation = try? input.u8("operation") {
            let length = Int((try? input.u8("length")) ?? 0)
            let argument = (try? input.bytes(min(length, input.remaining), "argument")) ?? []
            await perform(operation, argument, host, peer, port)
        }
        port.losses = 0
        await host.close()
        for task in tasks { task.cancel() }
        await bed.wait(.seconds(120))
        precondition(running == 0, "what waits for a host ends with it")
    }

    private func perform(
        _ operation: UInt8, _ argument: [UInt8], _ host: Adapter, _ peer: Adapter, _ port: FuzzedPort
    ) async {
        switch operation & 7 {
        case 0: await bed.wait(.milliseconds([0, 1, 30, 1000, 3000, 20000][Int(operation >> 3) % 6]))
        case 1:
            port.emit([4] + argument.prefix(1) + [UInt8(max(argument.count, 1) - 1)] + argument.dropFirst())
        case 2: port.emit([4, 0x3e, UInt8(argument.count)] + argument)
        case 3:
            // The handles of the first links, and a fixed channel.
            let (handle, channel) = (0x40 + (operation >> 3) & 1, 4 + (operation >> 4) % 3)
            let count = UInt8(min(argument.count, 250))
            port.emit([2, handle, 0x20, count + 4, 0, count, 0, channel, 0] + argument.prefix(250))
        case 4: port.losses = Int(operation >> 3) & 3
        case 5: port.emit(argument)
        default: await use(operation >> 3, argument, host, peer)
        }
    }

    private func begin(_ body: @escaping @Sendable () async throws -> Void) {
        running += 1
        tasks.append(
            Task(executorPreference: bed.loop) { [self] in
                try? await body()
                running -= 1
            })
    }

    private func advertise(_ adapter: Adapter) async {
        begin { [self] in
            var content = AdvertisingContent()
            content.name = "peer"
            let plan = try AdvertisingPlan(content, kind: .connectable)
            advertisements.append(
                try await PeripheralManager(adapter).advertise(AdvertisingRequest(plan), maximumLinks: 2))
        }
    }

    private func use(_ what: UInt8, _ argument: [UInt8], _ host: Adapter, _ peer: Adapter) async {
        let last = devices.last
        switch what % 12 {
        case 0: await advertise(host)
        case 1: if let last = advertisements.popLast() { begin { await last.stop() } }
        case 2: begin { for try await _ in CentralManager(host).scan() {} }
        case 3: connect(host, to: peer)
        case 4: connect(peer, to: host)
        case 5: if let last = devices.popLast() { begin { await last.disconnect() } }
        case 6: if !tasks.isEmpty { tasks[Int(argument.first ?? 0) % tasks.count].cancel() }
        case 7: begin { _ = try await last?.discover() }
        case 8:
            begin {
                guard let value = try await last?.discover().characteristics(0xfff1).first else { return }
                guard let values = try await last?.values(of: value) else { return }
                for try await _ in values {}
            }
        case 9:
            begin {
                let manager = PeripheralManager(host)
                guard let handle = await manager.valueHandle(of: 0xfff1) else { return }
                _ = try await manager.update(handle, to: argument)
            }
        case 10: begin { try await last?.pair() }
        default: begin { _ = try await last?.read(AttributeHandle(rawValue: 3)) }
        }
    }

    private func connect(_ one: Adapter, to other: Adapter) {
        begin { [self] in
            devices.append(try await CentralManager(one).connect(to: await other.address, timeout: nil))
        }
    }
}
