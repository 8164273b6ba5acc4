/// The words of a script's line, as a shell would see them.
enum ScriptWords {
    /// Splits a line at its blanks, but for those in quotes; # begins a comment. A backslash takes the next character
    /// as it is, but not in single quotes.
    static func split(_ line: some StringProtocol) throws(BadInput) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let next = rest.popFirst() {
            switch (next, quote) {
            case (let end, let begin?) where end == begin: quote = nil
            case ("\\", nil), ("\\", "\""):
                guard let literal = rest.popFirst() else { throw BadInput("a backslash ends the line") }
                word = (word ?? "") + String(literal)
            case (_, _?): word?.append(next)
            case ("\"", nil), ("'", nil):
                quote = next
                word = word ?? ""
            case ("#", nil) where word == nil: return words
            case (let blank, nil) where blank.isWhitespace:
                if let ended = word.take() { words.append(ended) }
            case (_, nil): word = (word ?? "") + String(next)
            }
        }
        if let quote { throw BadInput("a \(quote) is not closed") }
        if let word { words.append(word) }
        return words
    }
}
