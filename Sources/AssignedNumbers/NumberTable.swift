import BLECore

/// Names by number in one text: sorted lines, each with a number in `digits` hexadecimal digits and a name,
/// separated by line feeds. The text is stored in the binary as it is, and a look-up reads some ten lines of
/// it.
struct NumberTable: Sendable {
    let digits: Int
    let text: String

    func name(of number: UInt128) -> String? {
        let bytes = text.utf8.span
        var low = 0, high = bytes.count
        while low < high {
            let line = line(around: (low + high) / 2, in: bytes)
            let found = self.number(line, in: bytes)
            if found == number { return name(line, in: bytes) }
            if found < number { low = line.upperBound + 1 } else { high = line.lowerBound }
        }
        return nil
    }

    /// Returns the numbers and names for which `matches` returns true, in the order of the numbers. `matches`
    /// receives the octets of each name.
    func entries(where matches: (Span<UInt8>) -> Bool) -> [(number: UInt128, name: String)] {
        let bytes = text.utf8.span
        var entries: [(number: UInt128, name: String)] = []
        var start = 0
        while start < bytes.count {
            let line = line(around: start, in: bytes)
            if matches(bytes.extracting((line.lowerBound + digits)..<line.upperBound)) {
                entries.append((number(line, in: bytes), name(line, in: bytes)))
            }
            start = line.upperBound + 1
        }
        return entries
    }

    private func line(around position: Int, in bytes: Span<UInt8>) -> Range<Int> {
        var start = position, end = position
        while start > 0, bytes[start - 1] != Self.lineFeed { start -= 1 }
        while end < bytes.count, bytes[end] != Self.lineFeed { end += 1 }
        return start..<end
    }

    private func number(_ line: Range<Int>, in bytes: Span<UInt8>) -> UInt128 {
        var number: UInt128 = 0
        for index in line.prefix(digits) {
            let digit = bytes[index]
            number =
                number << 4 | UInt128(digit < Self.letterA ? digit - Self.zero : digit - Self.letterA + 10)
        }
        return number
    }

    private func name(_ line: Range<Int>, in bytes: Span<UInt8>) -> String {
        UTF8Text(bytes.extracting((line.lowerBound + digits)..<line.upperBound)).text
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let zero = UInt8(ascii: "0")
    private static let letterA = UInt8(ascii: "a")
}
