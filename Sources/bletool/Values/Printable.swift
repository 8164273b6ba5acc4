import BLECore

extension StringProtocol {
    /// The text in double quotes, printable, and truncated after 60 characters: for messages.
    var quoted: String {
        let cut = prefix(60)
        return "\"\(cut.printable)\(cut.endIndex == endIndex ? "" : "…")\""
    }
}

extension Collection where Element == String {
    /// `a`, `a or b`, `a, b or c`.
    func joined(lastBy word: String) -> String {
        guard let last = reversed().first, count > 1 else { return joined() }
        return "\(dropLast().joined(separator: ", ")) \(word) \(last)"
    }
}
