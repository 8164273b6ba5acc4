/// A UUID of 16, 32 or 128 bits. The short forms are abbreviations of 128-bit UUIDs that are based on the
/// Bluetooth Base UUID `00000000-0000-1000-8000-00805f9b34fb` (Core Specification 5.4, Vol 3, Part B, 2.5.1).
/// UUIDs are compared by their 128 bits: `BluetoothUUID(0x180f)` equals its long form.
public struct BluetoothUUID: Hashable, Sendable {
    /// All 128 bits; the first octet of the text form is the most significant.
    public let value: UInt128

    @usableFromInline
    static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5f9b_34fb

    /// Creates a UUID from its 128 bits.
    @inlinable
    public init(_ value: UInt128) { self.value = value }

    /// Creates a 16-bit UUID of the Bluetooth SIG.
    @inlinable
    public init(_ short: UInt16) { self.init(uint32: UInt32(short)) }

    /// Creates a 32-bit UUID of the Bluetooth SIG.
    @inlinable
    public init(uint32: UInt32) { value = UInt128(uint32) &<< 96 | Self.base }

    /// Creates a random UUID of version 4 (RFC 9562, 5.4), for a service or characteristic of your own. Choose it once, as
    /// with `uuidgen`, and keep it in the program.
    public static func random() -> BluetoothUUID {
        let version = UInt128(0xf) << 76, variant = UInt128(3) << 62
        let random = UInt128.random(in: 0...UInt128.max)
        return BluetoothUUID(random & ~version & ~variant | UInt128(4) << 76 | UInt128(2) << 62)
    }

    /// The 32-bit form, or nil if this UUID is not based on the Bluetooth Base UUID.
    @inlinable
    public var uint32: UInt32? {
        value & ~(UInt128(UInt32.max) &<< 96) == Self.base ? UInt32(truncatingIfNeeded: value &>> 96) : nil
    }

    /// The 16-bit form, or nil if there is none.
    @inlinable
    public var uint16: UInt16? { uint32.flatMap(UInt16.init(exactly:)) }
}

extension BluetoothUUID {
    /// Parses a UUID from text: 4 or 8 hexadecimal digits with an optional `0x` prefix, or 32 digits with
    /// dashes, in either case.
    ///
    /// ```swift
    /// let service = try BluetoothUUID("6e400001-b5a3-f393-e0a9-e50e24dcca9e")
    /// let battery = try BluetoothUUID("180f")
    /// let checkedByTheCompiler: BluetoothUUID = 0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e
    /// ```
    public init(_ text: some StringProtocol) throws(InvalidUUID) {
        guard let uuid = Self.read(text) else { throw InvalidUUID(text: String(text)) }
        self = uuid
    }

    private static func read(_ text: some StringProtocol) -> BluetoothUUID? {
        let utf8 = Array(text.utf8)
        if utf8.count == 36 {
            let dashes = [8, 13, 18, 23]
            guard dashes.allSatisfy({ utf8[$0] == UInt8(ascii: "-") }) else { return nil }
            let digits = utf8.enumerated().filter { !dashes.contains($0.offset) }.map(\.element)
            guard let value = number(digits) else { return nil }
            return BluetoothUUID(value)
        }
        let digits =
            utf8.starts(with: "0x".utf8) || utf8.starts(with: "0X".utf8) ? utf8.dropFirst(2)[...] : utf8[...]
        guard digits.count == 4 || digits.count == 8, let value = number(digits) else { return nil }
        return BluetoothUUID(uint32: UInt32(truncatingIfNeeded: value))
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt128? {
        [UInt8](hex: String(decoding: digits, as: UTF8.self))?.reduce(0) { $0 << 8 | UInt128($1) }
    }
}

/// An error for text that is not a UUID.
public struct InvalidUUID: Error, Hashable, Sendable {
    /// The text that is not a UUID.
    public let text: String

    package init(text: String) { self.text = text }
}

extension InvalidUUID: CustomStringConvertible {
    /// The invalid text and the valid forms of a UUID.
    public var description: String {
        "\(text.debugDescription) is no UUID: 4 or 8 hexadecimal digits, or 32 with dashes"
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The shortest form in lower case: `180f`, `12345678`, or 128 bits with dashes.
    public var description: String { uint16?.hex ?? uint32?.hex ?? dashed }

    /// All 128 bits in lower case with dashes.
    public var dashed: String {
        var text = value.hex
        for position in [20, 16, 12, 8] {
            text.insert("-", at: text.index(text.startIndex, offsetBy: position))
        }
        return text
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// Creates a UUID of 16 or 32 bits if the number fits into 32 bits, otherwise one of 128 bits.
    @inlinable
    public init(integerLiteral value: UInt128) {
        if let short = UInt32(exactly: value) { self.init(uint32: short) } else { self.init(value) }
    }
}

/// The number of octets of a UUID on the wire. ATT has only 2 and 16 (Core Specification 5.4, Vol 3, Part F,
/// 3.2.1); advertising data and SDP also have 4.
@usableFromInline package enum UUIDWidth: Int, Hashable, Sendable, CaseIterable {
    case two = 2
    case four = 4
    case sixteen = 16
}

extension BluetoothUUID {
    /// The smallest width that holds this UUID.
    @inlinable
    package var width: UUIDWidth { uint16 != nil ? .two : uint32 != nil ? .four : .sixteen }
}

extension ByteReader {
    /// Reads a UUID of `width`, least significant octet first.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func uuid(_ width: UUIDWidth, _ field: String) throws(DecodeError) -> BluetoothUUID {
        switch width {
        case .two: BluetoothUUID(try u16(field))
        case .four: BluetoothUUID(uint32: try u32(field))
        case .sixteen: BluetoothUUID(try u128(field))
        }
    }

    /// Reads a UUID that takes up all remaining octets, which are 2 or 16 as in ATT requests.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func attUUID(_ field: String) throws(DecodeError) -> BluetoothUUID {
        switch remaining {
        case 2: BluetoothUUID(try u16(field))
        case 16: BluetoothUUID(try u128(field))
        default: throw failure(field, .malformed("a UUID has 2 or 16 octets, not \(remaining)"))
        }
    }
}

extension OutputSpan where Element == UInt8 {
    /// Writes a UUID in `width` octets. A width below the UUID's own, `BluetoothUUID.width`, cuts it to its
    /// low bits.
    @inlinable
    @_lifetime(self: copy self)
    package mutating func uuid(_ uuid: BluetoothUUID, width: UUIDWidth) {
        switch width {
        case .two: u16(UInt16(truncatingIfNeeded: uuid.value &>> 96))
        case .four: u32(UInt32(truncatingIfNeeded: uuid.value &>> 96))
        case .sixteen: u128(uuid.value)
        }
    }
}
