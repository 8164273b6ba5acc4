import BLECore

extension MedicalFloat {
    /// The number that `text` spells: decimal, or `NaN`, `NRes`, `+INF`, `-INF`, in either case. What this
    /// width cannot hold exactly is refused.
    init(text: some StringProtocol, width: Width) throws(BadInput) {
        if let special = MedicalFloat(special: text, width: width) {
            self = special
            return
        }
        guard var number = DecimalNumber(text) else {
            throw BadInput("\(text.quoted) is not a number", hint: "also NaN, NRes, +INF and -INF")
        }
        // Zeros at the end move from the mantissa to the exponent where one of both is too big, and back.
        let isTooWide = { (number: DecimalNumber) in number.mantissa.magnitude > width.greatest }
        while isTooWide(number) || number.exponent < width.exponents.lowerBound,
            number.mantissa.isMultiple(of: 10), number.mantissa != 0
        {
            number = DecimalNumber(number.mantissa / 10, exponent: number.exponent + 1)
        }
        while number.exponent > width.exponents.upperBound, !isTooWide(number), number.mantissa != 0 {
            number = DecimalNumber(number.mantissa * 10, exponent: number.exponent - 1)
        }
        if number.mantissa == 0 { number.exponent = max(number.exponent, width.exponents.lowerBound) }
        guard !isTooWide(number), number.mantissa == 0 || width.exponents.contains(number.exponent) else {
            throw BadInput(
                "\(width.name) cannot hold \(text)",
                hint: "its digits without the point are at most \(width.greatest)")
        }
        if number.mantissa == 0 { number.exponent = min(number.exponent, width.exponents.upperBound) }
        self.init(.finite(number), width: width)
    }
}
