/// A pattern of `*` (any text) and `?` (any character), compared without regard to case.
package struct Glob: Hashable, Sendable {
    private let pattern: [Character]

    /// Creates a pattern, which ignores case.
    package init(_ text: some StringProtocol) { pattern = Array(text.lowercased()) }

    /// Whether all of `text` matches. Takes time in proportion to pattern times text, whatever they are.
    package func matches(_ text: some StringProtocol) -> Bool {
        let text = Array(text.lowercased())
        var (at, position) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while position < text.count {
            if at < pattern.count, pattern[at] == "*" {
                star = (at, position)
                at += 1
            } else if at < pattern.count, pattern[at] == "?" || pattern[at] == text[position] {
                at += 1
                position += 1
            } else if let (starred, taken) = star {
                // The star takes one character more.
                star = (starred, taken + 1)
                at = starred + 1
                position = taken + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == "*" }
    }
}
