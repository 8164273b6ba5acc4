import BLECore

/// The layout of a number in a value, which is always little-endian.
enum NumberCoding: Hashable {
    /// An unsigned integer of this many octets, 1 to 16.
    case unsigned(octets: Int)
    /// A signed integer of this many octets, 1 to 16.
    case signed(octets: Int)
    /// An IEEE 754 number of 4 or 8 octets.
    case binary(octets: Int)
    /// An IEEE 11073 number.
    case medical(MedicalFloat.Width)

    /// The number of octets that a number takes.
    var octets: Int {
        switch self {
        case .unsigned(let octets), .signed(let octets), .binary(let octets): octets
        case .medical(let width): width.octets
        }
    }

    /// Returns the text of the number in `value`, or nil if it does not have as many octets as this coding
    /// takes. Integers are multiplied by ten to the power of `exponent`.
    func text(_ value: [UInt8], exponent: Int = 0) -> String? {
        guard value.count == octets else { return nil }
        let raw = UInt128(littleEndian: value)
        switch self {
        case .unsigned: return Int128(exactly: raw).map { "\(DecimalNumber($0, exponent: exponent))" }
        case .signed:
            // Shifting to the top and back extends the sign bit.
            let shift = UInt128(128 - 8 * octets)
            return
                "\(DecimalNumber(Int128(truncatingIfNeeded: raw << shift) >> Int128(shift), exponent: exponent))"
        case .binary(4): return "\(Float(bitPattern: UInt32(truncatingIfNeeded: raw)))"
        case .binary: return "\(Double(bitPattern: UInt64(truncatingIfNeeded: raw)))"
        case .medical(let width):
            return "\(MedicalFloat(bits: UInt32(truncatingIfNeeded: raw), width: width))"
        }
    }

    /// Returns the octets of the number in `text`. Integers are divided by ten to the power of `exponent`.
    func octets(_ text: some StringProtocol, exponent: Int = 0) throws(BadInput) -> [UInt8] {
        let raw: UInt128
        switch self {
        case .unsigned(let octets):
            let greatest = Int128.max >> Int128(128 - 8 * min(octets, 15) - 1)
            raw = UInt128(truncatingIfNeeded: try integer(text, exponent, in: 0...greatest))
        case .signed(let octets):
            let greatest = Int128.max >> Int128(128 - 8 * octets)
            raw = UInt128(truncatingIfNeeded: try integer(text, exponent, in: ~greatest...greatest))
        case .binary(let octets):
            guard let number = Double(String(text)) else { throw BadInput("\(text.quoted) is not a number") }
            raw = octets == 4 ? UInt128(Float(number).bitPattern) : UInt128(number.bitPattern)
        case .medical(let width): raw = UInt128(try MedicalFloat(text: text, width: width).bits)
        }
        return [UInt8]([UInt8](littleEndian: raw).prefix(octets))
    }

    private func integer(
        _ text: some StringProtocol, _ exponent: Int, in range: ClosedRange<Int128>
    ) throws(BadInput) -> Int128 {
        if exponent == 0 { return try Int128(text: text, in: range, "the value") }
        guard let decimal = DecimalNumber(text) else { throw BadInput("\(text.quoted) is not a number") }
        guard let value = decimal.mantissa(atExponent: exponent), range.contains(value) else {
            let (low, high) = (
                DecimalNumber(range.lowerBound, exponent: exponent),
                DecimalNumber(range.upperBound, exponent: exponent)
            )
            throw BadInput(
                "the value is \(low) to \(high) in steps of \(DecimalNumber(1, exponent: exponent)), not \(text)"
            )
        }
        return value
    }
}

extension MedicalFloat {
    /// Parses a number: decimal, or `NaN`, `NRes`, `+INF`, `-INF`, in upper or lower case. Throws if this
    /// width cannot hold the number exactly.
    init(text: some StringProtocol, width: Width) throws(BadInput) {
        if let special = MedicalFloat(special: text, width: width) {
            self = special
            return
        }
        guard var number = DecimalNumber(text) else {
            throw BadInput("\(text.quoted) is not a number", hint: "also NaN, NRes, +INF and -INF")
        }
        // Trailing zeros move from the mantissa to the exponent if one of both is too big, and back.
        let isTooWide = { (number: DecimalNumber) in number.mantissa.magnitude > width.greatest }
        while isTooWide(number) || number.exponent < width.exponents.lowerBound,
            number.mantissa.isMultiple(of: 10), number.mantissa != 0
        {
            number = DecimalNumber(number.mantissa / 10, exponent: number.exponent + 1)
        }
        while number.exponent > width.exponents.upperBound, !isTooWide(number), number.mantissa != 0 {
            number = DecimalNumber(number.mantissa * 10, exponent: number.exponent - 1)
        }
        if number.mantissa == 0 {
            let exponents = width.exponents
            number.exponent = min(max(number.exponent, exponents.lowerBound), exponents.upperBound)
        }
        guard let value = MedicalFloat(number, width: width) else {
            throw BadInput(
                "\(width.name) cannot hold \(text)",
                hint: "its digits without the point are at most \(width.greatest)")
        }
        self = value
    }
}
