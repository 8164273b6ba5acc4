import BLECore
import HCISocket

/// Names a request of this process to connect.
struct ConnectTicket: Hashable, Sendable {
    let number: UInt64
}

/// The connections that this process is making.
struct ConnectState {
    /// A request for a link.
    struct Request {
        let ticket: ConnectTicket
        let options: ConnectionOptions
    }

    /// A device that requests wait for; they share the attempt.
    struct Pending {
        /// Oldest first; never empty.
        var requests: [Request]
        /// The kernel's attempt.
        var kernel: (any KernelAttempt)?
        /// When the kernel was asked.
        var asked = Instant.zero
    }

    var nextTicket: UInt64 = 0
    var pending: [DeviceAddress: Pending] = [:]
    /// Peers that the host looks for, since the controller does not know their private addresses.
    var searched: Set<DeviceAddress> = []
    /// The addresses by which those are found, and who that is.
    var routes: [DeviceAddress: DeviceAddress] = [:]

    /// The options of all who wait for one of those devices, oldest request first.
    func options(for devices: Set<DeviceAddress>) -> [ConnectionOptions] {
        devices.flatMap { pending[wanted(by: $0)]?.requests ?? [] }
            .sorted { $0.ticket.number < $1.ticket.number }.map(\.options)
    }

    /// The device that is wanted by that address.
    func wanted(by address: DeviceAddress) -> DeviceAddress { routes[address] ?? address }

    /// How to scan for the peers that the host looks for; nil when there are none. Their requests may want LE Coded.
    var search: ScanOptions? {
        guard !searched.isEmpty else { return nil }
        var options = ScanOptions()
        options.isPassive = true
        options.repeats = .all
        if self.options(for: searched).contains(where: { $0.phys?.contains(.leCoded) ?? false }) {
            options.phys.insert(.coded)
        }
        return options
    }

    /// The host does not look for a peer any more; the addresses by which it was found.
    mutating func endSearch(for peer: DeviceAddress) -> [DeviceAddress] {
        searched.remove(peer)
        let addresses = routes.filter { $0.value == peer }.map(\.key)
        for address in addresses { routes[address] = nil }
        return addresses
    }

    /// Nobody waits any more, and the kernel's attempts end.
    mutating func end() {
        for pending in pending.values { pending.kernel?.cancel() }
        pending.removeAll()
        searched.removeAll()
        routes.removeAll()
    }
}
