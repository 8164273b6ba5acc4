/// An error for bytes that are not the expected packet: the packet, the field, its offset, and the reason.
///
/// Decoders throw no other errors and never trap, whatever the bytes.
public struct DecodeError: Error, Hashable, Sendable {
    /// The rule that the bytes violate.
    public enum Reason: Hashable, Sendable {
        /// The field needs `needed` octets, but only `available` were left.
        case truncated(needed: Int, available: Int)
        /// The packet was complete, and `count` octets followed it.
        case trailing(count: Int)
        /// The field holds a value that the specification does not allow here.
        case invalid(value: UInt64)
        /// The bytes violate a rule that a single number cannot express; the text describes it.
        case malformed(String)
    }

    /// The packet that was being read, by its name in the Core Specification.
    public var packet: String
    /// The field that was being read.
    public var field: String
    /// The offset of the field from the start of the packet, in octets.
    public var offset: Int
    /// The rule that the field violates.
    public var reason: Reason

    /// Creates an error at `offset` octets into `packet`.
    @inlinable
    public init(packet: String, field: String, offset: Int, reason: Reason) {
        self.packet = packet
        self.field = field
        self.offset = offset
        self.reason = reason
    }
}

extension DecodeError: CustomStringConvertible {
    /// One line for a log: "Read Request: handle at octet 1 needs 2 octets, 1 left".
    public var description: String {
        let place = "\(packet): \(field) at octet \(offset)"
        switch reason {
        case .truncated(let needed, let available):
            return "\(place) needs \(needed) octet\(needed == 1 ? "" : "s"), \(available) left"
        case .trailing(let count):
            return "\(place): \(count) octet\(count == 1 ? "" : "s") too many"
        case .invalid(let value):
            return "\(place) has the invalid value 0x\(String(value, radix: 16))"
        case .malformed(let why):
            return "\(place): \(why)"
        }
    }
}
