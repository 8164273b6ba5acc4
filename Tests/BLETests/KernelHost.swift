import BLECore
import HCI
import HCISocket
import VirtualController

@testable import BLE

/// An adapter of the kernel's, without a kernel: a controller behind a script, which nobody but the stand-in for
/// the kernel resets, and a management socket that switches power. Under virtual time.
struct KernelHost: Sendable {
    /// No adapter of this machine.
    static let index: UInt16 = 60_001

    let air: AirServer
    let loop: EventLoop
    let port: ScriptedPort
    let adapter: Adapter
    private let controller: any PacketPort
    private let kernel: MemoryPort
    private let asked: Lock<[ManagementCommand]>
    private let asks = AsyncStream<ManagementCommand>.makeStream()
    private let told: Lock<[AdapterHealthEvent]>
    /// The devices that other programs have links to.
    let othersLinks = Lock<[DeviceAddress]>([])

    /// What the kernel was told to do, in order, but for questions about its adapters.
    var commands: [ManagementCommand] { asked.withLock { $0 } }
    /// The next command that the kernel is told; each is told once.
    func nextCommand() async -> ManagementCommand? {
        for await command in asks.stream { return command }
        return nil
    }
    /// What the kernel was asked to switch power to.
    var powers: [Bool] {
        commands.compactMap { if case .setPowered(let isOn) = $0 { isOn } else { nil } }
    }
    /// What the adapter has told about its controller.
    var health: [AdapterHealthEvent] { told.withLock { $0 } }
    var central: CentralManager { CentralManager(adapter) }

    static func run(
        extended: Bool = true, wasOff: Bool = false, security: SecurityOptions = SecurityOptions(),
        _ body: @escaping @Sendable (KernelHost) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let (air, loop) = (bed.air, bed.loop)
            let controller = await air.attach(.init(extended: extended ? .init() : nil))
            let port = ScriptedPort(controller, on: loop)
            let (near, far) = MemoryPort.pair(on: loop)
            let management = try await KernelManagement.open(near, on: loop)
            let adapter = Adapter(
                .kernel(.index(index)), name: "hci", port: port,
                kernel: KernelControl(index: index, management: management, wasOff: wasOff, capture: nil),
                identity: DeviceAddress(0xc000_0000_0001, type: .random), capture: nil,
                AdapterOptions(loop: loop, security: security))
            let host = KernelHost(
                air: air, loop: loop, port: port, adapter: adapter, controller: controller, kernel: far,
                asked: Lock([]), told: Lock([]))
            try far.start(host.management(far))
            try await adapter.start()
            await host.setUp()
            try await adapter.setUp(staticAddress: nil)
            await adapter.watchKernel()
            try await adapter.beginKernelPairing()
            // What is sent before the silent command is given up altogether would wait for that.
            port.script(.readLocalVersionInformation, .late(.seconds(1)))
            let events = adapter.health()
            let watch = Task(executorPreference: loop) {
                for try await event in events { host.told.withLock { $0.append(event) } }
            }
            try await body(host)
            await adapter.close()
            _ = await watch.result
            far.close()
        }
    }

    /// Another host on the air.
    func other() async throws -> Adapter {
        try await Adapter.open(
            on: await air.attach(.init(extended: .init())), name: "other", options: AdapterOptions(loop: loop)
        )
    }

    /// The kernel, or another program, tells the controller something: everybody overhears that.
    func tell(_ command: some HCICommand) {
        controller.send(HCIPacket.command(command.packet).encoded.span)
        port.overhear(command.packet)
    }

    /// As the kernel sets its controller up.
    private func setUp() async {
        tell(Reset())
        _ = await loop.sleep(for: .milliseconds(1))
        tell(SetEventMask(mask: .host))
        _ = await loop.sleep(for: .milliseconds(1))
        tell(LESetEventMask(mask: .host(LEFeatures(rawValue: ~0))))
        _ = await loop.sleep(for: .milliseconds(1))
        tell(LESetRandomAddress(address: DeviceAddress(0xc000_0000_0001, type: .random)))
        _ = await loop.sleep(for: .milliseconds(1))
    }

    /// The kernel's side of the management socket. Switching power takes a second.
    private func management(_ far: MemoryPort) -> PacketPortHandlers {
        PacketPortHandlers(
            receive: { [self] frame in
                guard let request = try? Management.Packet(frame),
                    let command = try? ManagementCommand(request)
                else { return }
                switch command {
                case .readIndexList:
                    return answer(command, [1, 0] + [UInt8(Self.index & 0xff), UInt8(Self.index >> 8)])
                case .readInformation: return answer(command, Self.information)
                case .getConnections: return answer(command, connections)
                default:
                    asked.withLock { $0.append(command) }
                    asks.continuation.yield(command)
                }
                guard case .setPowered(let isOn) = command else { return answer(command) }
                Task(executorPreference: loop) {
                    _ = await loop.sleep(for: .seconds(1))
                    if isOn { await setUp() } else { tell(Reset()) }
                    answer(command, [isOn ? 1 : 0, 2, 0, 0])
                }
            }, writable: {}, closed: { _ in })
    }

    /// What Get Connections answers.
    private var connections: [UInt8] {
        othersLinks.withLock { links in
            [UInt8(links.count), 0]
                + links.flatMap { link in
                    (0..<6).map { UInt8(truncatingIfNeeded: link.value >> (8 * $0)) }
                        + [link.type.rawValue + 1]
                }
        }
    }

    private func answer(_ command: ManagementCommand, _ octets: [UInt8] = []) {
        let code = command.opcode.rawValue
        let index = command == .readIndexList ? Management.Packet.noIndex : Self.index
        let parameters = [UInt8(code & 0xff), UInt8(code >> 8), 0] + octets
        kernel.send(Management.Packet(code: 1, index: index, parameters: parameters).encoded.span)
    }

    /// The kernel tells something.
    func tell(_ code: UInt16, _ parameters: [UInt8]) {
        kernel.send(Management.Packet(code: code, index: Self.index, parameters: parameters).encoded.span)
    }

    /// A dual-mode adapter that is on, for LE only: what Read Controller Information answers.
    private static let information: [UInt8] = {
        let (on, lowEnergy, all): (UInt32, UInt32, UInt32) = (1 << 0, 1 << 9, 0xffff)
        var octets: [UInt8] = [1, 0, 0, 0, 0, 0, 12, 0xff, 0xff]
        for settings in [all, on | lowEnergy] {
            octets += (0..<4).map { UInt8(truncatingIfNeeded: settings >> (8 * $0)) }
        }
        return octets + [UInt8](repeating: 0, count: 3 + 249 + 11)
    }()
}
