import BLECore
import Glibc
import HCISocket
import SystemPackage

/// The kernel's management socket as an object: asks, and tells what happens to adapters.
actor KernelManagement {
    /// An adapter as the kernel has it.
    struct KnownAdapter: Hashable, Sendable {
        var index: UInt16
        var information: Management.Information
    }

    nonisolated let kernel: any Kernel
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let port: any PacketPort
    private var queue = ManagementQueue()
    private var timer: LoopTimer?
    private var waiters: [ManagementQueue.Ticket: CheckedContinuation<Result<[UInt8], BLEError>, Never>] = [:]
    private var observer: (@Sendable (_ index: UInt16, ManagementEvent) -> Void)?
    private var ended: (@Sendable (BLEError) -> Void)?
    private var end: BLEError?

    /// Opens the socket of `kernel`.
    static func open(
        _ kernel: any Kernel = LinuxKernel(), on loop: EventLoop
    ) async throws(BLEError) -> KernelManagement {
        let port: any PacketPort
        do throws(PortError) {
            port = try kernel.management(on: loop)
        } catch {
            throw .kernel(error, operation: "asking for the adapters", kernel.files)
        }
        let management = KernelManagement(kernel, on: loop, port)
        try await management.start()
        return management
    }

    private init(_ kernel: any Kernel, on loop: EventLoop, _ port: any PacketPort) {
        self.kernel = kernel
        self.loop = loop
        self.port = port
    }

    private func start() throws(BLEError) {
        timer = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.expire() } }
        do throws(PortError) {
            try port.start(
                PacketPortHandlers(
                    receive: { [weak self] packet in self?.assumeIsolated { $0.receive(packet) } },
                    writable: { [weak self] in self?.assumeIsolated { $0.pump() } },
                    closed: { [weak self] error in self?.assumeIsolated { $0.finish(.port(error)) } }))
        } catch {
            throw .port(error)
        }
    }

    /// The most octets of a command.
    nonisolated var maximumCommand: Int { port.maximumSent }

    /// Tells `observer` what the kernel tells of its adapters, and `ended` when the socket ends by itself.
    func observe(
        _ observer: (@Sendable (_ index: UInt16, ManagementEvent) -> Void)?,
        ended: (@Sendable (BLEError) -> Void)? = nil
    ) {
        self.observer = observer
        self.ended = ended
        if let end { ended?(end) }
    }

    /// Closes the socket.
    func close() {
        port.close()
        observer = nil
        ended = nil
        finish(.adapter(.closed))
    }

    /// Runs one command.
    func request(
        _ command: ManagementCommand, index: UInt16, operation: String
    ) async throws(BLEError) -> [UInt8] {
        if let end { throw end }
        let ticket = queue.submit(command, index: index, at: loop.now)
        pump()
        // Not cancellable: the kernel answers within the queue's time limit.
        let result = await withCheckedContinuation { waiters[ticket] = $0 }
        do throws(BLEError) {
            return try result.get()
        } catch .managementRefused(let status) {
            let isPowerOn = command == .setPowered(true)
            throw Self.meaning(of: status, index: index, isPowerOn: isPowerOn, operation, kernel.files)
        } catch {
            throw error
        }
    }

    /// What a refusal means.
    static func meaning(
        of status: ManagementStatus, index: UInt16, isPowerOn: Bool, _ operation: String,
        _ files: SystemFiles = SystemFiles()
    ) -> BLEError {
        if status == .permissionDenied {
            return .permission(capability: "CAP_NET_ADMIN", operation: operation)
        }
        if status == .invalidIndex { return .adapter(.missing("hci\(index)")) }
        let block = files.block(of: index)
        if status == .rfkilled { return .adapter(.blocked(block ?? .software)) }
        guard isPowerOn else { return .adapter(.unsupported("\(operation): \(status)")) }
        // Of a radio that rfkill holds off some kernels say no more than "failed".
        return .adapter(block.map { .blocked($0) } ?? .cannotPower("hci\(index): \(status)"))
    }

    /// All adapters with their settings.
    func adapters() async throws(BLEError) -> [KnownAdapter] {
        let list = try await request(
            .readIndexList, index: Management.Packet.noIndex, operation: "listing the adapters")
        var found: [KnownAdapter] = []
        for index in Self.indices(list) {
            // An adapter may go between the list and the question.
            guard let information = try? await information(of: index) else { continue }
            found.append(KnownAdapter(index: index, information: information))
        }
        return found.sorted { $0.index < $1.index }
    }

    /// What adapter `index` is, and how it is switched.
    func information(of index: UInt16) async throws(BLEError) -> Management.Information {
        let octets = try await request(.readInformation, index: index, operation: "reading hci\(index)")
        do throws(DecodeError) {
            return try Management.Information(octets)
        } catch {
            throw .adapter(.unsupported("what the kernel tells of hci\(index): \(error)"))
        }
    }

    /// How many links adapter `index` has, of whatever program and those of BR/EDR too, and to which devices of LE.
    func connections(of index: UInt16) async throws(BLEError) -> (count: Int, peers: [DeviceAddress]) {
        let octets = try await request(
            .getConnections, index: index, operation: "asking for the links of hci\(index)")
        do throws(DecodeError) {
            let connections = try Management.Connections(octets)
            return (connections.count, connections.peers)
        } catch {
            throw .adapter(.unsupported("what the kernel tells of the links of hci\(index): \(error)"))
        }
    }

    private static func indices(_ octets: [UInt8]) -> [UInt16] {
        var reader = ByteReader(octets.span, of: "Read Controller Index List")
        var indices: [UInt16] = []
        guard (try? reader.u16("count")) != nil else { return [] }
        while let index = try? reader.u16("index") { indices.append(index) }
        return indices
    }

    private func receive(_ packet: Span<UInt8>) {
        queue.receive(packet, at: loop.now)
        pump()
    }

    private func expire() {
        queue.expire(at: loop.now)
        pump()
    }

    private func pump() {
        while port.isWritable {
            let frame = [UInt8](capacity: queue.nextFrameCount) {
                _ = queue.nextFrame(into: &$0, at: loop.now)
            }
            guard !frame.isEmpty else { break }
            port.send(frame.span)
        }
        while let event = queue.nextEvent() {
            switch event {
            case .answered(let ticket, .success, let octets): resume(ticket, .success(octets))
            case .answered(let ticket, let status, _): resume(ticket, .failure(.managementRefused(status)))
            case .timedOut(let ticket, let limit):
                resume(ticket, .failure(.timedOut("the kernel's management socket", after: limit)))
            case .told(let index, let told): observer?(index, told)
            case .malformed: break
            }
        }
        timer?.set(queue.deadline)
    }

    private func resume(_ ticket: ManagementQueue.Ticket, _ result: Result<[UInt8], BLEError>) {
        waiters.removeValue(forKey: ticket)?.resume(returning: result)
    }

    private func finish(_ error: BLEError) {
        guard end == nil else { return }
        end = error
        for ticket in Array(waiters.keys) { resume(ticket, .failure(error)) }
        timer?.set(nil)
        ended.take()?(error)
    }
}

extension BLEError {
    /// What a failed system call on a Bluetooth socket means.
    static func kernel(
        _ error: PortError, operation: String, capability: String = "CAP_NET_RAW",
        _ files: SystemFiles = SystemFiles()
    ) -> BLEError {
        switch error.errno {
        case .addressFamilyNotSupported, .protocolNotSupported: .adapter(files.whyNoSockets)
        case .permissionDenied, .notPermitted: .permission(capability: capability, operation: operation)
        case .init(rawValue: ENODEV), .noSuchAddressOrDevice: .adapter(.removed)
        default: .port(error)
        }
    }
}
