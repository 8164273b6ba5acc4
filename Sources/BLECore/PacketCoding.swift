/// A value that can be decoded from bytes.
package protocol PacketDecodable: Sendable {
    /// The name of the value in the specification, for errors.
    static var packetName: String { get }
    /// Reads the value at the cursor and moves the cursor past it. The caller handles what follows.
    init(decoding reader: inout ByteReader) throws(DecodeError)
}

extension PacketDecodable {
    /// Decodes a value from all of `bytes`. Throws if there are too few or too many octets.
    @inlinable
    package init(_ bytes: Span<UInt8>) throws(DecodeError) {
        var reader = ByteReader(bytes, of: Self.packetName)
        try self.init(decoding: &reader)
        try reader.end()
    }

    /// Decodes a value from all of `bytes`. Throws if there are too few or too many octets.
    @inlinable
    package init(_ bytes: [UInt8]) throws(DecodeError) { try self.init(bytes.span) }
}

/// A value that can be encoded as bytes.
package protocol PacketEncodable: Sendable {
    /// The exact number of octets that `encode(into:)` writes.
    var encodedCount: Int { get }
    /// Writes the value. The caller ensures that `output` has room for `encodedCount` octets.
    func encode(into output: inout OutputSpan<UInt8>)
}

extension PacketEncodable {
    /// The value encoded as a new array of octets.
    @inlinable
    package var encoded: [UInt8] {
        [UInt8](capacity: encodedCount) { encode(into: &$0) }
    }
}

/// A value that can be both decoded and encoded without loss.
package typealias PacketCodable = PacketDecodable & PacketEncodable
