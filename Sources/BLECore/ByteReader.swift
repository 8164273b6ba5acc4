/// A cursor over bytes that it does not own, for decoders of packets and of values. Reads are little-endian, like
/// Bluetooth (Core Specification 5.4, Vol 3, Part A, 1), and checked: a read past the end throws a `DecodeError`.
/// The name of each field is for that error. Devices that are not little-endian are read with `bigEndian16` and so
/// on.
///
/// ```swift
/// var reader = ByteReader(bytes.span, of: "Exchange MTU Request")
/// let opcode = try reader.u8("opcode")
/// let mtu = try reader.u16("client MTU")
/// try reader.end()
/// ```
public struct ByteReader: ~Escapable {
    @usableFromInline let bytes: Span<UInt8>
    /// The name of the packet that is being read, for errors.
    public let packet: String
    @usableFromInline var position: Int

    /// Creates a cursor at the first octet of `bytes`; `packet` is their name in errors.
    @inlinable
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, of packet: String) {
        self.bytes = bytes
        self.packet = packet
        self.position = 0
    }

    /// The number of octets read so far.
    @inlinable public var offset: Int { position }

    /// The number of octets not read yet.
    @inlinable public var remaining: Int { bytes.count &- offset }

    /// Returns the error for the field that begins at the cursor.
    @inlinable
    public func failure(_ field: String, _ reason: DecodeError.Reason) -> DecodeError {
        DecodeError(packet: packet, field: field, offset: offset, reason: reason)
    }

    /// Returns the error for a field of `width` octets that was just read and has the invalid value `value`.
    @inlinable
    public func invalid(_ field: String, value: some BinaryInteger, width: Int) -> DecodeError {
        DecodeError(
            packet: packet, field: field, offset: offset &- width,
            reason: .invalid(value: UInt64(truncatingIfNeeded: value)))
    }

    @inlinable
    @_lifetime(self: copy self)
    mutating func advance(_ count: Int, _ field: String) throws(DecodeError) -> Int {
        guard count >= 0, count <= remaining else {
            throw failure(field, .truncated(needed: count, available: remaining))
        }
        let start = offset
        position &+= count
        return start
    }

    /// Reads one octet as an unsigned number.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u8(_ field: String) throws(DecodeError) -> UInt8 {
        let at = try advance(1, field)
        return bytes[at]
    }

    /// Reads one octet as a signed number, in two's complement.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func i8(_ field: String) throws(DecodeError) -> Int8 {
        Int8(bitPattern: try u8(field))
    }

    /// Reads two octets as a signed number, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func i16(_ field: String) throws(DecodeError) -> Int16 {
        Int16(bitPattern: try u16(field))
    }

    /// Reads four octets as a signed number, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func i32(_ field: String) throws(DecodeError) -> Int32 {
        Int32(bitPattern: try u32(field))
    }

    /// Reads two octets, the most significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func bigEndian16(_ field: String) throws(DecodeError) -> UInt16 {
        try u16(field).byteSwapped
    }

    /// Reads four octets, the most significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func bigEndian32(_ field: String) throws(DecodeError) -> UInt32 {
        try u32(field).byteSwapped
    }

    /// Reads eight octets, the most significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func bigEndian64(_ field: String) throws(DecodeError) -> UInt64 {
        try u64(field).byteSwapped
    }

    /// Reads two octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u16(_ field: String) throws(DecodeError) -> UInt16 {
        let at = try advance(2, field)
        return UInt16(bytes[at]) | UInt16(bytes[at &+ 1]) &<< 8
    }

    /// Reads three octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u24(_ field: String) throws(DecodeError) -> UInt32 {
        let at = try advance(3, field)
        return UInt32(bytes[at]) | UInt32(bytes[at &+ 1]) &<< 8 | UInt32(bytes[at &+ 2]) &<< 16
    }

    /// Reads four octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u32(_ field: String) throws(DecodeError) -> UInt32 {
        UInt32(truncatingIfNeeded: try unsigned(octets: 4, field))
    }

    /// Reads six octets, the least significant first, as in Bluetooth addresses.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u48(_ field: String) throws(DecodeError) -> UInt64 {
        try unsigned(octets: 6, field)
    }

    /// Reads eight octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u64(_ field: String) throws(DecodeError) -> UInt64 {
        try unsigned(octets: 8, field)
    }

    /// Reads sixteen octets, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func u128(_ field: String) throws(DecodeError) -> UInt128 {
        guard remaining >= 16 else { throw failure(field, .truncated(needed: 16, available: remaining)) }
        let low = try unsigned(octets: 8, field)
        let high = try unsigned(octets: 8, field)
        return UInt128(high) &<< 64 | UInt128(low)
    }

    /// Reads `count` octets, up to 8, as an unsigned number, the least significant first.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func unsigned(octets count: Int, _ field: String) throws(DecodeError) -> UInt64 {
        let at = try advance(count, field)
        var value: UInt64 = 0
        for index in 0..<min(count, 8) {
            value |= UInt64(bytes[at &+ index]) &<< UInt64(8 &* index)
        }
        return value
    }

    /// Reads `count` octets into a new array.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func bytes(_ count: Int, _ field: String) throws(DecodeError) -> [UInt8] {
        let at = try advance(count, field)
        return [UInt8](copying: bytes.extracting(at..<(at &+ count)))
    }

    /// Reads `count` octets without copying them.
    @inlinable
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func span(_ count: Int, _ field: String) throws(DecodeError) -> Span<UInt8> {
        let at = try advance(count, field)
        return bytes.extracting(at..<(at &+ count))
    }

    /// Copies all remaining octets, of which there can be none.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func rest() -> [UInt8] {
        defer { position = bytes.count }
        return [UInt8](copying: bytes.extracting(offset..<bytes.count))
    }

    /// Returns all remaining octets in place, of which there can be none.
    @inlinable
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func restInPlace() -> Span<UInt8> {
        let start = offset
        position = bytes.count
        return bytes.extracting(start..<bytes.count)
    }

    /// Throws if octets remain.
    @inlinable
    public func end() throws(DecodeError) {
        guard remaining == 0 else { throw failure("end", .trailing(count: remaining)) }
    }
}

extension Array where Element == UInt8 {
    /// Copies the octets of `span`.
    @inlinable
    package init(copying span: Span<UInt8>) {
        self.init(capacity: span.count) { output in
            for index in span.indices { output.append(span[index]) }
        }
    }
}
