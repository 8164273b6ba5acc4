/// The decimal floating point numbers of IEEE 11073-20601: a signed mantissa times a power of ten, in two
/// octets (SFLOAT, `medfloat16`) or four (FLOAT, `medfloat32`). Decimal in, decimal out: `36.60` keeps its
/// last zero.
struct MedicalFloat: Hashable {
    /// What the number says.
    enum Content: Hashable {
        /// An ordinary number.
        case finite(Decimal)
        /// NaN: not a number.
        case notANumber
        /// NRes: the sensor has no value at this resolution.
        case notAtThisResolution
        /// More than can be said.
        case infinity
        /// Less than can be said.
        case negativeInfinity
        /// The one value set aside for later.
        case reserved
    }

    /// How many bits each part has.
    enum Width: Hashable {
        /// SFLOAT: 12 bits of mantissa, 4 of exponent.
        case two
        /// FLOAT: 24 bits of mantissa, 8 of exponent.
        case four

        var octets: Int { self == .two ? 2 : 4 }
        var mantissaBits: Int { self == .two ? 12 : 24 }
        /// The five mantissas around the greatest are the special values, with exponent 0.
        var greatest: Int128 { (1 << (mantissaBits - 1)) - 3 }
        var exponents: ClosedRange<Int> { self == .two ? -8...7 : -128...127 }
        var name: String { self == .two ? "sfloat" : "float" }
    }

    /// What the number says.
    var content: Content
    /// How many octets it takes.
    var width: Width

    /// The special values by their names in text, and their distance from the greatest mantissa.
    private static let special: [(name: String, content: Content, distance: Int128)] = [
        ("+INF", .infinity, 1), ("NaN", .notANumber, 2), ("NRes", .notAtThisResolution, 3),
        ("reserved", .reserved, 4), ("-INF", .negativeInfinity, 5),
    ]

    /// The number that the low bits of `bits` are.
    init(bits: UInt32, width: Width) {
        let mask = Int128(1) << width.mantissaBits - 1
        let raw = Int128(bits) & mask
        let mantissa = raw > mask / 2 ? raw - mask - 1 : raw
        let exponent = Int(bits) >> width.mantissaBits & (1 << (width.octets * 8 - width.mantissaBits) - 1)
        let power =
            exponent > width.exponents.upperBound ? exponent - 2 * (width.exponents.upperBound + 1) : exponent
        let special = Self.special.first { power == 0 && raw == width.greatest + $0.distance }
        content = special?.content ?? .finite(Decimal(mantissa, exponent: power))
        self.width = width
    }

    /// The bits on the wire, in the low octets.
    var bits: UInt32 {
        guard case .finite(let number) = content else {
            let distance = Self.special.first { $0.content == content }?.distance ?? 0
            return UInt32(truncatingIfNeeded: width.greatest + distance)
        }
        let mantissa = UInt32(truncatingIfNeeded: number.mantissa) & (1 << UInt32(width.mantissaBits) - 1)
        let all: UInt32 = width == .two ? 0xffff : .max
        return (mantissa | UInt32(truncatingIfNeeded: number.exponent) << UInt32(width.mantissaBits)) & all
    }

    /// The number that `text` spells: decimal, or `NaN`, `NRes`, `+INF`, `-INF`, in either case. What this
    /// width cannot hold exactly is refused.
    init(text: some StringProtocol, width: Width) throws(BadInput) {
        let lower = text.lowercased()
        self.width = width
        if let special = Self.special.first(where: { $0.name.lowercased() == lower || lower == "inf" }) {
            content = special.content
            return
        }
        guard var number = Decimal(text) else {
            throw BadInput("\(text.quoted) is not a number", hint: "also NaN, NRes, +INF and -INF")
        }
        // Zeros at the end move from the mantissa to the exponent where one of both is too big, and back.
        let isTooWide = { (number: Decimal) in number.mantissa.magnitude > width.greatest }
        while isTooWide(number) || number.exponent < width.exponents.lowerBound,
            number.mantissa.isMultiple(of: 10), number.mantissa != 0
        {
            number = Decimal(number.mantissa / 10, exponent: number.exponent + 1)
        }
        while number.exponent > width.exponents.upperBound, !isTooWide(number), number.mantissa != 0 {
            number = Decimal(number.mantissa * 10, exponent: number.exponent - 1)
        }
        if number.mantissa == 0 { number.exponent = max(number.exponent, width.exponents.lowerBound) }
        guard !isTooWide(number), number.mantissa == 0 || width.exponents.contains(number.exponent) else {
            throw BadInput(
                "\(width.name) cannot hold \(text)",
                hint: "its digits without the point are at most \(width.greatest)")
        }
        if number.mantissa == 0 { number.exponent = min(number.exponent, width.exponents.upperBound) }
        content = .finite(number)
    }
}

extension MedicalFloat: CustomStringConvertible {
    /// The number in decimal, or the name of the special value.
    var description: String {
        if case .finite(let number) = content { return "\(number)" }
        return Self.special.first { $0.content == content }?.name ?? ""
    }
}
