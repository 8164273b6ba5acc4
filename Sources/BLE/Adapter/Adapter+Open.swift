import BLECore
import HCI
import HCISocket
import SystemPackage
import VirtualController

extension Adapter {
    /// Opens the adapter that `specification` names. Kernel adapters that are off are powered on, and off
    /// again when they are closed; all others are reset, since they are ours alone.
    public static func open(
        _ specification: AdapterSpecification, options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        switch specification {
        case .stream(let address):
            let port = H4Port(try await connect(address, on: options.loop), on: options.loop)
            return try await start(specification, on: port, options)
        case .virtual(let name):
            return try await openVirtual(specification, name: name ?? "", options)
        case .kernel(let wanted):
            let management = try await KernelManagement.open(on: options.loop)
            return try await openKernel(specification, management, options) { adapter in
                switch wanted {
                case .index(let index): adapter.index == index
                case .address(let address): adapter.information.address == address
                }
            }
        case .userChannel: throw .adapter(.unsupported("the HCI user channel, in this version"))
        case .serial: throw .adapter(.unsupported("serial ports, in this version"))
        }
    }

    /// Opens the controller behind `port`, which carries HCI packets in H4 form and is this host's alone:
    /// a simulated one of a test, or a transport of one's own.
    public static func open(
        on port: any PacketPort, name: String = "port", options: AdapterOptions = AdapterOptions()
    ) async throws(BLEError) -> Adapter {
        try await start(.virtual(name: name), on: port, options)
    }

    private static func start(
        _ specification: AdapterSpecification, on port: any PacketPort, _ options: AdapterOptions,
        claiming name: String? = nil
    ) async throws(BLEError) -> Adapter {
        let adapter = Adapter(
            on: options.loop, specification, name: specification.description, port: port, kernel: nil,
            identity: DeviceAddress(0, type: .public), capture: options.capture)
        do throws(BLEError) {
            try await adapter.start()
            var address: DeviceAddress?
            if let name { address = try await adapter.claim(name) }
            try await adapter.bringUp(staticAddress: address)
            return adapter
        } catch {
            await adapter.shutDown(error)
            throw error
        }
    }
}

// MARK: - Virtual

extension Adapter {
    private static func openVirtual(
        _ specification: AdapterSpecification, name: String, _ options: AdapterOptions
    ) async throws(BLEError) -> Adapter {
        let path = options.airPath ?? AirServer.defaultPath
        let address = StreamAddress.unix(path: path)
        let descriptor: CInt
        do throws(BLEError) {
            descriptor = try await connect(address, on: options.loop)
        } catch .adapter(.missing) {
            try await options.airLauncher.launch(path, options.loop)
            descriptor = try await connect(address, on: options.loop)
        }
        return try await start(
            specification, on: H4Port(descriptor, on: options.loop), options, claiming: name)
    }

    /// Asks the air for the static address that belongs to `name`.
    private func claim(_ name: String) async throws(BLEError) -> DeviceAddress {
        guard let command = ClaimName(name) else {
            throw .limit(
                "the name of a virtual adapter", limit: ClaimName.maximumLength, value: name.utf8.count)
        }
        guard let answer = try? ClaimName.Answer(try await exchange(command.packet)) else {
            throw .adapter(.unsupported("the names of the virtual air"))
        }
        switch answer.status {
        case .success: return answer.address
        case .commandDisallowed: throw .adapter(.inUse("process \(answer.holder)"))
        default: throw .hci(answer.status, command: ClaimName.opcode)
        }
    }

    /// Connects a stream; nobody listening there is a missing adapter.
    private static func connect(_ address: StreamAddress, on loop: EventLoop) async throws(BLEError) -> CInt {
        let result = await withCheckedContinuation { continuation in
            loop.execute {
                do throws(PortError) {
                    _ = try StreamSockets.connect(to: address, on: loop) {
                        continuation.resume(returning: $0)
                    }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        switch result {
        case .success(let descriptor): return descriptor
        case .failure(let error):
            switch error.errno {
            case .connectionRefused, .noSuchFileOrDirectory: throw .adapter(.missing("there (\(error))"))
            default: throw .port(error)
            }
        }
    }
}

// MARK: - Kernel

extension Adapter {
    private static func openKernel(
        _ specification: AdapterSpecification, _ management: KernelManagement, _ options: AdapterOptions,
        where isWanted: (KernelManagement.KnownAdapter) -> Bool
    ) async throws(BLEError) -> Adapter {
        do throws(BLEError) {
            guard let found = try await management.adapters().first(where: isWanted) else {
                throw .adapter(.missing("\(specification)"))
            }
            let name = "hci\(found.index)"
            let capture = try options.capture.map { sink throws(BLEError) in
                try KernelCapture(of: found.index, into: sink, on: options.loop)
            }
            let wasOff = try await management.prepare(found)
            let port: PacketSocket
            do throws(PortError) {
                port = try HCISockets.raw(found.index, on: options.loop)
            } catch {
                throw .kernel(error, operation: "opening \(name)")
            }
            let adapter = Adapter(
                on: options.loop, specification, name: name, port: port,
                kernel: KernelControl(
                    index: found.index, management: management, wasOff: wasOff, capture: capture),
                identity: DeviceAddress(found.information.address, type: .public), capture: nil)
            try await adapter.start()
            try await adapter.bringUp(staticAddress: nil)
            await adapter.watchKernel()
            return adapter
        } catch {
            await management.close()
            throw error
        }
    }

    /// Ends the adapter when the kernel loses it.
    private func watchKernel() async {
        guard let kernel else { return }
        let index = kernel.index
        await kernel.management.observe { [weak self] event in
            switch event {
            case .removed(index): self?.assumeIsolated { $0.shutDown(.adapter(.removed)) }
            case .settings(index, let settings) where !settings.contains(.powered):
                self?.assumeIsolated { $0.wasPoweredOff() }
            default: break
            }
        }
    }
}

extension Adapter {
    /// The adapter is off: somebody switched it off, or the kernel did because it is about to go.
    private func wasPoweredOff() {
        guard let kernel else { return }
        Task(executorPreference: loop) {
            let remaining = try? await kernel.management.adapters()
            let isThere = remaining?.contains { $0.index == kernel.index } ?? false
            await self.shutDown(.adapter(isThere ? .poweredOff : .removed))
        }
    }
}

extension KernelManagement {
    /// Switches LE and power on where they are off; whether the adapter was off.
    fileprivate func prepare(_ adapter: KnownAdapter) async throws(BLEError) -> Bool {
        let index = adapter.index
        guard adapter.information.supported.contains(.lowEnergy) else {
            throw .adapter(.unsupported("Bluetooth Low Energy"))
        }
        if !adapter.information.current.contains(.lowEnergy) {
            _ = try await request(
                .setLowEnergy, index: index, [1], operation: "switching LE on for hci\(index)")
        }
        guard !adapter.information.current.contains(.powered) else { return false }
        _ = try await request(.setPowered, index: index, [1], operation: "powering hci\(index) on")
        return true
    }
}

// MARK: - Closing

extension Adapter {
    /// Ends everything that this process does on the adapter: scans, advertising, links. Returns when the
    /// radio has been told.
    public func close() async {
        await uncancelled { await $0.closeAll() }
    }

    /// Cleaning up is done to its end, also by a task that was cancelled.
    func uncancelled(_ body: @escaping @Sendable (Adapter) async -> Void) async {
        await Task(executorPreference: loop) { await body(self) }.value
    }

    private func closeAll() async {
        guard end == nil else { return }
        scanning.finishAll(.failure(.adapter(.closed)))
        reconcileScan()
        if let active = advertising.wanted { await stopAdvertising(active.id) }
        for id in Array(links.keys) { await disconnect(id) }
        await radioIdle()
        shutDown(.adapter(.closed))
        await kernel?.restore()
        kernel?.capture?.close()
    }
}
