/// A UUID of 16, 32 or 128 bits. The short forms stand for 128-bit ones built on the Bluetooth Base UUID
/// `00000000-0000-1000-8000-00805f9b34fb` (Core Specification 5.4, Vol 3, Part B, 2.5.1), and equality
/// is that of the 128 bits: `BluetoothUUID(0x180f)` equals its long form.
public struct BluetoothUUID: Hashable, Sendable {
    /// All 128 bits, the first octet of the text form most significant.
    public let value: UInt128

    @usableFromInline
    static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5f9b_34fb

    /// Creates a UUID of 128 bits.
    @inlinable
    public init(_ value: UInt128) { self.value = value }

    /// A 16-bit UUID of the Bluetooth SIG.
    @inlinable
    public init(_ short: UInt16) { self.init(uint32: UInt32(short)) }

    /// A 32-bit UUID of the Bluetooth SIG.
    @inlinable
    public init(uint32: UInt32) { value = UInt128(uint32) &<< 96 | Self.base }

    /// The 32-bit form, when this UUID is built on the Base UUID.
    @inlinable
    public var uint32: UInt32? {
        value & ~(UInt128(UInt32.max) &<< 96) == Self.base ? UInt32(truncatingIfNeeded: value &>> 96) : nil
    }

    /// The 16-bit form, when there is one.
    @inlinable
    public var uint16: UInt16? { uint32.flatMap(UInt16.init(exactly:)) }
}

extension BluetoothUUID {
    /// Reads a UUID from text: 4 or 8 hexadecimal digits, which `0x` may precede, or 32 with dashes, in either case.
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

/// A text that spells no UUID.
public struct InvalidUUID: Error, Hashable, Sendable {
    /// The text that is no UUID.
    public let text: String

    package init(text: String) { self.text = text }
}

extension InvalidUUID: CustomStringConvertible {
    /// What was read, and what a UUID is.
    public var description: String {
        "\(text.debugDescription) is no UUID: 4 or 8 hexadecimal digits, or 32 with dashes"
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The shortest form: `180f`, `12345678` or 128 bits with dashes, lower-case.
    public var description: String { uint16?.hex ?? uint32?.hex ?? dashed }

    /// All 128 bits with dashes, lower-case.
    public var dashed: String {
        var text = value.hex
        for position in [20, 16, 12, 8] {
            text.insert("-", at: text.index(text.startIndex, offsetBy: position))
        }
        return text
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// A UUID of 16 or 32 bits when the number has no more, else one of 128.
    @inlinable
    public init(integerLiteral value: UInt128) {
        if let short = UInt32(exactly: value) { self.init(uint32: short) } else { self.init(value) }
    }
}

/// How many octets a UUID takes on the wire. ATT knows 2 and 16 only (Core Specification 5.4, Vol 3,
/// Part F, 3.2.1); advertising data and SDP know 4 as well.
@usableFromInline package enum UUIDWidth: Int, Hashable, Sendable, CaseIterable {
    case two = 2
    case four = 4
    case sixteen = 16
}

extension BluetoothUUID {
    /// The least width that holds this UUID.
    @inlinable
    package var width: UUIDWidth { uint16 != nil ? .two : uint32 != nil ? .four : .sixteen }
}

extension ByteReader {
    /// A UUID of `width`, least significant octet first.
    @inlinable
    package mutating func uuid(_ width: UUIDWidth, _ field: String) throws(DecodeError) -> BluetoothUUID {
        switch width {
        case .two: BluetoothUUID(try u16(field))
        case .four: BluetoothUUID(uint32: try u32(field))
        case .sixteen: BluetoothUUID(try u128(field))
        }
    }

    /// The UUID that all remaining octets are: 2 or 16 of them, as in ATT requests.
    @inlinable
    package mutating func attUUID(_ field: String) throws(DecodeError) -> BluetoothUUID {
        switch remaining {
        case 2: BluetoothUUID(try u16(field))
        case 16: BluetoothUUID(try u128(field))
        default: throw failure(field, .malformed("a UUID has 2 or 16 octets, not \(remaining)"))
        }
    }
}

extension OutputSpan where Element == UInt8 {
    /// A UUID in `width` octets; a width too small for it writes its low bits, so choose by `width`.
    @inlinable
    package mutating func uuid(_ uuid: BluetoothUUID, width: UUIDWidth) {
        switch width {
        case .two: u16(UInt16(truncatingIfNeeded: uuid.value &>> 96))
        case .four: u32(UInt32(truncatingIfNeeded: uuid.value &>> 96))
        case .sixteen: u128(uuid.value)
        }
    }
}
