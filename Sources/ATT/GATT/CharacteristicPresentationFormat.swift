import BLECore

/// The format of a characteristic's value: the value of descriptor 0x2904 (Core Specification 5.4, Vol 3,
/// Part G, 3.3.3.5).
public struct CharacteristicPresentationFormat: Hashable, PacketCodable {
    /// The type of the value (3.3.3.5.2).
    public struct Format: RawRepresentable, Hashable, Sendable {
        /// The number of the format in the SIG's Assigned Numbers.
        public let rawValue: UInt8

        /// Creates a format from its number in the SIG's Assigned Numbers.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The data type of the value.
    public var format: Format
    /// The power of ten by which an integer value is multiplied.
    public var exponent: Int8
    /// The unit, from the SIG's Assigned Numbers: 0x272f is a degree Celsius, 0x2700 is no unit.
    public var unit: UInt16
    /// The organization that assigned `meaning`: 1 is the Bluetooth SIG.
    public var namespace: UInt8
    /// The number that distinguishes this value from others of its kind: 0x0106 is "main", 0 is none.
    public var meaning: UInt16

    /// Creates a format; without a unit and a meaning by default.
    public init(
        _ format: Format, exponent: Int8 = 0, unit: UInt16 = 0x2700, namespace: UInt8 = 1, meaning: UInt16 = 0
    ) {
        self.format = format
        self.exponent = exponent
        self.unit = unit
        self.namespace = namespace
        self.meaning = meaning
    }

    package static var packetName: String { "characteristic presentation format" }

    /// Reads the seven octets of the descriptor.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        format = Format(rawValue: try reader.u8("format"))
        exponent = try reader.i8("exponent")
        unit = try reader.u16("unit")
        namespace = try reader.u8("namespace")
        meaning = try reader.u16("description")
    }

    package var encodedCount: Int { 7 }

    /// Writes the seven octets of the descriptor.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(format.rawValue)
        output.i8(exponent)
        output.u16(unit)
        output.u8(namespace)
        output.u16(meaning)
    }
}

extension CharacteristicPresentationFormat.Format {
    /// A Boolean of one bit: 0 is false, 1 is true.
    public static let boolean = Self(rawValue: 0x01)
    /// Unsigned integers, named for their length in bits.
    public static let
        uint2 = Self(rawValue: 0x02),
        uint4 = Self(rawValue: 0x03),
        uint8 = Self(rawValue: 0x04),
        uint12 = Self(rawValue: 0x05),
        uint16 = Self(rawValue: 0x06),
        uint24 = Self(rawValue: 0x07),
        uint32 = Self(rawValue: 0x08),
        uint48 = Self(rawValue: 0x09),
        uint64 = Self(rawValue: 0x0a),
        uint128 = Self(rawValue: 0x0b)
    /// Signed integers, named for their length in bits.
    public static let
        sint8 = Self(rawValue: 0x0c),
        sint12 = Self(rawValue: 0x0d),
        sint16 = Self(rawValue: 0x0e),
        sint24 = Self(rawValue: 0x0f),
        sint32 = Self(rawValue: 0x10),
        sint48 = Self(rawValue: 0x11),
        sint64 = Self(rawValue: 0x12),
        sint128 = Self(rawValue: 0x13)
    /// A number of IEEE 754 in 32 bits.
    public static let float32 = Self(rawValue: 0x14)
    /// A number of IEEE 754 in 64 bits.
    public static let float64 = Self(rawValue: 0x15)
    /// A number of IEEE 11073-20601 in 16 bits (SFLOAT).
    public static let medFloat16 = Self(rawValue: 0x16)
    /// A number of IEEE 11073-20601 in 32 bits (FLOAT).
    public static let medFloat32 = Self(rawValue: 0x17)
    /// Two numbers of 16 bits, as in IEEE 11073-20601.
    public static let uint16Pair = Self(rawValue: 0x18)
    /// Text in UTF-8, to the end of the value.
    public static let utf8 = Self(rawValue: 0x19)
    /// Text in UTF-16, to the end of the value.
    public static let utf16 = Self(rawValue: 0x1a)
    /// A structure that no other format describes.
    public static let structure = Self(rawValue: 0x1b)
    /// A structure of IEEE 11073-20601 in ASN.1.
    public static let medASN1 = Self(rawValue: 0x1c)
}
