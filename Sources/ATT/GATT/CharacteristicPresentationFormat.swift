import BLECore

/// How a characteristic's value is to be read: the value of descriptor 0x2904 (Core Specification 5.4, Vol
/// 3, Part G, 3.3.3.5).
public struct CharacteristicPresentationFormat: Hashable, PacketCodable {
    /// The type of the value (3.3.3.5.2).
    public struct Format: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt8

        /// The format with that number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The type of the value.
    public var format: Format
    /// The power of ten that an integer is to be multiplied by.
    public var exponent: Int8
    /// The unit, from the SIG's Assigned Numbers: 0x272f is a degree Celsius, 0x2700 none.
    public var unit: UInt16
    /// Who assigned `meaning`: 1 is the Bluetooth SIG.
    public var namespace: UInt8
    /// What tells this value from another of its kind: 0x0106 is "main", 0 none.
    public var meaning: UInt16

    /// A format; without unit and meaning where they are left out.
    public init(
        _ format: Format, exponent: Int8 = 0, unit: UInt16 = 0x2700, namespace: UInt8 = 1, meaning: UInt16 = 0
    ) {
        self.format = format
        self.exponent = exponent
        self.unit = unit
        self.namespace = namespace
        self.meaning = meaning
    }

    /// For errors.
    package static var packetName: String { "characteristic presentation format" }

    /// Reads the descriptor's value.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        format = Format(rawValue: try reader.u8("format"))
        exponent = try reader.i8("exponent")
        unit = try reader.u16("unit")
        namespace = try reader.u8("namespace")
        meaning = try reader.u16("description")
    }

    /// 7.
    package var encodedCount: Int { 7 }

    /// Writes the descriptor's value.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(format.rawValue)
        output.i8(exponent)
        output.u16(unit)
        output.u8(namespace)
        output.u16(meaning)
    }
}

extension CharacteristicPresentationFormat.Format {
    /// One bit: false or true.
    public static let boolean = Self(rawValue: 0x01)
    /// Unsigned, 2 bits.
    public static let uint2 = Self(rawValue: 0x02)
    /// Unsigned, 4 bits.
    public static let uint4 = Self(rawValue: 0x03)
    /// Unsigned, 8 bits.
    public static let uint8 = Self(rawValue: 0x04)
    /// Unsigned, 12 bits.
    public static let uint12 = Self(rawValue: 0x05)
    /// Unsigned, 16 bits.
    public static let uint16 = Self(rawValue: 0x06)
    /// Unsigned, 24 bits.
    public static let uint24 = Self(rawValue: 0x07)
    /// Unsigned, 32 bits.
    public static let uint32 = Self(rawValue: 0x08)
    /// Unsigned, 48 bits.
    public static let uint48 = Self(rawValue: 0x09)
    /// Unsigned, 64 bits.
    public static let uint64 = Self(rawValue: 0x0a)
    /// Unsigned, 128 bits.
    public static let uint128 = Self(rawValue: 0x0b)
    /// Signed, 8 bits.
    public static let sint8 = Self(rawValue: 0x0c)
    /// Signed, 12 bits.
    public static let sint12 = Self(rawValue: 0x0d)
    /// Signed, 16 bits.
    public static let sint16 = Self(rawValue: 0x0e)
    /// Signed, 24 bits.
    public static let sint24 = Self(rawValue: 0x0f)
    /// Signed, 32 bits.
    public static let sint32 = Self(rawValue: 0x10)
    /// Signed, 48 bits.
    public static let sint48 = Self(rawValue: 0x11)
    /// Signed, 64 bits.
    public static let sint64 = Self(rawValue: 0x12)
    /// Signed, 128 bits.
    public static let sint128 = Self(rawValue: 0x13)
    /// IEEE 754, 32 bits.
    public static let float32 = Self(rawValue: 0x14)
    /// IEEE 754, 64 bits.
    public static let float64 = Self(rawValue: 0x15)
    /// IEEE 11073, 16 bits.
    public static let medFloat16 = Self(rawValue: 0x16)
    /// IEEE 11073, 32 bits.
    public static let medFloat32 = Self(rawValue: 0x17)
    /// IEEE 20601: two 16-bit numbers.
    public static let uint16Pair = Self(rawValue: 0x18)
    /// A UTF-8 text.
    public static let utf8 = Self(rawValue: 0x19)
    /// A UTF-16 text.
    public static let utf16 = Self(rawValue: 0x1a)
    /// Something with a structure of its own.
    public static let structure = Self(rawValue: 0x1b)
    /// IEEE 11073-20601 medical structure.
    public static let medASN1 = Self(rawValue: 0x1c)
}
