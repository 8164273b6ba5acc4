import HCISocket

/// What happened to a kernel adapter.
public enum AdapterChange: Hashable, Sendable {
    /// The adapter was present when the stream began, or has been added since.
    case added(AdapterDescription)
    /// The adapter's description has changed, for example its settings or its availability.
    case changed(AdapterDescription)
    /// The adapter was removed; the value is its last description.
    case removed(AdapterDescription)
}

extension Adapter {
    /// Reports the kernel's adapters: first those that are present, then each one that is added, changed or
    /// removed. Needs no capability. An adapter that is open in this process ends by itself when it is
    /// removed.
    ///
    /// ```swift
    /// for try await change in try await Adapter.changes() { print(change) }
    /// ```
    public static func changes(
        on loop: EventLoop = .shared
    ) async throws(BLEError) -> BoundedStream<AdapterChange> {
        try await changes(of: LinuxKernel(), on: loop)
    }

    static func changes(
        of kernel: any Kernel, on loop: EventLoop
    ) async throws(BLEError) -> BoundedStream<AdapterChange> {
        let management = try await KernelManagement.open(kernel, on: loop)
        let buffer = StreamBuffer<AdapterChange>(.standard)
        buffer.onEnd { Task(executorPreference: loop) { await management.close() } }
        let watch = AdapterWatch(management, buffer)
        await watch.start()
        return BoundedStream(buffer)
    }
}

/// Compares the present adapters with the reported ones whenever the kernel reports a change.
private actor AdapterWatch {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let management: KernelManagement
    private let buffer: StreamBuffer<AdapterChange>
    private var known: [UInt16: AdapterDescription] = [:]
    private var isLooking = false
    private var isStale = false
    private var timer: LoopTimer?
    /// The number of looks since an adapter that is not set up was found, which no event caused.
    private var furtherLooks = 0

    /// The maximum of `furtherLooks`, after 1, 2, 4, 8 and 16 s.
    private static let maximumFurtherLooks = 5

    init(_ management: KernelManagement, _ buffer: StreamBuffer<AdapterChange>) {
        loop = management.loop
        (self.management, self.buffer) = (management, buffer)
    }

    func start() async {
        // The observer retains the watch; the end of the management socket releases both.
        timer = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.lookSoon() } }
        await management.observe {
            [self] _, event in
            assumeIsolated { $0.received(event) }
        } lost: {
            [self] _ in
            assumeIsolated { $0.lookSoon() }
        }
        await look()
    }

    private func received(_ event: ManagementEvent) {
        switch event {
        case .added, .removed, .settings: lookSoon()
        default: break
        }
    }

    private func lookSoon() {
        isStale = true
        guard !isLooking else { return }
        Task(executorPreference: loop) { await self.look() }
    }

    /// Lists the adapters, one run at a time; changes that are reported meanwhile cause another run.
    private func look() async {
        guard !isLooking else { return }
        isLooking = true
        defer { isLooking = false }
        repeat {
            isStale = false
            do throws(BLEError) {
                let listed = try await management.adapters()
                compare(AdapterDescription.all(listed: listed, by: management.kernel))
            } catch {
                return buffer.finish(.failure(error))
            }
        } while isStale
        lookAgainAtAdaptersInTransition()
    }

    /// Schedules another look if an adapter is not set up. When a process takes an adapter for itself, the
    /// kernel removes it from the list before it marks it as in use, and reports no event afterwards.
    private func lookAgainAtAdaptersInTransition() {
        guard furtherLooks < Self.maximumFurtherLooks,
            known.values.contains(where: { $0.availability == .notSetUp })
        else { return }
        timer?.set(loop.now + .seconds(1 << furtherLooks))
        furtherLooks += 1
    }

    private func compare(_ present: [AdapterDescription]) {
        let now = Dictionary(uniqueKeysWithValues: present.map { ($0.index, $0) })
        let isNew = { (one: AdapterDescription) in self.known[one.index]?.availability != one.availability }
        if present.contains(where: { $0.availability == .notSetUp && isNew($0) }) { furtherLooks = 0 }
        for old in known.values.sorted(by: { $0.index < $1.index }) where now[old.index] == nil {
            buffer.yield(.removed(old))
        }
        for new in present {
            switch known[new.index] {
            case nil: buffer.yield(.added(new))
            // A different adapter now has the index.
            case let old? where old.address != new.address && old.availability != .notSetUp:
                buffer.yield(.removed(old))
                buffer.yield(.added(new))
            case let old? where old != new: buffer.yield(.changed(new))
            default: break
            }
        }
        known = now
    }
}
