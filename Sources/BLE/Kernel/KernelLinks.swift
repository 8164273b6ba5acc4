import BLECore
import HCI

/// The links of all processes on a kernel adapter, as the events of the raw socket report them. These report
/// a link before its channel arrives, and the reason of its end.
struct KernelLinks {
    private struct Entry {
        var radio: RadioParameters
        /// The peer's address; nil for a private address, because the link's channel can name the peer by its
        /// identity.
        let peer: DeviceAddress?
        /// Whether the adapter is the peripheral.
        let isPeripheral: Bool
        /// Whether this process has received the link's channel.
        var hasChannel: Bool
    }

    private var entries: [ConnectionHandle: Entry] = [:]
    /// The reasons why links ended whose channels have not reported their end yet.
    private var reasons: [ConnectionHandle: HCIStatus] = [:]

    var count: Int { entries.count }
    /// The number of links in which the adapter is the peripheral.
    var peripheralCount: Int { entries.values.count(where: \.isPeripheral) }

    /// Adds a link that has begun. Its channel may have arrived before.
    mutating func begin(
        _ handle: ConnectionHandle, to peer: DeviceAddress?, _ radio: RadioParameters, isPeripheral: Bool,
        hasChannel: Bool
    ) {
        let peer = peer.flatMap { $0.kind == .public || $0.kind == .static ? $0 : nil }
        entries[handle] = Entry(
            radio: radio, peer: peer, isPeripheral: isPeripheral, hasChannel: hasChannel)
        reasons[handle] = nil
    }

    /// Returns whether the link with this handle is to a device other than `peer`. A channel to `peer` that
    /// names the handle is then of an older link, which has ended.
    func isTaken(_ handle: ConnectionHandle, notBy peer: DeviceAddress) -> Bool {
        entries[handle]?.peer.map { $0 != peer } ?? false
    }

    /// Notes that a link's channel has arrived, and returns what is known of the link. A link that is not
    /// known may have begun before this process did: then an end that was reported is that of another link.
    mutating func channelCame(of handle: ConnectionHandle) -> RadioParameters? {
        entries[handle]?.hasChannel = true
        if entries[handle] == nil { reasons[handle] = nil }
        return entries[handle]?.radio
    }

    /// Returns whether there is a link with this handle in which the adapter is the peripheral, and whose
    /// channel this process has not received.
    func lacksChannel(_ handle: ConnectionHandle) -> Bool {
        entries[handle].map { $0.isPeripheral && !$0.hasChannel } ?? false
    }

    /// Changes what is known of a link.
    mutating func change(_ handle: ConnectionHandle, _ change: (inout RadioParameters) -> Void) {
        if var radio = entries[handle]?.radio {
            change(&radio)
            entries[handle]?.radio = radio
        }
    }

    /// Removes a link and keeps the reason of its end.
    mutating func end(_ handle: ConnectionHandle, _ reason: HCIStatus) {
        entries[handle] = nil
        reasons[handle] = reason
    }

    /// Returns the reason why the last link with this handle ended; nil while it is up, or once
    /// `channelEnded` has returned the reason.
    func reason(of handle: ConnectionHandle) -> HCIStatus? { reasons[handle] }

    /// Notes that a link's channel has ended, and returns the reason why the link did; nil when the event was
    /// lost, or the adapter is off.
    mutating func channelEnded(of handle: ConnectionHandle) -> HCIStatus? {
        if let reason = reasons.removeValue(forKey: handle) { return reason }
        entries[handle] = nil
        return nil
    }

    /// Removes all links after the adapter was switched off, or its controller was reset.
    mutating func removeAll() { entries.removeAll() }
}
