import BLECore
import HCI
import HCISocket
import VirtualController

@testable import BLE

/// A kernel adapter on a fake kernel, opened as programs open it. The adapter's commands to its controller go
/// through a script. It runs under virtual time.
struct KernelHost: Sendable {
    let air: AirServer
    let kernel: FakeKernel
    let port: ScriptedPort
    let adapter: Adapter
    private let reported: Lock<[AdapterHealthEvent]>

    var loop: EventLoop { air.loop }
    /// The management commands that the kernel has received, in order, except those that read about adapters.
    var commands: [ManagementCommand] { kernel.commands }
    /// The power states that the kernel was requested to set, in order.
    var powers: [Bool] {
        commands.compactMap { if case .setPowered(let isOn) = $0 { isOn } else { nil } }
    }
    /// The adapter's health events.
    var health: [AdapterHealthEvent] { reported.withLock { $0 } }
    var central: CentralManager { CentralManager(adapter) }

    static func run(
        extended: Bool = true, wasOff: Bool = false, security: SecurityOptions = SecurityOptions(),
        _ body: @escaping @Sendable (KernelHost) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let (air, loop) = (bed.air, bed.loop)
            let controller = await air.attach(
                .init(publicAddress: FakeKernel.address, extended: extended ? .init() : nil))
            let kernel = try FakeKernel(controller, on: loop, extended: extended, isOff: wasOff)
            let opened = Lock<ScriptedPort?>(nil)
            kernel.wrapping = { raw in
                let port = ScriptedPort(raw, on: loop)
                opened.withLock { $0 = port }
                return port
            }
            var options = AdapterOptions(loop: loop, security: security)
            options.kernel = kernel
            let adapter = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
            guard let port = opened.withLock({ $0 }) else { throw BLEError.adapter(.closed) }
            let host = KernelHost(air: air, kernel: kernel, port: port, adapter: adapter, reported: Lock([]))
            // Commands that are sent during the wait for the late answer to a silent command would wait too.
            // Therefore the first command of a restart is answered late.
            port.script(.readLocalVersionInformation, .late(.seconds(1)))
            let events = adapter.health()
            let watch = Task(executorPreference: loop) {
                for try await event in events { host.reported.withLock { $0.append(event) } }
            }
            try await body(host)
            await adapter.close()
            _ = await watch.result
        }
    }

    /// Opens another host on the air.
    func other(_ name: String = "other") async throws -> Adapter {
        try await Adapter.open(
            on: await air.attach(.init(extended: .init())), name: name, options: AdapterOptions(loop: loop))
    }

    /// Waits for `duration` of virtual time.
    func wait(_ duration: Duration) async { _ = await loop.sleep(for: duration) }
}
