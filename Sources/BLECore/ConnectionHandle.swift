/// The number that identifies a connection of a controller, 0x0000 to 0x0eff (Core Specification 5.4, Vol 4,
/// Part E, 5.3.1).
package struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    /// The number; only its low 12 bits are encoded.
    package let rawValue: UInt16

    /// Creates a handle from the low 12 bits of `rawValue`.
    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue & 0x0fff }

    /// Creates a handle from the low 12 bits of `rawValue`.
    @inlinable
    package init(_ rawValue: UInt16) { self.init(rawValue: rawValue) }
}

extension ConnectionHandle: CustomStringConvertible {
    /// The number in hexadecimal, for example `0x0040`.
    package var description: String { "0x" + rawValue.hex }
}

/// The role of a device on a link (Core Specification 5.4, Vol 1, Part A, 1.2).
package enum LinkRole: Hashable, Sendable {
    /// The device that initiated the connection. During pairing it is the initiator.
    case central
    /// The device that advertised. During pairing it is the responder.
    case peripheral
}
