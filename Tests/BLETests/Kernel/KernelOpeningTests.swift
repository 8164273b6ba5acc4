import BLECore
import HCI
import HCISocket
import SystemPackage
import Testing
import VirtualController

@testable import BLE

/// The opening of kernel adapters. Whichever step fails, an adapter that was off is off again, and no socket
/// stays open.
@Suite(.timeLimit(.minutes(10))) struct KernelOpeningTests {
    private func run(
        isOff: Bool = true, _ security: SecurityOptions = SecurityOptions(),
        _ prepare: @escaping @Sendable (FakeKernel) -> Void,
        _ check: @escaping @Sendable (FakeKernel, BLEError?) -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(.init(publicAddress: FakeKernel.address))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: false, isOff: isOff)
            prepare(kernel)
            var options = AdapterOptions(loop: bed.loop, security: security)
            options.kernel = kernel
            let error = await failure { () throws(BLEError) in
                let adapter = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
                await adapter.close()
            }
            await bed.wait(.seconds(1))
            check(kernel, error)
            #expect(kernel.settings == (isOff ? [.lowEnergy] : [.lowEnergy, .powered]))
            #expect(kernel.openSockets == 0)
        }
    }

    @Test("opening powers an adapter on if it was off, and closing restores that", arguments: [true, false])
    func openAndCloseRestorePower(isOff: Bool) async throws {
        try await run(isOff: isOff) { _ in
        } _: { kernel, error in
            #expect(error == nil)
            #expect(kernel.commands == (isOff ? [.setPowered(true), .setPowered(false)] : []))
        }
    }

    @Test(
        "an adapter that management does not list is not set up or in exclusive use",
        arguments: [true, false])
    func unlistedAdapterFailsToOpen(isOff: Bool) async throws {
        try await run(isOff: isOff) {
            $0.isListed = false
        } _: { kernel, error in
            #expect(
                error
                    == .adapter(isOff ? .notSetUp(FakeKernel.index) : .inUse(.userChannel([]))))
            #expect(kernel.commands == [])
        }
    }

    @Test("a program that manages pairing does not open an adapter while bluetoothd runs")
    func pairingManagerRefusesAdapterOfDaemon() async throws {
        for manages in [true, false] {
            var security = SecurityOptions()
            security.managesKernelPairing = manages
            try await run(isOff: false, security) {
                $0.daemon = 4711
            } _: { kernel, error in
                #expect(error == (manages ? .adapter(.pairedBy(bluetoothDaemon: 4711)) : nil))
                #expect(kernel.commands == [])
            }
        }
    }

    @Test("a refused raw socket fails the open with the missing permission")
    func refusedRawSocketFailsOpen() async throws {
        try await run {
            $0.rawRefusal = .system(.notPermitted, during: "bind")
        } _: { _, error in
            #expect(
                error == .permission(.netRaw, for: .open(FakeKernel.index)))
        }
    }

    @Test("a refused first command fails the open with the missing permission")
    func refusedCommandFailsOpen() async throws {
        try await run { kernel in
            kernel.wrapping = { RefusingPort($0) }
        } _: { _, error in
            #expect(
                error
                    == .permission(.netRaw, for: .sendCommands(.kernel(.index(FakeKernel.index)))))
        }
    }

    @Test("a silent controller fails the open with its command")
    func silentControllerFailsOpen() async throws {
        try await run { kernel in
            kernel.wrapping = { raw in
                let port = ScriptedPort(raw, on: kernel.loop)
                port.script(.readLocalVersionInformation, .silence)
                return port
            }
        } _: { _, error in
            #expect(error == .controllerSilent(command: .readLocalVersionInformation))
        }
    }

    @Test("refused pairing settings fail the open and restore the power")
    func refusedPairingSettingsFailOpen() async throws {
        var security = SecurityOptions()
        security.managesKernelPairing = true
        try await run(security) { kernel in
            kernel.refusals.append { $0 == .setBondable(true) ? .permissionDenied : nil }
        } _: { kernel, error in
            #expect(
                error
                    == .permission(.netAdmin, for: .setUpPairing(FakeKernel.index)))
            #expect(kernel.commands.last == .setPowered(false))
        }
    }

    @Test("a recording includes the packets of closing for each call of close", arguments: [1, 2])
    func recordingIncludesClosingPackets(closings: Int) async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            let packets = Lock<[HCIPacket]>([])
            var options = options
            options.capture = { _, packet in
                if let packet = try? HCIPacket(packet) { packets.withLock { $0.append(packet) } }
            }
            let adapter = try await Adapter.open(Self.adapter, options: options)
            let tails = (0..<closings).map { _ in
                Task(executorPreference: options.loop) {
                    await adapter.close()
                    return packets.withLock { Array($0.suffix(2)) }
                }
            }
            // The kernel resets the controller before it reports that the power is off.
            let reset = Reset().packet
            for tail in tails {
                #expect(
                    await tail.value == [
                        .command(reset), .event(CommandComplete(reset.opcode, status: .success).packet),
                    ])
            }
            #expect(kernel.settings == [.lowEnergy])
        }
    }

    // MARK: Several users of an adapter

    private func run(
        _ settings: Management.Settings,
        _ body: @escaping @Sendable (FakeKernel, AdapterOptions) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(.init(publicAddress: FakeKernel.address))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: false, isOff: true)
            kernel.settings = settings
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = kernel
            try await body(kernel, options)
            await bed.wait(.seconds(10))
            #expect(kernel.settings == settings)
            #expect(kernel.openSockets == 0)
            #expect(kernel.claims(beginningWith: "") == [])
        }
    }

    private static let adapter = AdapterSpecification.kernel(.index(FakeKernel.index))

    @Test(
        "the last user of an adapter restores the state that the first one found",
        arguments: [[0, 1], [1, 0]])
    func lastUserRestoresAdapter(order: [Int]) async throws {
        try await run([]) { (kernel, options) in
            // The second open begins while the first one switches the adapter on.
            async let one = Adapter.open(Self.adapter, options: options)
            async let other = Adapter.open(Self.adapter, options: options)
            let adapters = try await [one, other]
            #expect(kernel.settings == [.lowEnergy, .powered])
            await adapters[order[0]].close()
            #expect(kernel.settings == [.lowEnergy, .powered])
            #expect(kernel.commands == [.setLowEnergy(true), .setPowered(true)])
            await adapters[order[1]].close()
            #expect(kernel.commands.suffix(2) == [.setPowered(false), .setLowEnergy(false)])
        }
    }

    @Test("an open during the last close powers the adapter on again")
    func openDuringLastClose() async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            let first = try await Adapter.open(Self.adapter, options: options)
            async let closed: Void = first.close()
            async let opened = Adapter.open(Self.adapter, options: options)
            let (_, second) = try await (closed, opened)
            #expect(kernel.settings == [.lowEnergy, .powered])
            await second.close()
        }
    }

    @Test("an adapter with links of other programs stays on") func foreignLinksKeepAdapterOn() async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            kernel.othersLinks = [DeviceAddress(1, type: .public)]
            let adapter = try await Adapter.open(Self.adapter, options: options)
            await adapter.close()
            #expect(kernel.settings == [.lowEnergy, .powered])
            kernel.switchPower(false)
        }
    }

    @Test("a power-on that completes after its timeout is undone") func lateAnswerIsUndone() async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            kernel.delays = [.setPowered(true): .seconds(60)]
            let error = await failure { () throws(BLEError) in
                _ = try await Adapter.open(Self.adapter, options: options)
            }
            #expect(
                error == .timedOut(.management(.switchPower(FakeKernel.index, on: true)), after: .seconds(10))
            )
            _ = await options.loop.sleep(for: .seconds(120))
            #expect(kernel.settings == [.lowEnergy])
        }
    }

    @Test("LE is disabled again when power cannot be switched on")
    func refusedPowerRestoresLE() async throws {
        try await run([]) { (kernel, options) in
            kernel.refusals.append { $0 == .setPowered(true) ? ManagementStatus(rawValue: 3) : nil }
            let error = await failure { () throws(BLEError) in
                _ = try await Adapter.open(Self.adapter, options: options)
            }
            #expect(
                error == .adapter(.cannotPower(FakeKernel.index, .management(.failed))))
            #expect(kernel.commands == [.setLowEnergy(true), .setLowEnergy(false)])
        }
    }

    @Test(
        "a released adapter is restored, even after it has failed",
        arguments: [false, true])
    func releasedAdapterIsRestored(hasEnded: Bool) async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            let adapter = try await Adapter.open(Self.adapter, options: options)
            if hasEnded { await adapter.shutDown(.adapter(.failed(.lineLost))) }
        }
    }

    @Test("a failed adapter is restored when it is closed")
    func failedAdapterIsRestoredOnClose() async throws {
        try await run([]) { (kernel, options) in
            let adapter = try await Adapter.open(Self.adapter, options: options)
            await adapter.shutDown(.adapter(.failed(.lineLost)))
            #expect(kernel.settings == [.lowEnergy, .powered])
            await adapter.close()
            #expect(kernel.settings == [])
            #expect(await adapter.end == .adapter(.failed(.lineLost)))
            withExtendedLifetime(adapter) {}
        }
    }

    @Test("following a periodic train is unsupported on a shared kernel adapter")
    func periodicTrainIsUnsupported() async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(
                .init(publicAddress: FakeKernel.address, extended: .init()))
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = try FakeKernel(controller, on: bed.loop, extended: true, isOff: false)
            let adapter = try await Adapter.open(Self.adapter, options: options)
            let sender = DeviceAddress(0xc000_0000_0001, type: .random)
            let refused = await failure { () throws(BLEError) in
                for try await _ in CentralManager(adapter).periodicAdvertising(of: sender, set: 1) {}
            }
            #expect(refused == .adapter(.unsupported(.kernelPeriodicSync)))
            await adapter.close()
        }
    }

    @Test("a released adapter stops scanning and advertising", arguments: [false, true])
    func releasedAdapterStopsScanAndAdvertising(isExtended: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(
                .init(publicAddress: FakeKernel.address, extended: isExtended ? .init() : nil))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: isExtended, isOff: false)
            let wrapped = Lock<ControlledPort?>(nil)
            kernel.wrapping = { raw in
                let port = ControlledPort(raw, on: bed.loop)
                wrapped.withLock { $0 = port }
                return port
            }
            let other = CentralManager(try await bed.host("other"))
            do {
                var options = AdapterOptions(loop: bed.loop)
                options.kernel = kernel
                let adapter = try await Adapter.open(Self.adapter, options: options)
                let advertising = try await PeripheralManager(adapter).advertise(.beacon("A"))
                let scan = CentralManager(adapter).scan()
                _ = try await other.first(within: .seconds(5)) { $0.name == "A" }
                // After this, no command of their start is pending.
                await bed.wait(.seconds(1))
                wrapped.withLock { $0 }?.forget()
                withExtendedLifetime((adapter, advertising, scan)) {}
            }
            await bed.wait(.seconds(1))
            let port = try #require(wrapped.withLock { $0 })
            // A stream retains the adapter, so the stream of the scan ends first. The command that its end
            // queues is not sent any more: each command is sent once, at the end of the adapter.
            let set = LESetExtendedAdvertisingEnable.Entry(set: AdvertisingHandle(rawValue: 0xef))
            let ends: [HCICommandPacket] =
                isExtended
                ? [
                    LESetExtendedScanEnable(enable: false).packet,
                    LESetExtendedAdvertisingEnable(enable: false, sets: [set]).packet,
                ]
                : [
                    LESetScanEnable(enable: false).packet,
                    LESetAdvertisingEnable(enable: false).packet,
                ]
            #expect(port.commands == ends)
            let gone = await failure { () throws(BLEError) in
                _ = try await other.first(within: .seconds(5)) { $0.name == "A" }
            }
            #expect(gone == .notFound(.device(within: .seconds(5))))
        }
    }

    @Test("a released adapter stops listening, cancels its connects and closes its channels")
    func releasedAdapterEndsLinksAndAttempts() async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(
                .init(publicAddress: FakeKernel.address, extended: .init()))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: true, isOff: false)
            let other = try await bed.host("other")
            let device: Peripheral
            do {
                var options = AdapterOptions(loop: bed.loop)
                options.kernel = kernel
                let adapter = try await Adapter.open(Self.adapter, options: options)
                try await adapter.serve([7])
                device = try await other.connect(to: adapter)
                let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)
                let connecting = bed.task {
                    try await CentralManager(adapter).connect(to: absent, timeout: nil)
                }
                await bed.wait(.seconds(1))
                #expect(kernel.listening == [FakeKernel.address])
                #expect(kernel.openChannels == 1 && kernel.openAttempts == 1)
                // A connect that waits for a link retains the adapter, so it is cancelled first.
                connecting.cancel()
                withExtendedLifetime(adapter) {}
            }
            // The kernel ends a link two seconds after its channel, and an attempt after twenty.
            await bed.wait(.seconds(1))
            #expect(kernel.listening == [])
            #expect(kernel.openAttempts == 0)
            try #require(kernel.openChannels == 0)
            #expect(try await device.disconnection() == .status(.remoteUserTerminatedConnection))
        }
    }

    @Test("a program goes on when its adapter has power again")
    func programGoesOnWithPower() async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            var begins = begun.makeAsyncIterator()
            func program(reopens: Bool) -> Task<Void, any Error> {
                Task(executorPreference: options.loop) {
                    try await withAdapter(Self.adapter, options: options, reopens: reopens, endedBy: []) {
                        adapter in
                        begin.yield()
                        for try await _ in CentralManager(adapter).scan() {}
                    }
                }
            }
            let reopening = program(reopens: true)
            await begins.next()
            #expect(kernel.settings == [.lowEnergy, .powered])
            kernel.switchPower(false)
            // The program switches nothing on by itself.
            _ = await options.loop.sleep(for: .seconds(60))
            #expect(kernel.settings == [.lowEnergy])
            kernel.switchPower(true)
            await begins.next()
            reopening.cancel()
            _ = await reopening.result

            // Without it, the error ends the program.
            let other = program(reopens: false)
            await begins.next()
            kernel.switchPower(false)
            await #expect(throws: BLEError.adapter(.poweredOff)) { try await other.value }
        }
    }

    @Test("an adapter that another program switched off and on stays on")
    func foreignPowerCycleLeavesAdapterOn() async throws {
        try await run([.lowEnergy]) { (kernel, options) in
            let adapter = try await Adapter.open(Self.adapter, options: options)
            kernel.switchPower(false)
            _ = await options.loop.sleep(for: .seconds(1))
            #expect(await adapter.end == .adapter(.poweredOff))
            kernel.switchPower(true)
            _ = await options.loop.sleep(for: .seconds(1))
            // An adapter that is opened now cannot detect that the power was off before.
            let second = try await Adapter.open(Self.adapter, options: options)
            await adapter.close()
            await second.close()
            #expect(kernel.settings == [.lowEnergy, .powered])
            kernel.switchPower(false)
        }
    }
}

/// A raw socket whose first write the kernel refuses, as that of a process without CAP_NET_RAW.
private final class RefusingPort: PacketPort {
    private let inner: any PacketPort
    private let handlers = Lock<PacketPortHandlers?>(nil)

    init(_ inner: any PacketPort) { self.inner = inner }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers.withLock { $0 = handlers }
        try inner.start(handlers)
    }

    func send(_ packet: Span<UInt8>) {
        inner.close()
        handlers.withLock { $0.take() }?.closed(.system(.notPermitted, during: "write"))
    }

    func close() { inner.close() }
}
