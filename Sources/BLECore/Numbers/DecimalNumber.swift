/// A decimal number as written: `36.60` is 3660 times 10 to the power of -2. IEEE-11073 numbers, scaled
/// integers and durations are such numbers, and are not rounded by a conversion to a binary fraction.
public struct DecimalNumber: Hashable, Sendable {
    /// The digits as an integer, before scaling by the exponent.
    public var mantissa: Int128
    /// The power of ten that the mantissa is multiplied by.
    public var exponent: Int

    /// Creates the number `mantissa` times 10 to the power of `exponent`.
    public init(_ mantissa: Int128, exponent: Int = 0) {
        self.mantissa = mantissa
        self.exponent = exponent
    }

    /// Parses digits with an optional sign, point and exponent (`-1.5e3`); nil for anything else and for more
    /// digits than fit into 128 bits.
    public init?(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        let negative = rest.first == UInt8(ascii: "-")
        if negative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }

        var power = 0
        if let mark = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
            let digits = String(decoding: rest[(mark + 1)...], as: UTF8.self)
            guard let written = Int(digits), written.magnitude < 1000 else {
                return nil
            }
            power = written
            rest = rest[..<mark]
        }

        var digits: Int128 = 0
        var (seen, point) = (0, false)
        for character in rest {
            if character == UInt8(ascii: "."), !point {
                point = true
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
            let (tens, over) = digits.multipliedReportingOverflow(by: 10)
            let (sum, carried) = tens.addingReportingOverflow(Int128(character - UInt8(ascii: "0")))
            guard !over, !carried else { return nil }
            digits = sum
            seen += 1
            if point { power -= 1 }
        }
        guard seen > 0, rest.last != UInt8(ascii: ".") else { return nil }
        self.init(negative ? -digits : digits, exponent: power)
    }

    /// Returns the mantissa of the same number with the given exponent, or nil if that would need digits
    /// after the point or more than 128 bits.
    package func mantissa(atExponent target: Int) -> Int128? {
        var value = mantissa
        if value == 0 { return 0 }
        var power = exponent
        while power > target {
            let (tens, over) = value.multipliedReportingOverflow(by: 10)
            if over { return nil }
            value = tens
            power -= 1
        }
        while power < target {
            guard value.isMultiple(of: 10) else { return nil }
            value /= 10
            power += 1
        }
        return value
    }
}

extension DecimalNumber: CustomStringConvertible {
    /// The digits with the decimal point in place: `36.60`, `1500`, `-0.05`. Numbers that would need many
    /// zeros have an exponent, such as `5e40`.
    public var description: String {
        if exponent == 0 || mantissa == 0 && exponent > 0 { return String(mantissa) }
        guard (-18...9).contains(exponent) else { return "\(mantissa)e\(exponent)" }
        let sign = mantissa < 0 ? "-" : ""
        let digits = String(mantissa.magnitude)
        if exponent > 0 { return sign + digits + String(repeating: "0", count: exponent) }
        let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.utf8.count)) + digits
        return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
    }
}
