/// A value that reads itself from bytes.
package protocol PacketDecodable: Sendable {
    /// What the specification calls it, for errors.
    static var packetName: String { get }
    /// Reads the value at the cursor and moves past it. What follows is the caller's.
    init(decoding reader: inout ByteReader) throws(DecodeError)
}

extension PacketDecodable {
    /// Reads a value that is all of `bytes`: too few octets and too many are errors.
    @inlinable
    package init(_ bytes: Span<UInt8>) throws(DecodeError) {
        var reader = ByteReader(bytes, of: Self.packetName)
        try self.init(decoding: &reader)
        try reader.end()
    }

    /// Reads a value that is all of `bytes`: too few octets and too many are errors.
    @inlinable
    package init(_ bytes: [UInt8]) throws(DecodeError) { try self.init(bytes.span) }
}

/// A value that writes itself as bytes.
package protocol PacketEncodable: Sendable {
    /// Octets that `encode(into:)` writes, always exactly.
    var encodedCount: Int { get }
    /// Writes the value. `output` has room for `encodedCount` octets; the caller sees to it.
    func encode(into output: inout OutputSpan<UInt8>)
}

extension PacketEncodable {
    /// The value as bytes of its own.
    @inlinable
    package var encoded: [UInt8] {
        [UInt8](capacity: encodedCount) { encode(into: &$0) }
    }
}

/// A value that does both, and loses nothing on the way.
package typealias PacketCodable = PacketDecodable & PacketEncodable
