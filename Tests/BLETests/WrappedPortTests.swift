import BLE
import BLEAdvertising
import BLECore
import HCI
import HCISocket
import Testing

/// Ports that wrap another port.
struct WrappedPortTests {
    /// Runs `body` with a host on a port that `wrap` wraps, and another on the same air, under virtual time.
    private func run(
        _ wrap: @escaping @Sendable (any PacketPort, EventLoop) -> any PacketPort,
        _ body: @escaping @Sendable (Adapter, Adapter) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let wrapped = try await bed.adapter("wrapped", on: wrap(await bed.air.attach(), bed.loop))
            try await body(wrapped, try await bed.adapter("other"))
        }
    }

    private func advertise(on adapter: Adapter) async throws {
        var content = AdvertisingContent()
        content.name = "Lamp"
        let plan = try AdvertisingPlan(content, kind: .connectable)
        _ = try await PeripheralManager(adapter).advertise(AdvertisingRequest(plan), maximumLinks: 1)
    }

    @Test("a trace has every packet, in both directions and in order")
    func traceHasEveryPacketInOrder() async throws {
        let lines = Lock<[String]>([])
        try await run { port, _ in
            TracingPort(port) { line in lines.withLock { $0.append(line) } }
        } _: { _, _ in
        }
        let all = lines.withLock { $0 }
        #expect(all.prefix(2) == ["-> 01030c00", "<- 040e0401030c00"])
        #expect(all.count { $0.hasPrefix("-> ") } == all.count { $0.hasPrefix("<- 040e") })
    }

    @Test("delayed packets take their time and keep their order")
    func delayedPacketsKeepOrder() async throws {
        try await run { port, loop in
            DelayedPort(
                port, on: loop, delay: .milliseconds(10) ... .milliseconds(90), random: SplitMix64(seed: 1))
        } _: { delayed, other in
            // The set-up is a dozen commands and their answers.
            #expect(delayed.loop.now > Instant.zero + .milliseconds(200))
            try await advertise(on: other)
            let before = delayed.loop.now
            _ = try await CentralManager(delayed).first(within: .seconds(5)) { $0.name == "Lamp" }
            #expect(before.duration(until: delayed.loop.now) >= .milliseconds(20))
        }
    }

    @Test("losses depend only on the seed, and a lost answer is an error that names its command")
    func lossIsDeterministicAndNamesCommand() async throws {
        let counts = Lock<[Int]>([])
        for _ in 0..<2 {
            let port = Lock<LossyPort?>(nil)
            try await run { inner, _ in
                let lossy = LossyPort(inner, probability: 0.5, random: SplitMix64(seed: 3)) {
                    // Only reports are lost: all commands are answered.
                    $0 == .controllerToHost && $1[1] == HCIEventCode.leMeta.rawValue
                }
                port.withLock { $0 = lossy }
                return lossy
            } _: { lossy, other in
                try await advertise(on: other)
                var count = 0
                var options = ScanOptions()
                options.repeats = .all
                let scan = CentralManager(lossy).scan(options)
                for try await _ in scan {
                    count += 1
                    if count == 20 { break }
                }
                let lost = port.withLock { $0?.lost } ?? 0
                #expect((5...50).contains(lost))
                counts.withLock { $0.append(lost) }
            }
        }
        #expect(Set(counts.withLock { $0 }).count == 1)

        let refused = await failure { () throws(BLEError) in
            do {
                try await run { inner, _ in
                    LossyPort(inner, probability: 1, random: SplitMix64(seed: 1)) { direction, _ in
                        direction == .controllerToHost
                    }
                } _: { _, _ in
                }
            } catch let error as BLEError {
                throw error
            } catch {}
        }
        #expect(refused == .controllerSilent(command: .reset))
    }

    @Test("lost answers cause resets, and scanning continues")
    func lostAnswersCauseResets() async throws {
        let isLossy = Lock(false)
        try await run { inner, _ in
            LossyPort(inner, probability: 0.02, random: SplitMix64(seed: 8)) { direction, packet in
                direction == .controllerToHost && packet[1] != HCIEventCode.leMeta.rawValue
                    && isLossy.withLock { $0 }
            }
        } _: { lossy, other in
            try await advertise(on: other)
            let reported = lossy.health()
            isLossy.withLock { $0 = true }
            for _ in 0..<40 {
                _ = try await CentralManager(lossy).first(within: .seconds(60)) { $0.name == "Lamp" }
                _ = await lossy.loop.sleep(for: .seconds(61))
            }
            isLossy.withLock { $0 = false }
            await lossy.close()
            let all = Lock<[AdapterHealthEvent]>([])
            let end = await failure { () throws(BLEError) in
                for try await event in reported { all.withLock { $0.append(event) } }
            }
            #expect(end == .adapter(.closed))
            let steps = all.withLock { $0 }
            let recoveries = steps.count { $0 == .recovered(by: .reset) }
            #expect(recoveries > 2)
            #expect(steps.count { if case .recovering = $0 { true } else { false } } >= recoveries)
        }
    }

    @Test("after a hardware error the controller is reset and advertising continues")
    func hardwareErrorRestoresAdvertising() async throws {
        let injected = Lock<InjectingPort?>(nil)
        try await run { inner, loop in
            let port = InjectingPort(inner, on: loop)
            injected.withLock { $0 = port }
            return port
        } _: { broken, other in
            try await advertise(on: broken)
            _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "Lamp" }
            injected.withLock { $0 }?.toHost([0x04, 0x10, 0x01, 0x42])
            _ = await broken.loop.sleep(for: .seconds(5))
            #expect(injected.withLock { $0 }?.resets == 2)
            _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "Lamp" }

            // A controller that reports nothing but errors is given up.
            for _ in 0..<5 {
                injected.withLock { $0 }?.toHost([0x04, 0x10, 0x01, 0x42])
                _ = await broken.loop.sleep(for: .seconds(5))
            }
            let ended = await failure { () throws(BLEError) in
                _ = try await CentralManager(broken).first(within: .seconds(5)) { $0.name == "Lamp" }
            }
            #expect(ended == .adapter(.failed(.hardwareError(0x42))))
        }
    }
}

/// A port that passes a test's packets to its host, and counts the host's Resets.
private final class InjectingPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let inner: any PacketPort
    private let loop: EventLoop
    private var handlers: PacketPortHandlers?
    private(set) var resets = 0

    init(_ inner: any PacketPort, on loop: EventLoop) { (self.inner, self.loop) = (inner, loop) }

    func toHost(_ packet: [UInt8]) { loop.execute { self.handlers?.receive(packet.span) } }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        try inner.start(handlers)
    }

    func send(_ packet: Span<UInt8>) {
        if [UInt8](copying: packet) == [0x01, 0x03, 0x0c, 0x00] { resets += 1 }
        inner.send(packet)
    }

    func close() { inner.close() }
}
