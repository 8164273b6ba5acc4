import ATT
import BLECore

/// A text of lines for people and programs: a heading of its kind and version, a word and its values on each
/// line, and a checksum of all of it at the end.
///
/// ```text
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

/// An error in a text: the line, from 1, and the reason.
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

extension TextSection {
    /// Returns the value of the line with this key; throws when the section has no such line.
    func required<Value>(_ value: Value?, _ key: String) throws(TextError) -> Value {
        guard let value else { throw TextError(number, .missing(key: key)) }
        return value
    }
}

extension TextSection.Line {
    /// The error that sections of this kind have no line with this key.
    var isUnknown: TextError { TextError(number, .key(String(key))) }

    /// Returns the error that the line has to follow one with the key `other`, and there is none before it.
    func isBefore(_ other: String) -> TextError { TextError(number, .order(key: String(key), after: other)) }

    /// Returns the error that a value of this line is invalid.
    func isNoValue(_ value: some StringProtocol) -> TextError {
        TextError(number, .value(String(value), key: String(key)))
    }

    /// Returns the words of the line. Throws if there are not `count` of them.
    func values(_ count: Int) throws(TextError) -> [Substring] { try values(count...count) }

    /// Returns the words of the line. Throws if their number is not in `range`.
    func values(_ range: ClosedRange<Int>) throws(TextError) -> [Substring] {
        let values = values
        guard range.contains(values.count) else {
            throw TextError(number, .count(key: String(key), expected: range))
        }
        return values
    }

    /// Returns the only value of the line. Throws if there are more or none, or `read` returns nil.
    func value<Value>(_ read: (Substring) -> Value?) throws(TextError) -> Value {
        try value(of: try values(1)[0], read)
    }

    /// Returns the value of a word of this line. Throws if `read` returns nil.
    func value<Value>(of word: Substring, _ read: (Substring) -> Value?) throws(TextError) -> Value {
        guard let value = read(word) else { throw isNoValue(word) }
        return value
    }
}

/// The text of values in files.
enum TextValue {
    /// Returns a number of fixed width that is written after `0x`.
    static func bits<Bits: FixedWidthInteger & UnsignedInteger>(_ word: Substring) -> Bits? {
        guard word.hasPrefix("0x") else { return nil }
        return digits(word.dropFirst(2))
    }

    /// Returns a number of fixed width that is written with all its digits.
    static func digits<Bits: FixedWidthInteger & UnsignedInteger>(_ word: Substring) -> Bits? {
        guard word.utf8.count == Bits.bitWidth / 4, word.utf8.first != UInt8(ascii: "+") else { return nil }
        return Bits(word, radix: 16)
    }

    /// Returns the handle that `0x` and four hexadecimal digits spell.
    static func handle(_ word: Substring) -> AttributeHandle? { bits(word).map { AttributeHandle($0) } }

    /// Returns the time in seconds without rounding, as in `0.0075`.
    static func text(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        guard attoseconds != 0 else { return "\(seconds)" }
        var digits = String(attoseconds.magnitude)
        digits = String(repeating: "0", count: 18 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(time < .zero ? "-" : "")\(seconds.magnitude).\(digits)"
    }

    /// Returns the time that is written in seconds, as by `text`.
    static func duration(_ word: Substring) -> Duration? {
        let isNegative = word.hasPrefix("-")
        let parts = word.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let seconds = UInt64(parts[0]).flatMap({ Int64(exactly: $0) })
        else { return nil }
        var time = Duration.seconds(Int64(seconds))
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...18).contains(digits.utf8.count), digits.allSatisfy({ ("0"..."9").contains($0) }),
                let fraction = Int64(digits + String(repeating: "0", count: 18 - digits.utf8.count))
            else { return nil }
            time += Duration(secondsComponent: 0, attosecondsComponent: fraction)
        }
        let value = isNegative ? .zero - time : time
        // Only the exact text that `text` returns is valid.
        return text(value) == word ? value : nil
    }

    static func text(_ flag: Bool) -> String { flag ? "yes" : "no" }

    /// Returns the flag that `yes` or `no` spells; nil for another word.
    static func flag(_ word: Substring) -> Bool? { ["yes": true, "no": false][word] }

    /// Returns the octets of hexadecimal digits; `-` stands for no octets.
    static func octets(_ word: Substring) -> [UInt8]? { word == "-" ? [] : [UInt8](hex: word) }

    /// Returns octets as hexadecimal digits, and `-` for no octets.
    static func text(_ octets: [UInt8]) -> String { octets.isEmpty ? "-" : octets.hex }

    /// Returns a name on one line: characters that would end the line or disturb a terminal, and %, are
    /// written as % and two digits for each octet.
    static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar != "%" && scalar.properties.generalCategory != .control && scalar != "\u{2028}"
            if isPlain {
                text.unicodeScalars.append(scalar)
            } else {
                for octet in String(scalar).utf8 { text += "%\(octet.hex)" }
            }
        }
        return text
    }

    /// Returns the name that `escaped` has written.
    static func unescaped(_ text: Substring) -> String? {
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let value: UInt8 = Self.digits(Substring(rest.prefix(2))) else { return nil }
            octets.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: octets, as: UTF8.self)
    }
}

/// Writes the text of a `TextSection`.
struct TextWriter {
    private var text: String

    /// Begins a text of this kind with its heading.
    init(_ kind: String) { text = "bletool \(kind) \(TextSection.version)\n" }

    mutating func line(_ key: String, _ values: String...) {
        text += ([key] + values).joined(separator: " ") + "\n"
    }

    /// Adds a line, when there is a value.
    mutating func line(_ key: String, ifThere value: String?) { if let value { line(key, value) } }

    /// The text of the section, with its checksum.
    var octets: [UInt8] {
        var octets = Array(text.utf8)
        var checksum = CRC32()
        checksum.update(octets)
        octets += "checksum \(checksum.value.hex)\n".utf8
        return octets
    }
}
