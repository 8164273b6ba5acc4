import BLECore
import HCI

/// The links of a kernel adapter, of all processes, from the events of the raw socket. These report a link before its
/// channel comes, and why it ended.
struct KernelLinks {
    private struct Entry {
        var radio: RadioParameters
        /// The device at the other end, unless it hides behind an address that others may know better.
        let peer: DeviceAddress?
        /// Whether the adapter is the peripheral.
        let isPeripheral: Bool
        /// Whether this process has had the link's channel.
        var hasChannel: Bool
    }

    private var entries: [ConnectionHandle: Entry] = [:]
    /// Why links ended whose channels have not reported their end yet.
    private var reasons: [ConnectionHandle: HCIStatus] = [:]

    var count: Int { entries.count }
    /// How many links there are in which the adapter is the peripheral.
    var peripheralCount: Int { entries.values.count(where: \.isPeripheral) }

    /// A link has begun. Its channel may have come before.
    mutating func begin(
        _ handle: ConnectionHandle, to peer: DeviceAddress?, _ radio: RadioParameters, isPeripheral: Bool,
        hasChannel: Bool
    ) {
        let peer = peer.flatMap { $0.kind == .public || $0.kind == .static ? $0 : nil }
        entries[handle] = Entry(
            radio: radio, peer: peer, isPeripheral: isPeripheral, hasChannel: hasChannel)
        reasons[handle] = nil
    }

    /// Whether a link is there under that handle to a device that is not `peer`: a channel to `peer` that
    /// names the handle is of an older link, which has ended.
    func isTaken(_ handle: ConnectionHandle, notBy peer: DeviceAddress) -> Bool {
        entries[handle]?.peer.map { $0 != peer } ?? false
    }

    /// A link's channel has come; returns what is known of the link. It may have begun before this process did: then an
    /// end that was reported was another link's.
    mutating func channelCame(of handle: ConnectionHandle) -> RadioParameters? {
        entries[handle]?.hasChannel = true
        if entries[handle] == nil { reasons[handle] = nil }
        return entries[handle]?.radio
    }

    /// Whether a link is there in which the adapter is the peripheral, and whose channel this process has not had.
    func lacksChannel(_ handle: ConnectionHandle) -> Bool {
        entries[handle].map { $0.isPeripheral && !$0.hasChannel } ?? false
    }

    /// What is known of a link has changed.
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

    /// Why the last link with that handle ended; nil while it is there, or once `channelEnded` has returned the reason.
    func reason(of handle: ConnectionHandle) -> HCIStatus? { reasons[handle] }

    /// A link's channel has ended; returns why the link did. Nil: the event was lost, or the adapter is off.
    mutating func channelEnded(of handle: ConnectionHandle) -> HCIStatus? {
        if let reason = reasons.removeValue(forKey: handle) { return reason }
        entries[handle] = nil
        return nil
    }

    /// The adapter was switched off, or its controller reset.
    mutating func removeAll() { entries.removeAll() }
}
