import BLECore

/// Identifies a request of this process to connect.
package struct ConnectTicket: Hashable, Sendable {
    let number: UInt64
}

/// The connections that this process is establishing: the requests for each device, and the search for it.
package struct ConnectState: Sendable {
    /// A caller's request for a link.
    package struct Request: Sendable {
        let ticket: ConnectTicket
        let options: ConnectionOptions
        /// Until when the radio listens for the device all the time; nil for as long as the request waits.
        let eagerUntil: Instant?

        package init(ticket: ConnectTicket, options: ConnectionOptions, eagerUntil: Instant? = nil) {
            (self.ticket, self.options, self.eagerUntil) = (ticket, options, eagerUntil)
        }

        /// Returns whether the radio listens for the device all the time.
        func isEager(at now: Instant) -> Bool { eagerUntil.map { now < $0 } ?? true }
    }

    /// A device that requests wait for; the requests share one attempt.
    private struct Pending {
        /// The requests, oldest first; never empty.
        var requests: [Request]

        /// The number of the oldest request.
        var number: UInt64 { requests.first?.ticket.number ?? 0 }
    }

    private var lastTicket: UInt64 = 0
    private var pending: [DeviceAddress: Pending] = [:]
    /// The number of connects to each device that pause between two attempts.
    private var pauses: [DeviceAddress: Int] = [:]
    /// The peers that the host searches for, because the controller does not know their private addresses.
    private var searched: Set<DeviceAddress> = []
    /// The time at which the scan parameters of that search change; nil if they stay as they are.
    private(set) var searchPaceEnd: Instant?
    /// The addresses at which those peers were found, each with its peer.
    private var routes: [DeviceAddress: DeviceAddress] = [:]

    // MARK: Requests

    /// The devices that requests wait for, in the order of their oldest requests.
    var devices: [DeviceAddress] { pending.sorted { $0.value.number < $1.value.number }.map(\.key) }

    /// Returns whether a request waits for a device.
    func isWaiting(for peer: DeviceAddress) -> Bool { pending[peer] != nil }

    /// Returns whether a connect to a device has not returned: it waits for the device, or pauses between two
    /// attempts.
    func isConnecting(to peer: DeviceAddress) -> Bool { isWaiting(for: peer) || pauses[peer] != nil }

    /// Records that a connect to a device begins a pause between two attempts.
    mutating func beginPause(before peer: DeviceAddress) { pauses[peer, default: 0] += 1 }

    mutating func endPause(before peer: DeviceAddress) {
        let left = pauses[peer, default: 1] - 1
        pauses[peer] = left > 0 ? left : nil
    }

    /// Returns the options of the oldest request for a device.
    func firstOptions(for peer: DeviceAddress) -> ConnectionOptions? {
        pending[peer]?.requests.first?.options
    }

    /// Returns all requests that wait for one of the devices, oldest first.
    func requests(for devices: Set<DeviceAddress>) -> [Request] {
        devices.flatMap { pending[wanted(by: $0)]?.requests ?? [] }
            .sorted { $0.ticket.number < $1.ticket.number }
    }

    /// Returns a new ticket.
    mutating func nextTicket() -> ConnectTicket {
        lastTicket += 1
        return ConnectTicket(number: lastTicket)
    }

    /// Adds a request that waits for a device. Returns true when it is the first one.
    mutating func wait(_ request: Request, for peer: DeviceAddress) -> Bool {
        let isFirst = pending[peer] == nil
        pending[peer, default: Pending(requests: [])].requests.append(request)
        return isFirst
    }

    /// Removes a request. Returns its device if no other request waits for that device.
    mutating func leave(_ ticket: ConnectTicket) -> DeviceAddress? {
        // In any order: a ticket waits for one device.
        for (peer, waiting) in pending where waiting.requests.contains(where: { $0.ticket == ticket }) {
            guard waiting.requests.count > 1 else { return peer }
            pending[peer]?.requests.removeAll { $0.ticket == ticket }
        }
        return nil
    }

    /// Removes a device. Returns the requests that waited for it.
    mutating func remove(_ peer: DeviceAddress) -> [Request] {
        pending.removeValue(forKey: peer)?.requests ?? []
    }

    /// Moves the requests for a device to its other address, which has become known.
    mutating func rename(_ old: DeviceAddress, _ new: DeviceAddress) {
        guard old != new, let waiting = pending.removeValue(forKey: old) else { return }
        pending[new, default: Pending(requests: [])].requests += waiting.requests
    }

    // MARK: Searches by the host

    /// Whether the host searches for any peers, and for a given one.
    var isSearching: Bool { !searched.isEmpty }
    func isSearching(for peer: DeviceAddress) -> Bool { searched.contains(peer) }

    /// Returns how to scan now for the peers that the host searches for; nil when there are none. Their
    /// requests can require LE Coded.
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

    /// Returns the peer that was found at `address`; if there is none, `address` itself.
    func wanted(by address: DeviceAddress) -> DeviceAddress { routes[address] ?? address }

    /// Begins to search for a peer.
    mutating func search(for peer: DeviceAddress) { searched.insert(peer) }

    /// Records that a peer that the host searches for was received with an address. Returns the addresses at
    /// which it was found before; nil when there is nothing new.
    mutating func find(_ peer: DeviceAddress, as address: DeviceAddress) -> [DeviceAddress]? {
        guard searched.contains(peer), routes[address] != peer else { return nil }
        let before = addresses(of: peer)
        for old in before { routes[old] = nil }
        routes[address] = peer
        return before
    }

    /// Ends the search for a peer. Returns the addresses at which it was found.
    mutating func endSearch(for peer: DeviceAddress) -> [DeviceAddress] {
        searched.remove(peer)
        let found = addresses(of: peer)
        for address in found { routes[address] = nil }
        return found
    }

    /// Ends all searches, and keeps the addresses at which peers were found. Returns the peers that were
    /// searched for, in the order of their addresses.
    mutating func endSearches() -> [DeviceAddress] {
        defer { searched = [] }
        return searched.sorted()
    }

    private func addresses(of peer: DeviceAddress) -> [DeviceAddress] {
        routes.filter { $0.value == peer }.map(\.key).sorted()
    }

    /// Drops all requests and searches.
    mutating func end() {
        pending.removeAll()
        searched.removeAll()
        routes.removeAll()
    }
}

/// The duty cycle with which the radio listens for devices that requests wait for: all the time at first, and
/// that of the background when all of the requests are patient (Core Specification 5.4, Vol 3, Part C, 9.3.11
/// and Appendix A).
struct ListeningPace {
    /// The duty cycle at present.
    let preset: ScanOptions.Preset
    /// When the duty cycle changes, if it does.
    let end: Instant?

    /// The time for which a request without a time limit is eager: TGAP(scan_fast_period).
    static let eagerTime = Duration.milliseconds(30_720)

    /// Uses the duty cycle of the most eager request; without any requests the radio listens all the time.
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
