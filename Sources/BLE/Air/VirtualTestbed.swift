import BLECore
import HCI
import HCISocket
import VirtualController

/// Hosts on an air of their own in one process, for tests without a radio. Time is virtual: it jumps to whatever is due
/// next, so that minutes pass in milliseconds, and with the same seed every run is the same.
///
/// ```swift
/// try await VirtualTestbed.run { bed in
///     let sensor = PeripheralManager(try await bed.adapter("sensor"))
///     let phone = CentralManager(try await bed.adapter("phone"))
///     _ = try await sensor.advertise(AdvertisingRequest(plan))
///     print(try await phone.first(within: .seconds(5)) { $0.name == "Thermometer" })
/// }
/// ```
///
/// Everything runs on one event loop, `body` and its child tasks included. A task that is not a child, such as an
/// unstructured `Task`, should run on the same loop: `Task(executorPreference: bed.loop)`. Virtual time does not
/// wait for work that runs elsewhere.
public struct VirtualTestbed: Sendable {
    /// The air of the hosts. The ports that `attach` returns can be wrapped in ports that lose, delay or trace
    /// packets.
    public let air: AirServer
    private let adapters: Adapters

    /// The adapters that were opened through a testbed.
    private final class Adapters: Sendable {
        let all = Lock<[Adapter]>([])
        private let random: Lock<SplitMix64>

        init(seed: UInt64) { random = Lock(SplitMix64(seed: ~seed)) }

        /// Returns the seed of the next adapter.
        func nextSeed() -> UInt64 { random.withLock { $0.next() } }

        /// What each adapter waits for. Call this on their loop.
        var waits: [String] {
            all.withLock { $0 }.flatMap { adapter in
                adapter.assumeIsolated { adapter in adapter.waitPhrases.map { "\(adapter.name): \($0)" } }
            }
        }
    }

    /// The error of a testbed in which nothing can happen any more: no time limit runs, no packet is on its way, and
    /// every task waits.
    public struct Standstill: Error, Hashable, Sendable, CustomStringConvertible {
        /// What each adapter waits for, as in `sensor: the end of a link`.
        public let waits: [String]

        /// One line with what is waited for.
        public var description: String {
            "nothing can happen any more; "
                + (waits.isEmpty
                    ? "the test waits for something else" : "waiting: \(waits.joined(separator: "; "))")
        }
    }

    private init(air: AirServer, adapters: Adapters) { (self.air, self.adapters) = (air, adapters) }

    /// The loop of all the hosts.
    public var loop: EventLoop { air.loop }

    /// Runs `body`, then closes all adapters that were opened through the testbed.
    ///
    /// - Parameters:
    ///   - seed: determines everything that is random, on the air and in the hosts, also the keys of hosts that keep
    ///     their bonds in memory. Bonds of a host on disk get keys that cannot be foreseen.
    ///   - conditions: the effects of the air on packets.
    ///   - standstill: the real time after which a testbed in which nothing is due is given up. It has to be longer than
    ///     the work that the test does elsewhere than on the loop.
    ///   - body: the test.
    /// - Throws: what `body` throws. If nothing can happen any more, `body` is cancelled, and `Standstill` is thrown.
    ///   While a controller advertises or has links, something is always due: a wait beside it needs a time limit.
    public static func run<Success: Sendable>(
        seed: UInt64 = 1, conditions: VirtualAir.Conditions = .init(), standstill: Duration = .seconds(30),
        _ body: @escaping @Sendable (VirtualTestbed) async throws -> Success
    ) async throws -> Success {
        let loop = try EventLoop(name: "testbed", clock: .virtual)
        let adapters = Adapters(seed: seed)
        let isOver = Lock(false)
        let (ended, ending) = AsyncStream.makeStream(of: Result<Success, any Error>.self)
        let running = Task(executorPreference: loop) {
            let bed = VirtualTestbed(
                air: AirServer(on: loop, seed: seed, conditions: conditions), adapters: adapters)
            let result: Result<Success, any Error>
            do { result = .success(try await body(bed)) } catch { result = .failure(error) }
            for adapter in adapters.all.withLock({ $0 }).reversed() { await adapter.close() }
            await bed.air.close()
            // The adapters retain the loop, which must not retain them.
            isOver.withLock { $0 = true }
            loop.forgetStillness()
            adapters.all.withLock { $0 = [] }
            ending.yield(result)
        }
        let stands = Lock<Standstill?>(nil)
        loop.execute {
            guard !isOver.withLock({ $0 }) else { return }
            loop.whenStill(for: standstill) {
                let standing = Standstill(waits: adapters.waits)
                stands.withLock { $0 = standing }
                running.cancel()
                // Not every wait can be cancelled.
                loop.whenStill(for: standstill) { ending.yield(.failure(standing)) }
            }
        }
        // The end of the body is awaited also when the caller is cancelled, so that the body can put things in order.
        let end = Task {
            for await result in ended { return result }
            return .failure(CancellationError())
        }
        let result = await withTaskCancellationHandler {
            await end.value
        } onCancel: {
            running.cancel()
        }
        loop.stop()
        if let standing = stands.withLock({ $0 }) { throw standing }
        return try result.get()
    }

    /// Opens an adapter on a new controller, by default one with all features. `name` is the adapter's name in
    /// messages.
    public func adapter(
        _ name: String, controller: VirtualController.Configuration? = nil,
        options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        try await adapter(name, on: await air.attach(controller), options: options)
    }

    /// Opens an adapter on a port that the caller supplies, for example a port of the air inside one that
    /// changes packets.
    public func adapter(
        _ name: String, on port: any PacketPort, options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        var options = options
        options.loop = loop
        let seed = adapters.nextSeed()
        // Keys that outlast the test may protect real devices.
        if options.security.bonds.folder == nil { options.seed = options.seed ?? seed }
        let adapter = try await Adapter.open(on: port, name: name, options: options)
        adapters.all.withLock { $0.append(adapter) }
        return adapter
    }

    /// Sets the strength at which two hosts receive each other, in dBm; initially it is -50 dBm. Nil puts
    /// them out of range of each other: links between them end after their supervision timeout, unless a
    /// later call brings the hosts back into range before.
    public func setRSSI(_ rssi: Int8?, between one: Adapter, and other: Adapter) async {
        await air.setRSSI(rssi, between: await one.address, and: await other.address)
    }

    /// Places a host, or moves it to another position at once. From now on the strength at which it and other
    /// hosts with a position receive each other depends on their distance: a signal sent at 0 dBm arrives at -40
    /// dBm over 1 m and at -60 dBm over 10 m, and is not received beyond 1 km. The host receives hosts without a
    /// position as before. A strength that `setRSSI` sets later holds until one of the two hosts moves.
    public func move(_ adapter: Adapter, to position: AirPosition) async {
        await air.setPosition(position, of: await adapter.address)
    }

    /// Returns whether the radio of a host is in use: its controller advertises, scans, connects, follows a
    /// periodic train or has links. With this, a test can check that everything that it cancelled is off the
    /// air.
    public func isRadioInUse(by adapter: Adapter) async -> Bool { await air.isActive(await adapter.address) }

    /// Waits for `duration` of virtual time, in which all events that are due take place.
    public func wait(_ duration: Duration) async { _ = await loop.sleep(for: duration) }
}
