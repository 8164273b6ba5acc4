extension Character {
    /// The number of terminal columns of the character: zero, one, or two for East Asian characters and
    /// emoji.
    var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if isASCII { return first.value < 0x20 || first.value == 0x7f ? 0 : 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // A character that is shown as emoji, by default or because U+FE0F requests it.
        if first.properties.isEmojiPresentation || unicodeScalars.contains(where: { $0.value == 0xfe0f }) {
            return 2
        }
        return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The blocks of wide East Asian characters (Unicode Standard Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
        0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6,
        0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd,
    ]
}

extension String {
    /// The number of terminal columns of the text.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// Returns the part of the text that fits into `limit` columns, with `…` at the end if something is
    /// missing.
    func cut(toColumns limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 0 else { return "" }
        var (text, width) = ("", 0)
        for character in self {
            guard width + character.columns <= limit - 1 else { break }
            text.append(character)
            width += character.columns
        }
        return text + "…"
    }

    /// Returns the text in exactly `limit` columns: truncated, or with spaces after it, or before it if
    /// `fromRight`.
    func filling(_ limit: Int, fromRight: Bool = false) -> String {
        let text = cut(toColumns: limit)
        let space = String(repeating: " ", count: max(0, limit - text.columns))
        return fromRight ? space + text : text + space
    }

    /// Returns the text in lines of at most `limit` columns. Lines after the first are indented if there is
    /// room.
    func wrapped(toColumns limit: Int) -> [String] {
        guard limit > 0, columns > limit else { return [self] }
        let indent = limit >= 20 ? "    " : ""
        var lines: [String] = []
        var (line, width) = ("", 0)
        for character in self {
            if width + character.columns > limit {
                lines.append(line)
                (line, width) = (indent, indent.count)
            }
            line.append(character)
            width += character.columns
        }
        return lines + [line]
    }
}

extension Sequence<Character> {
    /// The number of terminal columns of the characters.
    var columns: Int { reduce(0) { $0 + $1.columns } }
}
