import BLECore

/// The Link Layer features of a device, as many octets of the mask as it cares to send (Core Specification
/// Supplement v11, Part A, 1.19; the bits are in Vol 6, Part B, 4.6).
package struct LESupportedFeatures: Hashable, Sendable {
    /// The mask, bits 0 to 7 first.
    package var octets: [UInt8]

    package init(octets: [UInt8]) { self.octets = octets }

    /// Whether the feature with that bit number is supported; what was not sent is not.
    package func contains(bit: Int) -> Bool {
        bit >= 0 && bit / 8 < octets.count && octets[bit / 8] >> (bit % 8) & 1 == 1
    }
}

extension LESupportedFeatures: PacketDecodable, PacketEncodable {
    package static var packetName: String { "LE Supported Features" }

    /// Takes all that is left; never throws.
    package init(decoding reader: inout ByteReader) throws(DecodeError) { octets = reader.rest() }

    package var encodedCount: Int { octets.count }

    package func encode(into output: inout OutputSpan<UInt8>) { output.bytes(octets) }
}
