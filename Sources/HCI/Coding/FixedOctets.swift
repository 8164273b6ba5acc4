import BLECore

/// `width` octets, never more nor fewer.
package struct FixedOctets<let width: Int>: HCIField {
    package private(set) var octets: [UInt8]

    /// Those octets, or nil when there are not `width` of them.
    package init?(_ octets: [UInt8]) {
        guard octets.count == width else { return nil }
        self.octets = octets
    }

    /// Creates a value of `width` zero octets.
    package init() { octets = [UInt8](repeating: 0, count: width) }

    /// The octet at `index`, 0 to `width - 1`.
    package subscript(index: Int) -> UInt8 {
        get { octets[index] }
        set { octets[index] = newValue }
    }

    package init(reading reader: inout ByteReader) throws(DecodeError) {
        octets = try reader.bytes(width, "")
    }

    package var fieldWidth: Int { width }

    package func write(into output: inout OutputSpan<UInt8>) { output.bytes(octets) }
}

/// A public key on the curve P-256: X, then Y, 32 octets each, least significant first (Core Specification
/// 5.4, Vol 4, Part E, 7.8.37).
package typealias P256PublicKey = FixedOctets<64>

/// A Diffie-Hellman key, least significant octet first (Core Specification 5.4, Vol 4, Part E, 7.7.65.9).
package typealias DHKey = FixedOctets<32>
