import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCI
import HCISocket
import VirtualController

/// A host whose controller follows a script, and an air for other hosts, under virtual time.
struct ScriptedHost: Sendable {
    let air: AirServer
    let loop: EventLoop
    let port: ScriptedPort
    let options: AdapterOptions
    private let reported = Lock<[AdapterHealthEvent]>([])

    /// The health events of the host under test.
    var health: [AdapterHealthEvent] { reported.withLock { $0 } }

    static func run<Result: Sendable>(
        extended: Bool = false, recoversWithLinks: Bool = false,
        _ body: @escaping @Sendable (ScriptedHost) async throws -> Result
    ) async throws -> Result {
        try await VirtualTestbed.run { bed in
            let port = ScriptedPort(await bed.port(extended: extended), on: bed.loop)
            let options = AdapterOptions(loop: bed.loop, recoversWithLinks: recoversWithLinks)
            return try await body(ScriptedHost(air: bed.air, loop: bed.loop, port: port, options: options))
        }
    }

    /// Opens the host under test, runs `body` with it and closes it.
    func open(_ body: @escaping @Sendable (Adapter) async throws -> Void) async throws {
        let adapter = try await Adapter.open(on: port, name: "scripted", options: options)
        let health = adapter.health()
        let watch = Task(executorPreference: loop) { [reported] in
            for try await event in health { reported.withLock { $0.append(event) } }
        }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(adapter)) } catch { outcome = .failure(error) }
        await adapter.close()
        _ = await watch.result
        try outcome.get()
    }

    /// Creates a host that complies with the specification, is connectable and advertises "Lamp".
    func lamp() async throws -> Adapter {
        let other = try await Adapter.open(on: await air.attach(), name: "lamp", options: options)
        try await advertise("Lamp", on: other)
        return other
    }

    func advertise(_ name: String, on adapter: Adapter) async throws {
        var content = AdvertisingContent()
        content.name = name
        let plan = try AdvertisingPlan(content, kind: .connectable)
        _ = try await PeripheralManager(adapter).advertise(AdvertisingRequest(plan), maximumLinks: 1)
    }

    /// Scans with `adapter` until it finds `name`.
    @discardableResult
    func receive(_ name: String, on adapter: Adapter) async throws -> Advertisement {
        try await CentralManager(adapter).first(within: .seconds(30)) { $0.name == name }
    }
}
