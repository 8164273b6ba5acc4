/// The number by which a controller names a connection, 0x0000 to 0x0eff (Core Specification 5.4, Vol 4,
/// Part E, 5.3.1).
package struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    /// The number; only 12 bits reach the wire.
    package let rawValue: UInt16

    /// The handle with the low 12 bits of that number.
    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue & 0x0fff }

    /// The handle with the low 12 bits of that number.
    @inlinable
    package init(_ rawValue: UInt16) { self.init(rawValue: rawValue) }
}

extension ConnectionHandle: CustomStringConvertible {
    /// The number in hexadecimal, for example `0x0040`.
    package var description: String { "0x" + rawValue.hex }
}

/// The part of a device on a link (Core Specification 5.4, Vol 1, Part A, 1.2).
package enum LinkRole: Hashable, Sendable {
    /// The device that has connected. When devices pair, it is the initiator.
    case central
    /// The device that has advertised. When devices pair, it is the responder.
    case peripheral
}
