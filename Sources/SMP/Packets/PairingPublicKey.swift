import BLECore

/// A public key on the P-256 curve: the body of Pairing Public Key (Core Specification 5.4, Vol 3, Part H,
/// 3.5.6). The pairing checks that it lies on the curve (2.3.5.6.1).
package struct PairingPublicKey: Hashable, Sendable {
    /// A 256-bit number in two halves, because Swift has no wider integer type.
    package struct Coordinate: Hashable, Sendable {
        /// The most significant half.
        package var high: UInt128
        /// The least significant half.
        package var low: UInt128

        package init(high: UInt128, low: UInt128) {
            self.high = high
            self.low = low
        }
    }

    package var x: Coordinate
    package var y: Coordinate

    package init(x: Coordinate, y: Coordinate) {
        self.x = x
        self.y = y
    }
}

extension PairingPublicKey: PacketCodable {
    package static var packetName: String { "Public key" }

    /// Reads 64 octets, X before Y, each least significant octet first.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        x = try Coordinate(decoding: &reader, "X")
        y = try Coordinate(decoding: &reader, "Y")
    }

    package var encodedCount: Int { 64 }

    /// Writes the 64 octets of both coordinates.
    package func encode(into output: inout OutputSpan<UInt8>) {
        x.encode(into: &output)
        y.encode(into: &output)
    }
}

extension PairingPublicKey.Coordinate {
    fileprivate init(decoding reader: inout ByteReader, _ field: String) throws(DecodeError) {
        low = try reader.u128(field)
        high = try reader.u128(field)
    }

    fileprivate func encode(into output: inout OutputSpan<UInt8>) {
        output.u128(low)
        output.u128(high)
    }
}
