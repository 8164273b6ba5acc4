/// The decimal floating point numbers of IEEE 11073-20601: a signed mantissa times a power of ten, in two
/// octets (SFLOAT, `medfloat16`) or four (FLOAT, `medfloat32`). Decimal in, decimal out: `36.60` keeps its
/// last zero.
public struct MedicalFloat: Hashable, Sendable {
    /// A number, or a special value in place of one.
    public enum Content: Hashable, Sendable {
        /// An ordinary number, none of the special values.
        case finite(DecimalNumber)
        /// The code for "not a number".
        case notANumber
        /// NRes: the sensor has no value at this resolution.
        case notAtThisResolution
        /// The code for a number greater than the greatest.
        case infinity
        /// The code for a number less than the least.
        case negativeInfinity
        /// The one value set aside for later.
        case reserved
    }

    /// How many bits each part has.
    public enum Width: Hashable, Sendable {
        /// SFLOAT: 12 bits of mantissa, 4 of exponent.
        case two
        /// FLOAT: 24 bits of mantissa, 8 of exponent.
        case four

        /// The number of octets: 2 or 4.
        package var octets: Int { self == .two ? 2 : 4 }
        var mantissaBits: Int { self == .two ? 12 : 24 }
        /// The greatest mantissa of an ordinary number; the five after it are the special values, with exponent 0.
        package var greatest: Int128 { (1 << (mantissaBits - 1)) - 3 }
        /// The range of exponents, in powers of 10.
        package var exponents: ClosedRange<Int> { self == .two ? -8...7 : -128...127 }
        /// What IEEE 11073 calls it: `sfloat` or `float`.
        package var name: String { self == .two ? "sfloat" : "float" }
    }

    /// The number, or the special value in place of one.
    public let content: Content
    /// The width in octets: two or four.
    public let width: Width

    /// The special values by their names in text, and their distance from the greatest mantissa.
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

    /// The special value of that name, in either case; `INF` is `+INF`. Nil for any other text.
    package init?(special text: some StringProtocol, width: Width) {
        let lower = text.lowercased()
        let found = Self.special.first { $0.name.lowercased() == lower || lower == "inf" }
        guard let found else { return nil }
        self.init(found.content, width: width)
    }

    /// The nearest binary number; nil for what is no number. Infinities stay so.
    public var double: Double? {
        switch content {
        case .finite(let number): Double("\(number.mantissa)e\(number.exponent)")
        case .infinity: .infinity
        case .negativeInfinity: -.infinity
        case .notANumber, .notAtThisResolution, .reserved: nil
        }
    }

    /// Creates the number with these bits, as they are on the wire: all 32, or the low 16 of an SFLOAT.
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

    /// The bits on the wire: all 32, or the low 16 of an SFLOAT.
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
