/// Lines that were typed before, the oldest first. They are kept as long as the process lives, and nowhere
/// else: what is written to devices may be secret.
struct LineHistory: Hashable, Sendable {
    /// The greatest number of remembered lines.
    static let limit = 1000

    private var lines: [String] = []
    /// Where up and down have come to; nil when none of them is shown.
    private var place: Int?
    /// The text that was typed before an older line was shown.
    private var draft = ""

    /// Keeps a line, unless it is empty or the last one again.
    mutating func add(_ line: String) {
        place = nil
        guard !line.allSatisfy(\.isWhitespace), line != lines.last else { return }
        lines.append(line)
        if lines.count > Self.limit { lines.removeFirst() }
    }

    /// The line before the one shown; `draft` is what is shown when none is.
    mutating func older(than draft: String) -> String? {
        let next = (place ?? lines.count) - 1
        guard next >= 0 else { return nil }
        if place == nil { self.draft = draft }
        place = next
        return lines[next]
    }

    /// The line after the one shown, at last what was being typed.
    mutating func newer() -> String? {
        guard let shown = place else { return nil }
        place = shown + 1 < lines.count ? shown + 1 : nil
        return place.map { lines[$0] } ?? draft
    }

    /// Returns to the text that is typed.
    mutating func leave() { place = nil }

    /// The newest line that has `text` in it, older than the newest that is `line`.
    func find(_ text: String, before line: String?) -> String? {
        let end = line.flatMap { lines.lastIndex(of: $0) } ?? lines.count
        return lines[..<end].last { text.isEmpty || $0.contains(text) }
    }
}
