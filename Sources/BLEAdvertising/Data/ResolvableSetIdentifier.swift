import BLECore

/// Says to those who know its key which coordinated set a device belongs to (Coordinated Set
/// Identification Service 1.0.1, 3.1): a random part, and its hash under the key.
package struct ResolvableSetIdentifier: Hashable, Sendable {
    /// The 48 bits of both parts.
    package let value: UInt64

    /// The identifier of the low 48 bits.
    package init(_ value: UInt64) { self.value = value & 0xffff_ffff_ffff }

    /// The hash in the lower 24 bits.
    package var hash: UInt32 { UInt32(truncatingIfNeeded: value & 0xff_ffff) }
    /// The random part in the upper 24 bits.
    package var random: UInt32 { UInt32(truncatingIfNeeded: value >> 24) }
}

extension ResolvableSetIdentifier: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Resolvable Set Identifier" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        self.init(try reader.u48("resolvable set identifier"))
    }

    package var encodedCount: Int { 6 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u48(value) }
}
