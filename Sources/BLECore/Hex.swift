/// Hexadecimal text, lower-case and without separators, as in all commands and logs of this project.
extension Sequence where Element == UInt8 {
    /// The octets as hexadecimal digits, two for each.
    public var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(underestimatedCount * 2)
        for octet in self {
            digits.append(hexDigit(octet >> 4))
            digits.append(hexDigit(octet & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The hexadecimal digits for the full width of the integer: `UInt16(0x2a)` is "002a".
    package var hex: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}

private func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
}

extension Array where Element == UInt8 {
    /// Creates the octets from hexadecimal digits in either case; empty text gives no octets. The result is
    /// nil if the number of digits is odd or if the text contains other characters.
    public init?(hex: some StringProtocol) {
        let digits = hex.utf8
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let nibble = nibble(digit) else { return nil }
            if let upper = high {
                append(upper << 4 | nibble)
                high = nil
            } else {
                high = nibble
            }
        }
    }
}

private func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}
