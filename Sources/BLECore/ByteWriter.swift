/// Writing, the counterpart of `ByteReader`: little-endian, into memory that the caller has sized by
/// `PacketEncodable.encodedCount`.
extension OutputSpan where Element == UInt8 {
    /// Writes an unsigned number in one octet.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u8(_ value: UInt8) { append(value) }

    /// Writes a signed number in one octet, in two's complement.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func i8(_ value: Int8) { append(UInt8(bitPattern: value)) }

    /// Writes two octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u16(_ value: UInt16) { little(UInt64(value), 2) }

    /// Writes the three low octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u24(_ value: UInt32) { little(UInt64(value), 3) }

    /// Writes four octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u32(_ value: UInt32) { little(UInt64(value), 4) }

    /// Writes the six low octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u48(_ value: UInt64) { little(value, 6) }

    /// Writes eight octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u64(_ value: UInt64) { little(value, 8) }

    /// Writes sixteen octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func u128(_ value: UInt128) {
        little(UInt64(truncatingIfNeeded: value), 8)
        little(UInt64(truncatingIfNeeded: value &>> 64), 8)
    }

    @inlinable
    @_lifetime(self: copy self)
    package mutating func little(_ value: UInt64, _ count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: value &>> UInt64(8 &* index))) }
    }

    /// Writes the octets of an array, in order.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func bytes(_ value: [UInt8]) { bytes(value.span) }

    /// Writes the octets of a slice, in order.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func bytes(_ value: ArraySlice<UInt8>) { bytes(value.span) }

    /// Writes the octets of a span, in order.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func bytes(_ value: Span<UInt8>) {
        for index in value.indices { append(value[index]) }
    }
}
