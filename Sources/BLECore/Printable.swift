/// Text from the air or from a file, made safe for a terminal.
extension StringProtocol {
    /// The text with everything escaped, as in `\u{1b}`, that could move the cursor, or hide or reorder text:
    /// control and format characters, line separators, and characters that Unicode does not assign.
    package var printable: String {
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
}

extension Unicode.Scalar {
    /// Whether a terminal shows this scalar as a character, or as part of one, and does nothing else.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        // The zero width joiner holds emoji together; the other format characters reorder or hide text.
        case .format: value == 0x200d
        default: true
        }
    }
}
