import BLECore
import HCISocket

/// Names a request of this process to connect.
struct ConnectTicket: Hashable, Sendable {
    let number: UInt64
}

/// The connections that this process is making: who waits for which device, and how that is looked for.
struct ConnectState {
    /// A caller's request for a link.
    struct Request {
        let ticket: ConnectTicket
        let options: ConnectionOptions
        /// Until when the device is listened for all the time; nil: for as long as the request waits.
        var eagerUntil: Instant?

        /// Whether the device is listened for all the time.
        func isEager(at now: Instant) -> Bool { eagerUntil.map { now < $0 } ?? true }
    }

    /// A device that requests wait for; they share the attempt.
    private struct Pending {
        /// Oldest first; never empty.
        var requests: [Request]
        /// The kernel's attempt, and when the kernel was asked for it.
        var kernel: (any KernelAttempt)?
        var asked = Instant.zero
    }

    private var lastTicket: UInt64 = 0
    private var pending: [DeviceAddress: Pending] = [:]
    /// How many connects to a device pause between two attempts.
    private var pauses: [DeviceAddress: Int] = [:]
    /// Peers that the host looks for, since the controller does not know their private addresses.
    private var searched: Set<DeviceAddress> = []
    /// When the scan for those changes by itself.
    private(set) var searchPaceEnd: Instant?
    /// The addresses by which those are found, and who that is.
    private var routes: [DeviceAddress: DeviceAddress] = [:]

    // MARK: Who waits

    /// The devices that are waited for.
    var devices: [DeviceAddress] { Array(pending.keys) }

    /// Whether a device is waited for.
    func isWaiting(for peer: DeviceAddress) -> Bool { pending[peer] != nil }

    /// Whether a connect to a device has not returned: it waits for the device, or pauses between two attempts.
    func isConnecting(to peer: DeviceAddress) -> Bool { isWaiting(for: peer) || pauses[peer] != nil }

    /// A connect to a device begins a pause between two attempts.
    mutating func beginPause(before peer: DeviceAddress) { pauses[peer, default: 0] += 1 }

    mutating func endPause(before peer: DeviceAddress) {
        let left = pauses[peer, default: 1] - 1
        pauses[peer] = left > 0 ? left : nil
    }

    /// The options of the oldest request for a device.
    func firstOptions(for peer: DeviceAddress) -> ConnectionOptions? {
        pending[peer]?.requests.first?.options
    }

    /// All that wait for one of those devices, oldest request first.
    func requests(for devices: Set<DeviceAddress>) -> [Request] {
        devices.flatMap { pending[wanted(by: $0)]?.requests ?? [] }
            .sorted { $0.ticket.number < $1.ticket.number }
    }

    /// Returns a new ticket.
    mutating func nextTicket() -> ConnectTicket {
        lastTicket += 1
        return ConnectTicket(number: lastTicket)
    }

    /// A request waits for a device; true when it is the first.
    mutating func wait(_ request: Request, for peer: DeviceAddress) -> Bool {
        let isFirst = pending[peer] == nil
        pending[peer, default: Pending(requests: [])].requests.append(request)
        return isFirst
    }

    /// Removes a request. Returns its device if no other request waits for that device.
    mutating func leave(_ ticket: ConnectTicket) -> DeviceAddress? {
        for (peer, waiting) in pending where waiting.requests.contains(where: { $0.ticket == ticket }) {
            guard waiting.requests.count > 1 else { return peer }
            pending[peer]?.requests.removeAll { $0.ticket == ticket }
        }
        return nil
    }

    /// Nothing waits for a device any more: what did, and the kernel's attempt.
    mutating func remove(_ peer: DeviceAddress) -> (requests: [Request], kernel: (any KernelAttempt)?) {
        let waiting = pending.removeValue(forKey: peer)
        return (waiting?.requests ?? [], waiting?.kernel)
    }

    /// Those who wait for a device wait for it by another name, which is known now.
    mutating func rename(_ old: DeviceAddress, _ new: DeviceAddress) {
        guard old != new, let waiting = pending.removeValue(forKey: old) else { return }
        pending[new, default: Pending(requests: [])].requests += waiting.requests
    }

    // MARK: The kernel's attempts

    /// The kernel tries to connect to a device.
    mutating func began(_ attempt: any KernelAttempt, for peer: DeviceAddress, at now: Instant) {
        pending[peer]?.kernel = attempt
        pending[peer]?.asked = now
    }

    /// The kernel's attempt has ended; when it began, or nil when nothing waits for the device.
    mutating func ended(for peer: DeviceAddress) -> Instant? {
        pending[peer]?.kernel = nil
        return pending[peer]?.asked
    }

    /// Whether something waits for a device, and the kernel is not asked for it.
    func lacksAttempt(for peer: DeviceAddress) -> Bool { pending[peer].map { $0.kernel == nil } ?? false }

    // MARK: What the host looks for

    /// Whether the host looks for peers, and for this one.
    var isSearching: Bool { !searched.isEmpty }
    func isSearching(for peer: DeviceAddress) -> Bool { searched.contains(peer) }

    /// How to scan now for the peers that the host looks for; nil when there are none. Their requests may
    /// want LE Coded.
    mutating func search(at now: Instant) -> ScanOptions? {
        searchPaceEnd = nil
        guard !searched.isEmpty else { return nil }
        let requests = requests(for: searched)
        let pace = ListeningPace(of: requests, at: now)
        searchPaceEnd = pace.end
        var options = ScanOptions()
        options.isPassive = true
        options.repeats = .all
        options.preset = pace.preset
        if requests.contains(where: { $0.options.phys?.contains(.leCoded) ?? false }) {
            options.phys.insert(.leCoded)
        }
        return options
    }

    /// The device that is wanted by that address.
    func wanted(by address: DeviceAddress) -> DeviceAddress { routes[address] ?? address }

    /// The host looks for a peer.
    mutating func search(for peer: DeviceAddress) { searched.insert(peer) }

    /// A peer that the host looks for was received with an address; those by which it was found before, or nil when
    /// that is no news.
    mutating func find(_ peer: DeviceAddress, as address: DeviceAddress) -> [DeviceAddress]? {
        guard searched.contains(peer), routes[address] != peer else { return nil }
        let before = addresses(of: peer)
        for old in before { routes[old] = nil }
        routes[address] = peer
        return before
    }

    /// The host does not look for a peer any more; the addresses by which it was found.
    mutating func endSearch(for peer: DeviceAddress) -> [DeviceAddress] {
        searched.remove(peer)
        let found = addresses(of: peer)
        for address in found { routes[address] = nil }
        return found
    }

    /// The host looks for none any more, though they may be found by the addresses that they had; those that
    /// it looked for.
    mutating func endSearches() -> Set<DeviceAddress> {
        defer { searched = [] }
        return searched
    }

    private func addresses(of peer: DeviceAddress) -> [DeviceAddress] {
        routes.filter { $0.value == peer }.map(\.key)
    }

    /// Drops all requests, and cancels the kernel's attempts.
    mutating func end() {
        for waiting in pending.values { waiting.kernel?.cancel() }
        pending.removeAll()
        searched.removeAll()
        routes.removeAll()
    }
}

/// How the radio listens for devices that requests wait for: all the time at first, and in the background
/// when all of the requests are patient (Core Specification 5.4, Vol 3, Part C, 9.3.11 and Appendix A).
struct ListeningPace {
    /// The duty cycle at present.
    let preset: ScanOptions.Preset
    /// When the duty cycle changes, if it does.
    let end: Instant?

    /// How long a request that has no time limit is eager: TGAP(scan_fast_period).
    static let eagerTime = Duration.milliseconds(30_720)

    /// The most eager of those requests decides; without any it listens all the time.
    init(of requests: [ConnectState.Request], at now: Instant) {
        let eager = requests.filter { $0.isEager(at: now) }
        if eager.isEmpty,
            let preset = requests.map(\.options.background).max(by: { $0.timing.share < $1.timing.share })
        {
            (self.preset, end) = (preset, nil)
        } else {
            let ends = eager.compactMap(\.eagerUntil)
            (preset, end) = (.lowLatency, ends.count == eager.count ? ends.max() : nil)
        }
    }
}
