import BLECore
import HCISocket
import Logging

/// The state that a central manager and its copies keep for the next process, and the restored state that
/// they hold.
final class CentralRestoration: Sendable {
    private struct State {
        /// The restored links and scans that were not taken up yet.
        var links: [Peripheral.Identifier: HeldLink] = [:]
        var scans: [(number: UInt64, options: ScanOptions, stream: BoundedStream<Advertisement>)] = []
        /// The requests that have taken up, or are about to take up, a restored link with subscriptions.
        var owners: [SubscriptionOwner] = []
        /// Whether nothing is removed from the disk any more.
        var isLeaving = false
    }

    /// The request that inherits restored subscriptions, for as long as it exists.
    private struct SubscriptionOwner {
        weak var request: LinkRequest?
    }

    let adapter: Adapter
    let kept: KeptState<CentralState>
    let restored: RestoredCentralState
    private let state = Lock(State())
    private let log = Logger(label: "ble.restoration")

    /// Restores what the last process has kept.
    init(_ adapter: Adapter, _ kept: KeptState<CentralState>) async {
        self.adapter = adapter
        self.kept = kept
        restored = RestoredCentralState(kept)
        await adapter.endWithAdapter(kept) { kept, reason in kept.end(reason) }
        holdLinks()
        holdScans()
    }

    deinit { kept.end(.adapter(.closed)) }

    private func holdLinks() {
        let numbers = kept.value.links
        for device in restored.peripherals {
            let held = HeldLink(
                device, numbers: numbers.filter { $0.value.id == device.id }.map(\.key).sorted(), adapter)
            state.withLock { $0.links[device.id] = held }
            held.begin()
        }
    }

    private func holdScans() {
        for (number, options) in kept.value.scans.sorted(by: { $0.key < $1.key }) {
            let stream = CentralManager(adapter).scan(options)
            state.withLock { $0.scans.append((number, options, stream)) }
        }
    }

    /// Ends restored links, scans and subscriptions that were not taken up, of one device or of all.
    func dismiss(_ id: Peripheral.Identifier?) {
        let (links, scans, owners) = state.withLock { state in
            let links = state.links.filter { id == nil || $0.key == id }
            state.links = state.links.filter { links[$0.key] == nil }
            defer { if id == nil { state.scans = [] } }
            let owners = state.owners.compactMap(\.request).filter { id == nil || $0.id == id }
            return (links, id == nil ? state.scans : [], owners)
        }
        kept.change { state in
            let numbers = Set(links.values.flatMap(\.numbers))
            state.links = state.links.filter { !numbers.contains($0.key) }
            for scan in scans { state.scans[scan.number] = nil }
        }
        for (_, link) in links.sorted(by: { $0.key.address < $1.key.address }) { link.end() }
        for owner in owners { owner.dismissRestored() }
    }

    func keepForNextStart() { state.withLock { $0.isLeaving = true } }

    private var isLeaving: Bool { adapter.leaving.withLock { $0 } || state.withLock { $0.isLeaving } }

    /// Removes from the disk what the program has ended, unless it is kept for the next start.
    func forget(_ change: (inout CentralState) -> Void) {
        guard !isLeaving else { return }
        kept.changeSoon(change)
    }
}

// MARK: - Links

extension CentralRestoration {
    /// Records a request for links to a device, with its restored subscriptions. The request is on the disk
    /// when this returns.
    func request(
        for id: Peripheral.Identifier, _ options: ConnectionOptions, isMaintained: Bool = false
    ) async throws(BLEError) -> LinkRequest {
        let restored = state.withLock { $0.links[id]?.device.subscriptions ?? [] }
        let number = kept.change { state -> UInt64 in
            let number = state.number()
            state.links[number] = RestoredPeripheral(id, options: options, subscriptions: restored)
            return number
        }
        let request = LinkRequest(
            self, id, number: number ?? 0, isMaintained: isMaintained, restored: restored)
        if !restored.isEmpty {
            let isThere = state.withLock { state in
                state.owners.removeAll { $0.request == nil }
                state.owners.append(SubscriptionOwner(request: request))
                return state.links[id] != nil
            }
            // Dismissed meanwhile, or already taken up by another request.
            if !isThere { request.dismissRestored() }
        }
        do throws(BLEError) {
            try await kept.flush()
        } catch {
            request.end()
            throw error
        }
        return request
    }

    /// Connects for a request. The request takes up the restored link of its device, if there is one.
    func connect(
        _ request: LinkRequest, to address: DeviceAddress, timeout: Duration?, options: ConnectionOptions
    ) async throws(BLEError) -> Peripheral {
        let plain = try await CentralManager(adapter).connect(to: address, timeout: timeout, options: options)
        let time = adapter.timestamp
        kept.change { state in
            state.links[request.number]?.state = .connected
            state.note(request.id, at: time)
        }
        do throws(BLEError) {
            try await kept.flush()
        } catch {
            await plain.disconnect()
            throw error
        }
        if let held = state.withLock({ $0.links.removeValue(forKey: request.id) }) {
            let streams = held.streams(on: plain.link)
            // Values that came before the encryption can be those of another device.
            if held.device.options.encryptsIfBonded || !options.encryptsIfBonded { request.take(streams) }
            kept.changeSoon { state in for number in held.numbers { state.links[number] = nil } }
            held.end()
        }
        return Peripheral(plain, request)
    }
}

// MARK: - Scans

extension CentralRestoration {
    /// Starts a scan once its options are on the disk. `takeScan(_:)` takes up a restored scan instead.
    func scan(_ options: ScanOptions, into buffer: StreamBuffer<Advertisement>) {
        let number = kept.change { state -> UInt64 in
            let number = state.number()
            state.scans[number] = options
            return number
        }
        watch(buffer, number ?? 0)
        Task(executorPreference: adapter.loop) { [self] in
            do throws(BLEError) {
                try await kept.flush()
                await adapter.startScan(options, into: buffer)
            } catch {
                buffer.finish(.failure(error))
            }
        }
    }

    /// Takes up the restored scan with these options; nil if there is none, or if it has ended.
    func takeScan(_ options: ScanOptions) -> BoundedStream<Advertisement>? {
        let taken = state.withLock { state in
            state.scans.firstIndex { $0.options == options }.map { state.scans.remove(at: $0) }
        }
        guard let taken else { return nil }
        watch(taken.stream.buffer, taken.number)
        guard !taken.stream.buffer.hasEnded else { return nil }
        return taken.stream
    }

    /// Removes a scan from the disk when it ends.
    private func watch(_ buffer: StreamBuffer<Advertisement>, _ number: UInt64) {
        buffer.onEnd { [self] in forget { $0.scans[number] = nil } }
    }
}

extension Adapter {
    /// The time of day, by the clock of the bonds.
    nonisolated var timestamp: Timestamp { bondClock() }
}
