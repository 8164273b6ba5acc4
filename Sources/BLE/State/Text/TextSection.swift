/// A text of lines for people and programs: a heading of its kind and version, a word and its values on each
/// line, and a checksum of all of it at the end.
///
/// ```
/// bletool bond 1
/// peer C0:11:22:33:44:55/random
/// checksum 0c1d2e3f
/// ```
struct TextSection {
    /// The first word of each section, and of no other line.
    static let heading: Substring = "bletool"
    /// The only version of all kinds so far.
    static let version = 1

    struct Line {
        /// The number of the line in the whole text, from 1.
        let number: Int
        /// The first word of the line.
        let key: Substring
        /// What follows the key and a space.
        let rest: Substring

        /// The words of `rest`.
        var values: [Substring] { rest.split(separator: " ") }
    }

    /// The second word of the heading: what the section describes.
    let kind: Substring
    /// The number of the heading's line.
    let number: Int
    /// The lines between heading and checksum.
    var lines: [Line] = []
}

/// Why a text is not what it should be: the line, from 1, and the reason.
struct TextError: Error, Hashable {
    enum Reason: Hashable {
        case damaged(StateError.Damage)
        /// A later release has written it.
        case newer(version: Int)
    }

    var line: Int
    var reason: Reason

    init(_ line: Int, _ damage: StateError.Damage) { (self.line, reason) = (line, .damaged(damage)) }

    /// The version of a text that a later release has written.
    var version: Int? { if case .newer(let version) = reason { version } else { nil } }

    init(_ line: Int, version: Int) { (self.line, reason) = (line, .newer(version: version)) }
}
