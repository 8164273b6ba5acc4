/// The part of a device on a link (Core Specification 5.4, Vol 1, Part A, 1.2).
package enum LinkRole: Hashable, Sendable {
    /// The device that has connected. When devices pair, it is the initiator.
    case central
    /// The device that has advertised. When devices pair, it is the responder.
    case peripheral
}
