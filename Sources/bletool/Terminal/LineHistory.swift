/// The lines that were entered before, oldest first. They are kept only in the memory of the process, because
/// values that are written to devices can be secret.
struct LineHistory: Hashable, Sendable {
    /// The maximum number of lines that are kept.
    static let limit = 1000

    private var lines: [String] = []
    /// The index of the line that is shown, or nil if none of them is shown.
    private var place: Int?
    /// The text that was typed before an older line was shown.
    private var draft = ""

    /// Adds a line, unless it is blank or equal to the last one.
    mutating func add(_ line: String) {
        place = nil
        guard !line.allSatisfy(\.isWhitespace), line != lines.last else { return }
        lines.append(line)
        if lines.count > Self.limit { lines.removeFirst() }
    }

    /// Returns the line before the one that is shown. `draft` is the typed text, which is kept for `newer()`
    /// if no line is shown yet.
    mutating func older(than draft: String) -> String? {
        let next = (place ?? lines.count) - 1
        guard next >= 0 else { return nil }
        if place == nil { self.draft = draft }
        place = next
        return lines[next]
    }

    /// Returns the line after the one that is shown; after the last, the text that was being typed.
    mutating func newer() -> String? {
        guard let shown = place else { return nil }
        place = shown + 1 < lines.count ? shown + 1 : nil
        return place.map { lines[$0] } ?? draft
    }

    /// Stops showing lines of the history.
    mutating func leave() { place = nil }

    /// Returns the newest line that contains `text` and is older than the newest line equal to `line`.
    func find(_ text: String, before line: String?) -> String? {
        let end = line.flatMap { lines.lastIndex(of: $0) } ?? lines.count
        return lines[..<end].last { text.isEmpty || $0.contains(text) }
    }
}
