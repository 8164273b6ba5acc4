import BLECore

/// A JSON value to print. Objects keep the order of their members, since lines are read by people too.
indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number by its digits, so that none is lost.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A member of an object.
    struct Member: Hashable, Sendable {
        var name: String
        var value: JSONValue

        init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

extension JSONValue {
    /// A number by its digits. What JSON has no number for, like NaN, becomes a string.
    init(number text: String) {
        let isNumber = DecimalNumber(text) != nil && text.first != "+" && text.last != "."
        self = isNumber ? .number(text) : .string(text)
    }

    /// A number, or `null` for what JSON has no number for. Whole ones have no point.
    init(_ value: Double) {
        guard value.isFinite else {
            self = .null
            return
        }
        self = .number(Int64(exactly: value).map { "\($0)" } ?? "\(value)")
    }

    init(_ value: some BinaryInteger) { self = .number(String(value)) }

    init(_ value: some StringProtocol) { self = .string(String(value)) }

    /// A string of hexadecimal digits.
    init(hex octets: [UInt8]) { self = .string(octets.hex) }

    /// The string, or `null` for nil.
    init(_ value: String?) { self = value.map { .string($0) } ?? .null }

    /// The number, or `null` for nil.
    init(_ value: (some BinaryInteger)?) { self = value.map { JSONValue($0) } ?? .null }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(nilLiteral: ()) { self = .null }
    init(integerLiteral value: Int) { self.init(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue: CustomStringConvertible {
    /// JSON text on one line, without spaces.
    var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let value): value.writeJSON(to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                member.name.writeJSON(to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }
}

extension String {
    /// Appends this string as JSON writes strings (RFC 8259, 7). Line separators, which some readers of
    /// lines take for an end, and DEL are escaped as well.
    fileprivate func writeJSON(to text: inout String) {
        text += "\""
        defer { text += "\"" }
        // Nearly all strings are names and digits, which go as they are.
        guard !utf8.allSatisfy({ (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }) else {
            text += self
            return
        }
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                text += "\\u" + UInt16(truncatingIfNeeded: scalar.value).hex
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
