/// A decimal floating-point number of IEEE 11073-20601: a signed mantissa times a power of ten, in two octets
/// (SFLOAT, `medfloat16`) or four (FLOAT, `medfloat32`). Conversion from and to decimal text is exact:
/// `36.60` keeps its trailing zero.
public struct MedicalFloat: Hashable, Sendable {
    /// A number, or a special value in place of one.
    public enum Content: Hashable, Sendable {
        /// An ordinary number, not a special value.
        case finite(DecimalNumber)
        /// The code for "not a number".
        case notANumber
        /// NRes: the sensor cannot provide a value at this resolution.
        case notAtThisResolution
        /// The code for a number greater than the maximum.
        case infinity
        /// The code for a number less than the minimum.
        case negativeInfinity
        /// The value that is reserved for future use.
        case reserved
    }

    /// The size of a number: the bits of its mantissa and exponent.
    public enum Width: Hashable, Sendable {
        /// SFLOAT: 12 bits of mantissa, 4 of exponent.
        case two
        /// FLOAT: 24 bits of mantissa, 8 of exponent.
        case four

        /// The number of octets: 2 or 4.
        package var octets: Int { self == .two ? 2 : 4 }
        var mantissaBits: Int { self == .two ? 12 : 24 }
        /// The maximum mantissa of an ordinary number; the five values after it are the special values, with
        /// exponent 0.
        package var greatest: Int128 { (1 << (mantissaBits - 1)) - 3 }
        /// The range of exponents, in powers of 10.
        package var exponents: ClosedRange<Int> { self == .two ? -8...7 : -128...127 }
        /// The name of the width in IEEE 11073: `sfloat` or `float`.
        package var name: String { self == .two ? "sfloat" : "float" }
    }

    /// The number, or the special value in place of one.
    public let content: Content
    /// The width in octets: two or four.
    public let width: Width

    /// The special values with their names in text and their distances from the maximum mantissa.
    static let special: [(name: String, content: Content, distance: Int128)] = [
        ("+INF", .infinity, 1), ("NaN", .notANumber, 2), ("NRes", .notAtThisResolution, 3),
        ("reserved", .reserved, 4), ("-INF", .negativeInfinity, 5),
    ]

    /// Creates a number or a special value; nil when this width cannot hold the number exactly.
    public init?(_ content: Content, width: Width) {
        if case .finite(let number) = content {
            guard number.mantissa.magnitude <= width.greatest, width.exponents.contains(number.exponent)
            else { return nil }
        }
        self.content = content
        self.width = width
    }

    /// Creates a number; nil when this width cannot hold it exactly.
    public init?(_ number: DecimalNumber, width: Width) { self.init(.finite(number), width: width) }

    /// Creates the special value with the given name, in either case; `INF` is `+INF`. Nil for any other
    /// text.
    package init?(special text: some StringProtocol, width: Width) {
        let lower = text.lowercased()
        let found = Self.special.first { $0.name.lowercased() == lower || lower == "inf" }
        guard let found else { return nil }
        self.init(found.content, width: width)
    }

    /// The nearest binary number, including infinities; nil for the other special values.
    public var double: Double? {
        switch content {
        case .finite(let number): Double("\(number.mantissa)e\(number.exponent)")
        case .infinity: .infinity
        case .negativeInfinity: -.infinity
        case .notANumber, .notAtThisResolution, .reserved: nil
        }
    }

    /// Creates the number with the given bits on the wire: all 32, or the low 16 for an SFLOAT.
    public init(bits: UInt32, width: Width) {
        let mask = Int128(1) << width.mantissaBits - 1
        let raw = Int128(bits) & mask
        let mantissa = raw > mask / 2 ? raw - mask - 1 : raw
        let exponent = Int(bits) >> width.mantissaBits & (1 << (width.octets * 8 - width.mantissaBits) - 1)
        let power =
            exponent > width.exponents.upperBound ? exponent - 2 * (width.exponents.upperBound + 1) : exponent
        let special = Self.special.first { power == 0 && raw == width.greatest + $0.distance }
        content = special?.content ?? .finite(DecimalNumber(mantissa, exponent: power))
        self.width = width
    }

    /// The bits on the wire: all 32, or the low 16 for an SFLOAT.
    public var bits: UInt32 {
        guard case .finite(let number) = content else {
            let distance = Self.special.first { $0.content == content }?.distance ?? 0
            return UInt32(truncatingIfNeeded: width.greatest + distance)
        }
        let mantissa = UInt32(truncatingIfNeeded: number.mantissa) & (1 << UInt32(width.mantissaBits) - 1)
        let all: UInt32 = width == .two ? 0xffff : .max
        return (mantissa | UInt32(truncatingIfNeeded: number.exponent) << UInt32(width.mantissaBits)) & all
    }
}

extension MedicalFloat: CustomStringConvertible {
    /// The number in decimal, or the name of the special value.
    public var description: String {
        if case .finite(let number) = content { return "\(number)" }
        return Self.special.first { $0.content == content }?.name ?? ""
    }
}
