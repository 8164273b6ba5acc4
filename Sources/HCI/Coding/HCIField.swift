import BLECore

/// A parameter of a command or an event, which can be decoded and encoded and keeps all its bits, so that an
/// unknown value survives decoding and encoding.
package protocol HCIField: Hashable, Sendable {
    /// Reads the parameter at the cursor. Errors have an empty field name, because only the layout knows the
    /// name of the parameter and fills it in.
    init(reading reader: inout ByteReader) throws(DecodeError)
    /// The number of octets that `write(into:)` writes.
    var fieldWidth: Int { get }
    /// Writes the parameter in exactly `fieldWidth` octets.
    func write(into output: inout OutputSpan<UInt8>)
}

/// Integers are little-endian and have the width of their type.
extension HCIField where Self: FixedWidthInteger {
    /// Reads `bitWidth / 8` octets, least significant first.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        let width = Self.bitWidth / 8
        guard reader.remaining >= width else {
            throw reader.failure("", .truncated(needed: width, available: reader.remaining))
        }
        self = 0
        for index in 0..<width {
            self |= Self(truncatingIfNeeded: try reader.u8("")) &<< Self(truncatingIfNeeded: 8 &* index)
        }
    }

    package var fieldWidth: Int { Self.bitWidth / 8 }

    /// Writes `bitWidth / 8` octets, least significant first.
    package func write(into output: inout OutputSpan<UInt8>) {
        for index in 0..<fieldWidth {
            output.u8(UInt8(truncatingIfNeeded: self &>> Self(truncatingIfNeeded: 8 &* index)))
        }
    }
}

extension UInt8: HCIField {}
extension Int8: HCIField {}
extension Int16: HCIField {}
extension UInt16: HCIField {}
extension UInt32: HCIField {}
extension UInt64: HCIField {}
extension UInt128: HCIField {}

/// A number with named values. The set of values is open: a number without a name is kept.
package protocol HCICode: RawRepresentable, HCIField where RawValue: HCIField & FixedWidthInteger {
    /// Creates the value with that number, whether it has a name or not.
    init(rawValue: RawValue)
}

extension HCICode {
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        self.init(rawValue: try RawValue(reading: &reader))
    }

    package var fieldWidth: Int { rawValue.fieldWidth }

    package func write(into output: inout OutputSpan<UInt8>) { rawValue.write(into: &output) }
}

/// Only the low 12 bits of a handle are used; the upper four are reserved and ignored.
extension ConnectionHandle: HCICode {}

/// A counted array: an octet with the number of elements, then the elements, each complete. An array of
/// octets is thus data with its length. An array of entries is what the specification describes as columns,
/// `Handle[i]`, `Count[i]`, and lays out row by row (Core Specification 5.4, Vol 4, Part E, 5.2).
extension Array: HCIField where Element: HCIField {
    /// Reads the count, then as many elements.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        let count = Int(try reader.u8(""))
        self.init()
        reserveCapacity(Swift.min(count, reader.remaining))
        for _ in 0..<count { append(try Element(reading: &reader)) }
    }

    /// The encoded size in octets: one for the count, plus the elements.
    package var fieldWidth: Int { reduce(1) { $0 + $1.fieldWidth } }

    /// Writes the count and the elements. A packet cannot contain more than 255.
    package func write(into output: inout OutputSpan<UInt8>) {
        output.u8(UInt8(clamping: count))
        for element in self { element.write(into: &output) }
    }
}

/// Octets preceded by their count, at most `limit`.
struct Counted<let limit: Int>: HCIField {
    let octets: [UInt8]

    init(_ octets: [UInt8]) { self.octets = octets }

    init(reading reader: inout ByteReader) throws(DecodeError) {
        let count = Int(try reader.u8(""))
        guard count <= limit else { throw reader.invalid("", value: count, width: 1) }
        octets = try reader.bytes(count, "")
    }

    var fieldWidth: Int { octets.fieldWidth }

    func write(into output: inout OutputSpan<UInt8>) { octets.write(into: &output) }
}

/// All octets up to the end of the parameters.
struct Remainder: HCIField {
    let octets: [UInt8]

    init(_ octets: [UInt8]) { self.octets = octets }

    init(reading reader: inout ByteReader) throws(DecodeError) { octets = reader.rest() }

    var fieldWidth: Int { octets.count }

    func write(into output: inout OutputSpan<UInt8>) { output.bytes(octets) }
}

/// A device address without its type, which another field or the message itself determines.
struct BareAddress: HCIField {
    private let value: UInt64

    init(_ address: DeviceAddress) { value = address.value }

    var `public`: DeviceAddress { DeviceAddress(value, type: .public) }
    var random: DeviceAddress { DeviceAddress(value, type: .random) }

    init(reading reader: inout ByteReader) throws(DecodeError) { value = try reader.u48("") }

    var fieldWidth: Int { 6 }

    func write(into output: inout OutputSpan<UInt8>) { output.u48(value) }
}

/// An array of exactly `width` octets.
package struct FixedOctets<let width: Int>: HCIField {
    package private(set) var octets: [UInt8]

    /// Creates a value from the octets; nil if their number is not `width`.
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

/// A public key on the P-256 curve: X, then Y, 32 octets each, least significant first (Core Specification
/// 5.4, Vol 4, Part E, 7.8.37).
package typealias P256PublicKey = FixedOctets<64>

/// A Diffie-Hellman key, least significant octet first (Core Specification 5.4, Vol 4, Part E, 7.7.65.9).
package typealias DHKey = FixedOctets<32>
