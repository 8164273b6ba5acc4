import BLECore
import Glibc
import HCISocket
import SystemPackage

/// The kernel's management socket as an object: sends commands, and reports what happens to adapters.
actor KernelManagement {
    /// An adapter as the kernel reports it.
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
    private var waiters: [ManagementQueue.Ticket: Waiter] = [:]
    private var observer: (@Sendable (_ index: UInt16, ManagementEvent) -> Void)?
    private var lost: (@Sendable (_ packets: Int) -> Void)?
    private var ended: (@Sendable (BLEError) -> Void)?
    private var end: BLEError?

    /// Opens the kernel's management socket.
    static func open(
        _ kernel: any Kernel = LinuxKernel(), on loop: EventLoop
    ) async throws(BLEError) -> KernelManagement {
        let port: any PacketPort
        do throws(PortError) {
            port = try kernel.management(on: loop)
        } catch {
            throw .kernel(error, operation: .listAdapters, kernel.files)
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
                    closed: { [weak self] error in self?.assumeIsolated { $0.finish(.port(error)) } },
                    lost: { [weak self] count in self?.assumeIsolated { $0.lost?(count) } }))
        } catch {
            throw .port(error)
        }
    }

    /// The maximum size of a command in octets.
    nonisolated var maximumCommand: Int { port.maximumSent }

    /// Calls `observer` with the kernel's events of its adapters, `lost` when the kernel has dropped packets
    /// because they came faster than they were read, and `ended` when the socket ends by itself.
    func observe(
        _ observer: (@Sendable (_ index: UInt16, ManagementEvent) -> Void)?,
        lost: (@Sendable (_ packets: Int) -> Void)? = nil,
        ended: (@Sendable (BLEError) -> Void)? = nil
    ) {
        (self.observer, self.lost, self.ended) = (observer, lost, ended)
        if let end { ended?(end) }
    }

    /// Closes the socket. Requests that wait throw `BLEError.adapter(.closed)`.
    func close() {
        port.close()
        (observer, lost, ended) = (nil, nil, nil)
        finish(.adapter(.closed))
    }

    /// Sends a command, and returns the return parameters of the kernel's answer.
    func request(
        _ command: ManagementCommand, index: UInt16, operation: BLEError.KernelOperation
    ) async throws(BLEError) -> [UInt8] {
        if let end { throw end }
        let ticket = queue.submit(command, index: index, at: loop.now)
        pump()
        // Not cancellable: the kernel answers within the queue's time limit.
        let result = await withCheckedContinuation {
            waiters[ticket] = Waiter(continuation: $0, command: command, index: index, operation: operation)
        }
        return try result.get()
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Result<[UInt8], BLEError>, Never>
        let command: ManagementCommand
        let index: UInt16
        let operation: BLEError.KernelOperation
    }

    /// Returns the error that a management status stands for.
    static func meaning(
        of status: ManagementStatus, index: UInt16, isPowerOn: Bool, _ operation: BLEError.KernelOperation,
        _ files: SystemFiles = SystemFiles()
    ) -> BLEError {
        if status == .permissionDenied {
            return .permission(.netAdmin, for: operation)
        }
        if status == .invalidIndex { return .adapter(.missing(.kernel(.index(index)))) }
        let block = files.block(of: index)
        if status == .rfkilled { return .adapter(.blocked(block ?? .software)) }
        guard isPowerOn else { return .managementRefused(operation, status) }
        // For a radio that rfkill blocks, some kernels report no more than "failed".
        return .adapter(block.map { .blocked($0) } ?? .cannotPower(index, .management(status)))
    }

    /// Returns all adapters with their settings.
    func adapters() async throws(BLEError) -> [KnownAdapter] {
        let list = try await request(
            .readIndexList, index: Management.Packet.noIndex, operation: .listAdapters)
        var found: [KnownAdapter] = []
        for index in Self.indices(list) {
            // An adapter can be removed between the list and this request.
            guard let information = try? await information(of: index) else { continue }
            found.append(KnownAdapter(index: index, information: information))
        }
        return found.sorted { $0.index < $1.index }
    }

    /// Returns the properties and settings of adapter `index`.
    func information(of index: UInt16) async throws(BLEError) -> Management.Information {
        let octets = try await request(.readInformation, index: index, operation: .readAdapter(index))
        do throws(DecodeError) {
            return try Management.Information(octets)
        } catch {
            throw .managementMalformed(.readAdapter(index), error)
        }
    }

    /// Returns the number of links of adapter `index`, of all programs and including those of BR/EDR, and the
    /// peers of its LE links.
    func connections(of index: UInt16) async throws(BLEError) -> (count: Int, peers: [DeviceAddress]) {
        let octets = try await request(
            .getConnections, index: index, operation: .listLinks(index))
        do throws(DecodeError) {
            let connections = try Management.Connections(octets)
            return (connections.count, connections.peers)
        } catch {
            throw .managementMalformed(.listLinks(index), error)
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
            case .answered(let ticket, let status, _): refused(ticket, status)
            case .timedOut(let ticket, let limit):
                timedOut(ticket, after: limit)
            case .event(let index, let event): observer?(index, event)
            case .malformed: break
            }
        }
        timer?.set(queue.deadline)
    }

    private func timedOut(_ ticket: ManagementQueue.Ticket, after limit: Duration) {
        guard let waiter = waiters[ticket] else { return }
        resume(ticket, .failure(.timedOut(.management(waiter.operation), after: limit)))
    }

    private func refused(_ ticket: ManagementQueue.Ticket, _ status: ManagementStatus) {
        guard let waiter = waiters[ticket] else { return }
        let isPowerOn = waiter.command == .setPowered(true)
        let error = Self.meaning(
            of: status, index: waiter.index, isPowerOn: isPowerOn, waiter.operation, kernel.files)
        resume(ticket, .failure(error))
    }

    private func resume(_ ticket: ManagementQueue.Ticket, _ result: Result<[UInt8], BLEError>) {
        waiters.removeValue(forKey: ticket)?.continuation.resume(returning: result)
    }

    private func finish(_ error: BLEError) {
        guard end == nil else { return }
        end = error
        for ticket in waiters.keys.sorted() { resume(ticket, .failure(error)) }
        timer?.set(nil)
        ended.take()?(error)
    }
}

extension BLEError {
    /// Returns the error that stands for a failed system call on a Bluetooth socket.
    static func kernel(
        _ error: PortError, operation: KernelOperation, capability: Capability = .netRaw,
        _ files: SystemFiles = SystemFiles()
    ) -> BLEError {
        switch error.errno {
        case .addressFamilyNotSupported, .protocolNotSupported: .adapter(files.whyNoSockets)
        case .permissionDenied, .notPermitted: .permission(capability, for: operation)
        case .init(rawValue: ENODEV), .noSuchAddressOrDevice: .adapter(.removed)
        default: .port(error)
        }
    }
}
