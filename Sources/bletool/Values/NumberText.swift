import BLECore

extension FixedWidthInteger {
    /// Parses a decimal integer, or a hexadecimal one after `0x`, with an optional minus sign. A decimal
    /// number with a leading zero is rejected, because it may be meant as hexadecimal.
    static func number(_ text: some StringProtocol) -> Self? {
        let negative = text.first == "-"
        let digits = negative ? text.dropFirst() : text[...]
        let hexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let body = hexadecimal ? digits.dropFirst(2) : digits
        // The initializer below would accept a second sign.
        guard let first = body.first, first.isHexDigit, hexadecimal || first != "0" || body.count == 1 else {
            return nil
        }
        return Self((negative ? "-" : "") + body, radix: hexadecimal ? 16 : 10)
    }

    /// Parses an integer within `range`. `what` names it in the error, as in "the MTU".
    init(text: some StringProtocol, in range: ClosedRange<Self>, _ what: String) throws(BadInput) {
        guard let value = Int128.number(text) else {
            throw BadInput(
                "\(text.quoted) is not a number",
                hint: text.first == "0" ? "hexadecimal numbers begin with 0x" : nil)
        }
        guard let fitting = Self(exactly: value), range.contains(fitting) else {
            throw BadInput("\(what) is \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        self = fitting
    }

    /// Parses an integer within the range of this type.
    init(text: some StringProtocol, _ what: String) throws(BadInput) {
        try self.init(text: text, in: .min ... .max, what)
    }
}

extension [UInt8] {
    /// Parses hexadecimal digits without separators. `allowed` is the permitted number of octets.
    init(hexText text: some StringProtocol, count allowed: ClosedRange<Int> = 0...Int.max) throws(BadInput) {
        guard let octets = [UInt8](hex: text) else { throw BadInput("\(text.quoted) \(Self.notHex(text))") }
        guard allowed.contains(octets.count) else {
            let limit =
                allowed.lowerBound == allowed.upperBound
                ? "\(allowed.lowerBound)" : "\(allowed.lowerBound) to \(allowed.upperBound)"
            throw BadInput("\(text.quoted) has \(octets.count) octets, not \(limit)")
        }
        self = octets
    }

    private static func notHex(_ text: some StringProtocol) -> String {
        if text.hasPrefix("0x") { return "is not plain hex: leave out the 0x" }
        guard let invalid = text.first(where: { !$0.isHexDigit || !$0.isASCII }) else {
            return "is not hex: it has an odd number of digits"
        }
        return ":- ".contains(invalid)
            ? "is not plain hex: leave out the separators"
            : "is not hex: \(String(invalid).quoted) is no digit"
    }
}
