import BLECore
import HCISocket
import Logging

/// What a peripheral manager, with its copies, keeps for the next process, and what it holds of the last one.
final class PeripheralRestoration: Sendable {
    /// An advertisement that came back and was not taken up yet.
    private struct Held {
        let number: UInt64
        let content: RestoredAdvertising
        /// The task that restarts the advertisement.
        var task: Task<Advertising?, Never>?
    }

    private struct State {
        var held: [Held] = []
        /// Waits for services that are missing.
        var waiting: Task<Void, Never>?
        /// Whether nothing is taken off the disk any more.
        var isLeaving = false
    }

    /// How long services that are missing are waited for.
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
        // The server has `kept` for as long as the adapter.
        await adapter.endWithAdapter(kept) { [weak self] kept, reason in
            self?.letGo()
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
                // The program has no use for the others any more.
                self?.begin { _ in true }
            })
    }

    /// Waits in this way from now on.
    private func wait(_ next: Task<Void, Never>?) {
        let last = state.withLock { state in
            defer { state.waiting = next }
            return state.waiting
        }
        last?.cancel()
    }

    /// Puts advertisements that came back on the air.
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
            // The end of the adapter does not count: the advertisement is to come back.
            if await adapter.end == nil { forget(number) }
        }
        return advertising
    }

    /// Advertises what the disk has; what came back and is the same is taken up.
    func advertise(_ content: RestoredAdvertising) async throws(BLEError) -> Advertising {
        if let taken = await take(content) { return taken }
        let number = kept.change { state -> UInt64 in
            let number = state.number()
            state.advertising[number] = content
            return number
        }
        do throws(BLEError) {
            try await kept.flush()
            // What came back and is not wanted any more makes room, and does not come back again.
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
        // It could not be put on the air; now its owner tries, and gets the error.
        forget(held.number)
        return nil
    }

    /// Stops the oldest of what came back that is on the air and was not taken up; false when there is none.
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

    /// Stops what was not taken up.
    func dismiss() async throws(BLEError) {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for each in held {
            kept.change { $0.advertising[each.number] = nil }
            // It may wait for a link to end before it is on the air.
            each.task?.cancel()
            await each.task?.value?.stop()
        }
        try await kept.flush()
    }

    /// There is nothing to take up any more.
    private func letGo() {
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

    /// Waits until the disk has what has ended.
    func save() async {
        do throws(BLEError) {
            try await kept.flush()
        } catch {
            // The caller that stops something gets no error: at the worst it comes back.
            log.error("\(error)")
        }
    }
}

/// An advertisement of which the next process is to know.
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
