import BLECore
import HCI
import HCISocket
import Logging
import SystemPackage
import VirtualController

extension Adapter {
    /// Opens the adapter that `specification` names. A kernel adapter that is off is powered on; the last process
    /// that closes it powers it off again. The controllers of all other adapters are used by this process alone
    /// and are reset.
    public static func open(
        _ specification: AdapterSpecification, options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        try options.privacy.check()
        switch specification {
        case .stream(let address):
            let port = H4Port(try await connect(address, on: options.loop), on: options.loop)
            return try await start(specification, on: port, options)
        case .virtual(let name):
            return try await openVirtual(specification, name: name ?? "", options)
        case .kernel(let wanted):
            guard !options.privacy.isEnabled else {
                throw .adapter(.unsupported(.privateAddresses))
            }
            guard options.transportFaults.isEmpty else { throw .adapter(.unsupported(.transportFaults)) }
            let management = try await KernelManagement.open(options.kernel, on: options.loop)
            return try await openKernel(specification, management, options, wanted)
        case .userChannel(let wanted): return try await openUserChannel(specification, wanted, options)
        case .serial(let path, let baud, let flowControl):
            let port = try serialPort(path, baud: baud, flowControl: flowControl, on: options.loop)
            return try await start(specification, on: port, options)
        }
    }

    /// Opens the controller behind `port`, which carries HCI packets in H4 form and which only this host uses: a
    /// simulated controller in a test, or a custom transport. `name` is the adapter's name in messages.
    public static func open(
        on port: any PacketPort, name: String = "port", options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        try options.privacy.check()
        return try await start(nil, name: name, on: port, options)
    }

    /// Sets up the controller behind `port`, which only this host uses.
    static func start(
        _ specification: AdapterSpecification, on port: any PacketPort, _ options: AdapterOptions,
        claiming claimed: String? = nil, of userChannel: UserChannel? = nil
    ) async throws(BLEError) -> Adapter {
        try await start(
            specification, name: specification.description, on: port, options, claiming: claimed,
            of: userChannel)
    }

    private static func start(
        _ specification: AdapterSpecification?, name: String, on port: any PacketPort,
        _ options: AdapterOptions, claiming claimed: String? = nil, of userChannel: UserChannel? = nil
    ) async throws(BLEError) -> Adapter {
        let faulty = options.transportFaults.reduce(port) { $1.port(around: $0, on: options.loop) }
        let adapter = Adapter(
            specification, name: name, port: traced(faulty, name),
            kernel: nil, userChannel: userChannel, identity: DeviceAddress(0, type: .public),
            capture: options.capture, options)
        do throws(BLEError) {
            try await adapter.start()
            var address: DeviceAddress?
            if let claimed { address = try await adapter.claim(claimed) }
            try await adapter.setUp(staticAddress: address)
            return adapter
        } catch {
            await adapter.shutDown(error)
            await userChannel?.giveBack()
            throw error
        }
    }

    /// Returns `port` or, at log level trace, a port around it that logs its packets.
    private static func traced(_ port: any PacketPort, _ name: String) -> any PacketPort {
        let log = Logger(label: "ble.\(name)")
        return log.logLevel <= .trace ? TracingPort(port) { log.trace("\($0)") } : port
    }
}

// MARK: - Virtual

extension Adapter {
    /// The time limit for the first answer of a virtual air, whose process may have to start first.
    private static let startLimit = Duration.seconds(30)

    private static func openVirtual(
        _ specification: AdapterSpecification, name: String, _ options: AdapterOptions
    ) async throws(BLEError) -> Adapter {
        do throws(BLEError) {
            return try await join(specification, name: name, options)
        } catch {
            // An air whose last client has left may end just as this process joins it; a new one can start
            // then.
            switch error {
            case .adapter(.hungUp), .port(.system(.connectionReset, _)):
                return try await join(specification, name: name, options)
            case .controllerSilent(ClaimName.opcode):
                throw .adapter(.hungUp(.airSilent(startLimit)))
            default: throw error
            }
        }
    }

    private static func join(
        _ specification: AdapterSpecification, name: String, _ options: AdapterOptions
    ) async throws(BLEError) -> Adapter {
        let place = try AirPlace(options.airPath)
        let descriptor: CInt
        do throws(BLEError) {
            descriptor = try await connect(place.address, in: place.folder, on: options.loop)
        } catch .adapter(.unreachable) {
            try await options.airLauncher.launch(place.path, options.loop)
            descriptor = try await connect(place.address, in: place.folder, on: options.loop)
        }
        return try await start(
            specification, on: H4Port(descriptor, on: options.loop), options, claiming: name)
    }

    /// Asks the air for the static address that belongs to `name`.
    private func claim(_ name: String) async throws(BLEError) -> DeviceAddress {
        guard let command = ClaimName(name) else {
            throw .limit(.adapterName, maximum: ClaimName.maximumLength, value: name.utf8.count)
        }
        let parameters = try await exchange(command.packet, timeLimit: Self.startLimit, isSetup: true)
        guard let answer = try? ClaimName.Answer(parameters) else {
            throw .adapter(.unsupported(.adapterNames))
        }
        switch answer.status {
        case .success: return answer.address
        case .commandDisallowed: throw .adapter(.inUse(.process(Int32(truncatingIfNeeded: answer.holder))))
        default: throw .hci(answer.status, command: ClaimName.opcode)
        }
    }

    /// The time limit for connecting a stream.
    private static let connectLimit = Duration.seconds(10)

    /// Connects a stream. Throws `AdapterProblem.unreachable` when nothing listens at the address, or when
    /// the stream is not connected in time.
    private static func connect(
        _ address: StreamAddress, in folder: OpenFolder? = nil, on loop: EventLoop
    ) async throws(BLEError) -> CInt {
        let silence = BLEError.adapter(.unreachable(address, .system(.timedOut, during: "connect")))
        return try await withDeadline(connectLimit, on: loop, orThrow: silence) { () throws(BLEError) in
            switch await StreamSockets.connection(to: address, in: folder, on: loop) {
            case .success(let descriptor)?: return descriptor
            case .failure(let error)?:
                switch error.errno {
                case .connectionRefused, .noSuchFileOrDirectory, .timedOut:
                    throw .adapter(.unreachable(address, error))
                default: throw .port(error)
                }
            case nil: throw .cancelled
            }
        }
    }
}

// MARK: - Kernel

extension Adapter {
    private static func openKernel(
        _ specification: AdapterSpecification, _ management: KernelManagement, _ options: AdapterOptions,
        _ wanted: AdapterSpecification.KernelAdapter
    ) async throws(BLEError) -> Adapter {
        let (control, identity) = try await take(wanted, management, options)
        let name = "hci\(control.index)"
        let port: any PacketPort
        do throws(PortError) {
            port = traced(try control.kernel.raw(control.index, on: options.loop), name)
        } catch {
            await control.restore()
            throw .kernel(error, operation: .open(control.index), control.kernel.files)
        }
        let adapter = Adapter(
            specification, name: name, port: port, kernel: control, identity: identity, capture: nil, options)
        do throws(BLEError) {
            try await adapter.start()
            try await adapter.setUp(staticAddress: nil)
            await adapter.watchKernel()
            try await adapter.beginKernelPairing()
            return adapter
        } catch {
            await adapter.shutDown(error)
            await adapter.close()
            throw error
        }
    }

    /// Finds the adapter and switches it on.
    private static func take(
        _ wanted: AdapterSpecification.KernelAdapter, _ management: KernelManagement,
        _ options: AdapterOptions
    ) async throws(BLEError) -> (KernelControl, identity: DeviceAddress) {
        let kernel = management.kernel
        do throws(BLEError) {
            guard let found = try await management.adapters().first(where: { wanted.names($0, of: kernel) })
            else { throw .adapter(wanted.whyUnlisted(by: kernel, for: .kernel(wanted))) }
            let capture = try options.capture.map { sink throws(BLEError) in
                try KernelCapture(of: found.index, kernel, into: sink, on: options.loop)
            }
            let identity = try found.identity(kernel.files)
            if found.information.current.contains(.privacy) {
                Logger(label: "ble.hci\(found.index)").warning(
                    """
                    the kernel hides hci\(found.index) behind private addresses, but what this program advertises, and its \
                    scan requests, show \(identity)
                    """)
            }
            let lease = try await KernelLease.take(found.index, by: management)
            return (KernelControl(of: kernel, lease, management: management, capture: capture), identity)
        } catch {
            await management.close()
            throw error
        }
    }

    /// Observes the kernel: ends the adapter when it is removed or powered off, and pauses it while the
    /// system sleeps.
    private func watchKernel() async {
        guard let kernel else { return }
        let index = kernel.index
        await kernel.management.observe { [weak self] about, event in
            if about == index { self?.assumeIsolated { $0.received(event) } }
        } lost: { [weak self] count in
            self?.assumeIsolated { $0.lostEvents(count) }
        } ended: { [weak self] error in
            self?.assumeIsolated { $0.shutDown(error) }
        }
    }

    private func received(_ event: ManagementEvent) {
        switch event {
        case .removed:
            // Another adapter may get the index next.
            kernel?.lease.forget()
            shutDown(.adapter(.removed))
        case .suspended: suspend(true)
        case .resumed: suspend(false)
        case .settings(let settings) where settings.contains(.powered): waits.end(all: .powers, .success(()))
        case .settings: wasPoweredOff()
        default: receivedPairingEvent(event)
        }
    }

    /// Reads the state of the kernel's adapter, because the events that reported its changes may be among those
    /// that were lost.
    private func lostEvents(_ count: Int) {
        guard let kernel, end == nil else { return }
        log.warnOfLostPackets(count, of: "the kernel's management socket")
        // A process that runs is not asleep, or is about to be: then the event of the end follows.
        if common.isSuspended { suspend(false) }
        Task(executorPreference: loop) {
            do throws(BLEError) {
                let information = try await kernel.management.information(of: kernel.index)
                await self.received(.settings(information.current))
            } catch .adapter(.missing) {
                await self.received(.removed)
            } catch {
                self.log.warning("the state of the adapter is not known: \(error)")
            }
        }
    }
}

extension Adapter {
    /// Stops scans and advertising while the system sleeps: the kernel has stopped them, and they must not
    /// wake the system.
    private func suspend(_ isSuspended: Bool) {
        if common.isSuspended != isSuspended {
            log.info("the system \(isSuspended ? "is about to sleep" : "has slept")")
        }
        common.isSuspended = isSuspended
        settle()
    }

    /// Ends the adapter, which is off: a user or a program powered it off, or the kernel did because the
    /// adapter is about to be removed.
    private func wasPoweredOff() {
        guard let kernel, !recovery.switchesPower else { return }
        Task(executorPreference: loop) {
            let remaining = try? await kernel.management.adapters()
            let isThere = remaining?.contains { $0.index == kernel.index } ?? false
            kernel.lease.forget()
            await self.shutDown(.adapter(isThere ? .poweredOff : .removed))
        }
    }
}

// MARK: - Closing

extension Adapter {
    /// Ends everything that this process does on the adapter: scans, advertising, links. Returns when the
    /// commands for that are done.
    public func close() async {
        // Report the end first: operations that fail from now on must not count as given up by the code that
        // started them.
        if closing == nil, end == nil { reportEnd(.adapter(.closed)) }
        // A second caller waits for the same task.
        let closing = closing ?? Task(executorPreference: loop) { await self.closeAll() }
        self.closing = closing
        await closing.value
    }

    /// Runs `body` to its end even in a task that was cancelled, because cleanup must be completed.
    func uncancelled(_ body: @escaping @Sendable (Adapter) async -> Void) async {
        await Task(executorPreference: loop) { await body(self) }.value
    }

    private func closeAll() async {
        if end == nil { await endAll() }
        await saveBonds()
        for work in endWork { await work.value }
        // Otherwise the adapter could stay off, for all processes.
        _ = await powerCycle?.value
        await endKernelPairing()
        await kernel?.restore()
        await userChannel?.giveBack()
        kernel?.capture?.close()
    }

    private func endAll() async {
        // First, because the search for a periodic train makes the radio scan.
        endTrains(.failure(.adapter(.closed)))
        endScans(.failure(.adapter(.closed)))
        settle()
        stopAllAdvertising()
        failAllPending(.adapter(.closed))
        await untilRest(.pauses)
        await untilRest(.connecting)
        await untilRest(.changes)
        let endings = links.map(\.id).map { id in
            Task(executorPreference: loop) { await self.endLink(id) }
        }
        for ending in endings { await ending.value }
        await untilRest(.changes)
        shutDown(.adapter(.closed))
    }
}

extension Adapter {
    /// Takes a kernel adapter for this process alone.
    private static func openUserChannel(
        _ specification: AdapterSpecification, _ wanted: AdapterSpecification.KernelAdapter,
        _ options: AdapterOptions
    ) async throws(BLEError) -> Adapter {
        let (channel, port) = try await UserChannel.take(wanted, of: options.kernel, on: options.loop)
        return try await start(specification, on: port, options, of: channel)
    }

    /// Opens a serial port with a controller behind it.
    static func serialPort(
        _ path: String, baud: UInt32, flowControl: Bool, on loop: EventLoop
    ) throws(BLEError) -> any PacketPort {
        do throws(PortError) {
            let descriptor = try SerialLine.open(path, baud: baud, flowControl: flowControl)
            return H4Port(
                descriptor, on: loop, expecting: HCIPacketType.fromController, recovers: true)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .noSuchAddressOrDevice:
                throw .adapter(
                    .missing(.serial(path: path, baud: baud, flowControl: flowControl)))
            case .permissionDenied: throw .fileAccess(path: path)
            case .resourceBusy: throw .adapter(.inUse(.serialPort(path: path)))
            case .inappropriateIOCTLForDevice: throw .adapter(.notSerial(path: path))
            default: throw .port(error)
            }
        }
    }
}
