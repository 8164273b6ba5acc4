/// Numbers as octets, as values of characteristics and descriptors have them. `ByteReader` reads several fields, with
/// an error for those that are missing.
extension Array where Element == UInt8 {
    /// Creates the octets of `number`, as many as its type has, least significant first.
    @inlinable
    public init(littleEndian number: some FixedWidthInteger) {
        self.init()
        reserveCapacity(number.bitWidth / 8)
        append(littleEndian: number)
    }

    /// Appends the octets of `number`, as many as its type has, least significant first.
    @inlinable
    public mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for index in 0..<Number.bitWidth / 8 {
            append(UInt8(truncatingIfNeeded: number &>> Number(truncatingIfNeeded: 8 &* index)))
        }
    }

    /// Creates the octets of `number`, as many as its type has, most significant first.
    @inlinable
    public init(bigEndian number: some FixedWidthInteger) {
        self = [UInt8](littleEndian: number.byteSwapped)
    }

    /// Appends the octets of `number`, as many as its type has, most significant first.
    @inlinable
    public mutating func append(bigEndian number: some FixedWidthInteger) {
        append(littleEndian: number.byteSwapped)
    }
}

extension FixedWidthInteger {
    /// Creates the number from `octets`, least significant first. Missing octets are zero; octets beyond the
    /// width of the type are ignored.
    @inlinable
    public init(littleEndian octets: some BidirectionalCollection<UInt8>) {
        self = octets.prefix(Self.bitWidth / 8).reversed().reduce(0) { number, octet in
            number << 8 | Self(truncatingIfNeeded: octet)
        }
    }

    /// Creates the number from `octets`, most significant first. Without octets it is zero; of more octets than the
    /// type has, only the last ones are used.
    @inlinable
    public init(bigEndian octets: some Collection<UInt8>) {
        self = octets.suffix(Self.bitWidth / 8).reduce(0) { number, octet in
            number << 8 | Self(truncatingIfNeeded: octet)
        }
    }
}
