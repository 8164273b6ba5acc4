import BLECore
import HCISocket
import Logging

/// The state that a peripheral manager and its copies keep for the next process, and the restored state that
/// they hold.
final class PeripheralRestoration: Sendable {
    /// A restored advertisement that was not taken up yet.
    private struct Held {
        let number: UInt64
        let content: RestoredAdvertising
        /// The task that restarts the advertisement.
        var task: Task<Advertising?, Never>?
    }

    private struct State {
        var held: [Held] = []
        /// The task that waits for missing services.
        var waiting: Task<Void, Never>?
        /// Whether nothing is removed from the disk any more.
        var isLeaving = false
    }

    /// The maximum time to wait for missing services.
    static let timeLimit = Duration.seconds(5)

    let restored: RestoredPeripheralState
    private let adapter: Adapter
    private let kept: KeptState<ServingState>
    private let state = Lock(State())
    private let log = Logger(label: "ble.restoration")

    /// Restores what the last process has kept.
    init(
        _ adapter: Adapter, _ kept: KeptState<ServingState>, keepsUpdates: Bool
    ) async throws(BLEError) {
        self.adapter = adapter
        self.kept = kept
        restored = RestoredPeripheralState(kept)
        do throws(BLEError) {
            try await adapter.keepServing(KeptServing(state: kept, keepsUpdates: keepsUpdates))
        } catch {
            await kept.end(error).value
            throw error
        }
        // The server keeps `kept` for as long as the adapter exists.
        await adapter.endWithAdapter(kept) { [weak self] kept, reason in
            self?.release()
            return kept.end(reason)
        }
        let held = kept.value.advertising.sorted { $0.key < $1.key }
        state.withLock { $0.held = held.map { Held(number: $0.key, content: $0.value) } }
        begin { [restored] in restored.services.isEmpty || !$0.isConnectable }
    }

    deinit { wait(nil) }

    /// Records that services are published; the record is on the disk when this returns. Centrals can connect once all
    /// earlier services are published again: a bonded central that finds another database loses its subscriptions.
    func published() async throws(BLEError) {
        try await kept.flush()
        guard await adapter.lacksServices else {
            wait(nil)
            return begin { _ in true }
        }
        wait(
            Task(executorPreference: adapter.loop) { [weak self, adapter] in
                guard await adapter.loop.sleep(for: Self.timeLimit) else { return }
                // The program does not publish the missing services any more.
                self?.begin { _ in true }
            })
    }

    /// Replaces the task that waits, and cancels the one before.
    private func wait(_ next: Task<Void, Never>?) {
        let last = state.withLock { state in
            defer { state.waiting = next }
            return state.waiting
        }
        last?.cancel()
    }

    /// Starts the restored advertisements whose request matches.
    private func begin(_ isMeant: (AdvertisingRequest) -> Bool) {
        state.withLock { state in
            for index in state.held.indices
            where state.held[index].task == nil && isMeant(state.held[index].content.request) {
                let content = state.held[index].content
                let number = state.held[index].number
                state.held[index].task = Task(executorPreference: adapter.loop) { [self] in
                    do throws(BLEError) {
                        return try await start(content, number)
                    } catch {
                        log.warning("an advertisement is not brought back: \(error)")
                        return nil
                    }
                }
            }
        }
    }

    private func start(
        _ content: RestoredAdvertising, _ number: UInt64
    ) async throws(BLEError) -> Advertising {
        let plain = try await PeripheralManager(adapter).advertise(
            content.request, maximumLinks: content.maximumLinks)
        let advertising = Advertising(plain, KeptAdvertising(self, number))
        Task(executorPreference: adapter.loop) { [self, adapter] in
            _ = try? await plain.ended()
            // The end of the adapter does not count: the advertisement is to be restored.
            if await adapter.end == nil { forget(number) }
        }
        return advertising
    }

    /// Takes up the restored advertisement with this content. If there is none, writes the content to the
    /// disk and advertises it.
    func advertise(_ content: RestoredAdvertising) async throws(BLEError) -> Advertising {
        if let taken = await take(content) { return taken }
        let number = kept.change { state -> UInt64 in
            let number = state.number()
            state.advertising[number] = content
            return number
        }
        do throws(BLEError) {
            try await kept.flush()
            // Restored advertisements that were not taken up make room, and are not restored again.
            var hasDismissed = false
            while await adapter.hasAllSetsInUse, await dismissOldest() { hasDismissed = true }
            if hasDismissed { try await kept.flush() }
            return try await start(content, number ?? 0)
        } catch {
            if await adapter.end == nil, let number { forget(number) }
            throw error
        }
    }

    private func take(_ content: RestoredAdvertising) async -> Advertising? {
        begin { $0 == content.request }
        let held = state.withLock { state in
            state.held.firstIndex { $0.content == content }.map { state.held.remove(at: $0) }
        }
        guard let held else { return nil }
        let advertising = await withTaskCancellationHandler {
            await held.task?.value
        } onCancel: {
            held.task?.cancel()
        }
        if let advertising { return advertising }
        // The advertisement could not be started; now its owner tries, and gets the error.
        forget(held.number)
        return nil
    }

    /// Stops the oldest restored advertisement that was started and not taken up. Returns false when there is
    /// none.
    private func dismissOldest() async -> Bool {
        let held = state.withLock { state in
            state.held.firstIndex { $0.task != nil }.map { state.held.remove(at: $0) }
        }
        guard let held else { return false }
        forget(held.number)
        held.task?.cancel()
        await held.task?.value?.stop()
        return true
    }

    /// Stops the restored advertisements that were not taken up.
    func dismiss() async throws(BLEError) {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for each in held {
            kept.change { $0.advertising[each.number] = nil }
            // The advertisement may be waiting for a link to end before it starts.
            each.task?.cancel()
            await each.task?.value?.stop()
        }
        try await kept.flush()
    }

    /// Releases the restored advertisements, which cannot be taken up any more.
    private func release() {
        wait(nil)
        state.withLock { $0.held = [] }
    }

    func keepForNextStart() { state.withLock { $0.isLeaving = true } }

    private var isLeaving: Bool { adapter.leaving.withLock { $0 } || state.withLock { $0.isLeaving } }

    // MARK: Advertisements that change

    /// Forgets an advertisement that has ended.
    func forget(_ number: UInt64) {
        guard !isLeaving else { return }
        kept.changeSoon { $0.advertising[number] = nil }
    }

    /// Keeps the new request of an advertisement, and waits until it is stored.
    func change(_ number: UInt64, to request: AdvertisingRequest) async throws(BLEError) {
        kept.change { $0.advertising[number]?.request = request }
        try await kept.flush()
    }

    /// Waits until all changes are on the disk.
    func save() async {
        do throws(BLEError) {
            try await kept.flush()
        } catch {
            // A caller that stops something gets no error: at worst, it is restored at the next start.
            log.error("\(error)")
        }
    }
}

/// An advertisement that is kept for the next process.
struct KeptAdvertising: Sendable {
    private let restoration: PeripheralRestoration
    private let number: UInt64

    init(_ restoration: PeripheralRestoration, _ number: UInt64) {
        self.restoration = restoration
        self.number = number
    }

    /// Forgets the advertisement, which was stopped, and waits for the disk.
    func stopped() async {
        restoration.forget(number)
        await restoration.save()
    }

    /// Keeps the new request, and waits until it is stored.
    func changed(to request: AdvertisingRequest) async throws(BLEError) {
        try await restoration.change(number, to: request)
    }
}
