/// Text from the air or from a file, made fit for a terminal.
extension StringProtocol {
    /// This text with everything that could move the cursor, hide or reorder text written as `\u{1b}`:
    /// control and format characters, line separators, and what Unicode does not assign.
    var printable: String {
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }

    /// This text between double quotes, printable, and cut after 60 characters: for messages.
    var quoted: String {
        let cut = prefix(60)
        return "\"\(cut.printable)\(cut.endIndex == endIndex ? "" : "…")\""
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows this scalar as a sign, or as part of one, and does nothing else.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        // The zero width joiner holds emoji together; the other format characters reorder or hide text.
        case .format: value == 0x200d
        default: true
        }
    }
}

extension Collection where Element == String {
    /// `a`, `a or b`, `a, b or c`.
    func joined(lastBy word: String) -> String {
        guard let last = reversed().first, count > 1 else { return joined() }
        return "\(dropLast().joined(separator: ", ")) \(word) \(last)"
    }
}
