import BLECore

/// A field that is one little-endian integer on the wire, and an open set in the program: a conforming
/// type supplies a raw value and gets its coding.
package protocol IntegerField: PacketDecodable, PacketEncodable, RawRepresentable
where RawValue: FixedWidthInteger & Sendable {}

extension IntegerField {
    package var encodedCount: Int { RawValue.bitWidth / 8 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.little(UInt64(truncatingIfNeeded: rawValue), encodedCount)
    }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let width = RawValue.bitWidth / 8
        let number = try reader.little(width, Self.packetName)
        guard let value = Self(rawValue: RawValue(truncatingIfNeeded: number)) else {
            throw reader.invalid(Self.packetName, value: number, width: width)
        }
        self = value
    }
}
