/// Numbers as octets outside of packets: values of characteristics and descriptors, and entries of lists.
/// Packets are read by `ByteReader` and written through `OutputSpan`.
extension Array where Element == UInt8 {
    /// Creates the octets of `number`, as many as its type has, least significant first.
    @inlinable
    package init(littleEndian number: some FixedWidthInteger) {
        self.init()
        reserveCapacity(number.bitWidth / 8)
        append(littleEndian: number)
    }

    /// Appends the octets of `number`, as many as its type has, least significant first.
    @inlinable
    package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for index in 0..<Number.bitWidth / 8 {
            append(UInt8(truncatingIfNeeded: number &>> Number(truncatingIfNeeded: 8 &* index)))
        }
    }
}

extension FixedWidthInteger {
    /// Creates the number from `octets`, least significant first. Missing octets are zero; octets beyond the
    /// width of the type are ignored.
    @inlinable
    package init(littleEndian octets: some BidirectionalCollection<UInt8>) {
        self = octets.prefix(Self.bitWidth / 8).reversed().reduce(0) { number, octet in
            number << 8 | Self(truncatingIfNeeded: octet)
        }
    }
}
