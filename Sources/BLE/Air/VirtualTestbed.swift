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
/// All of it lives on one event loop, also `body` and its child tasks. A task that is not a child, as `Task { }` makes,
/// should be given the loop too: `Task(executorPreference: bed.loop)`; time does not wait for what runs elsewhere.
public struct VirtualTestbed: Sendable {
    /// The air. `attach` gives ports of its own, to be wrapped in ports that lose, delay or trace packets.
    public let air: AirServer
    private let adapters = Lock<[Adapter]>([])

    /// The loop of all the hosts.
    public var loop: EventLoop { air.loop }

    /// Runs `body`, then closes all adapters that it has opened.
    ///
    /// - Parameters:
    ///   - seed: decides on everything that is random on the air.
    ///   - conditions: what the air does to packets.
    ///   - body: the test.
    public static func run<Success: Sendable>(
        seed: UInt64 = 1, conditions: VirtualAir.Conditions = .init(),
        _ body: @escaping @Sendable (VirtualTestbed) async throws -> Success
    ) async throws -> Success {
        let loop = try EventLoop(name: "testbed", clock: .virtual)
        let running = Task(executorPreference: loop) {
            let bed = VirtualTestbed(air: AirServer(on: loop, seed: seed, conditions: conditions))
            let result: Result<Success, any Error>
            do { result = .success(try await body(bed)) } catch { result = .failure(error) }
            for adapter in bed.adapters.withLock({ $0 }).reversed() { await adapter.close() }
            await bed.air.close()
            return try result.get()
        }
        let result = await withTaskCancellationHandler {
            await running.result
        } onCancel: {
            running.cancel()
        }
        loop.stop()
        return try result.get()
    }

    /// A host with a controller of its own, by default one with all that there is. Messages call it `name`.
    public func adapter(
        _ name: String, controller: VirtualController.Configuration? = nil,
        options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        try await adapter(name, on: await air.attach(controller), options: options)
    }

    /// A host on a port of the caller's: one of the air's, with a port around it that does something to packets.
    public func adapter(
        _ name: String, on port: any PacketPort, options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        var options = options
        options.loop = loop
        let adapter = try await Adapter.open(on: port, name: name, options: options)
        adapters.withLock { $0.append(adapter) }
        return adapter
    }

    /// Sets how strong two hosts receive each other, in dBm, which is -50 before; nil when they do not, as when one is
    /// carried away: links between them end with their supervision timeout if that is not taken back before.
    public func setRSSI(_ rssi: Int8?, between one: Adapter, and other: Adapter) async {
        await air.setRSSI(rssi, between: await one.address, and: await other.address)
    }

    /// Puts a host somewhere, or moves it at once. How strong it and others that have a position receive each other
    /// depends on their distance from now on: what is sent with 0 dBm arrives with -40 dBm over a meter and
    /// -60 dBm over ten, and not at all beyond a kilometer. Others it receives as before; a level that
    /// `setRSSI` sets holds until one of the two moves.
    public func move(_ adapter: Adapter, to position: AirPosition) async {
        await air.setPosition(position, of: await adapter.address)
    }

    /// Whether the radio of a host is in use: its controller advertises, scans, connects, follows a periodic
    /// train or has links. A test can so check that what it has cancelled is off the air.
    public func isRadioInUse(by adapter: Adapter) async -> Bool { await air.isActive(await adapter.address) }

    /// Lets everything happen that does within `duration`.
    public func wait(_ duration: Duration) async { _ = await loop.sleep(for: duration) }
}
