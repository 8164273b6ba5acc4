import ATT

/// What one client is sent of values that were set together, each in the way that it asked for.
public struct Delivery: Hashable, Sendable {
    /// By notification, in this order.
    public var notifications: [ValueUpdate]
    /// By indication, in this order.
    public var indications: [ValueUpdate]
    /// Whether several notifications may go in one PDU, as many as fit (Core Specification 5.4, Vol 3, Part G, 4.10.2).
    public var packs: Bool
    /// Whether of a value over the MTU less 3 octets the beginning will do.
    public var truncates: Bool

    /// Values for one client.
    public init(
        notifications: [ValueUpdate] = [], indications: [ValueUpdate] = [], packs: Bool = false,
        truncates: Bool = false
    ) {
        (self.notifications, self.indications) = (notifications, indications)
        (self.packs, self.truncates) = (packs, truncates)
    }

    /// Whether there is nothing to send.
    public var isEmpty: Bool { notifications.isEmpty && indications.isEmpty }
}
