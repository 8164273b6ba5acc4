import BLECore

/// A JSON value to print. Objects keep the order of their members, since lines are read by people too.
indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number as its digits, so that none is lost.
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
    /// Creates a number from its digits. A number that JSON cannot represent, such as NaN, becomes a string.
    init(number text: String) {
        let isNumber = DecimalNumber(text) != nil && text.first != "+" && text.last != "."
        self = isNumber ? .number(text) : .string(text)
    }

    /// Creates a number, or `null` if JSON cannot represent it. Integers have no decimal point.
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
    /// Appends this string as a JSON string (RFC 8259, 7). DEL, the C1 control characters, and line
    /// separators, which some readers take for the end of a line, are escaped as well.
    fileprivate func writeJSON(to text: inout String) {
        text += "\""
        defer { text += "\"" }
        // Nearly all strings are names and digits, which need no escapes.
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

/// The values that occur in several objects, with the same format in all of them.
extension JSONValue {
    /// Creates the string `AA:BB:CC:DD:EE:FF`, or `null` for nil.
    init(_ address: DeviceAddress?) { self.init(address?.text) }

    /// Creates `public` or `random`, or `null` without an address.
    init(typeOf address: DeviceAddress?) { self.init(address.map { "\($0.type)" }) }

    /// Creates the number of a handle.
    init(_ handle: AttributeHandle) { self.init(handle.rawValue) }

    /// A UUID in its shortest form, or `null`.
    init(_ uuid: BluetoothUUID?) { self.init(uuid?.description) }

    /// Creates a list of UUIDs in their shortest forms.
    init(_ uuids: [BluetoothUUID]) { self = .array(uuids.map { JSONValue($0) }) }

    init(_ value: Bool) { self = .bool(value) }

    /// Creates a number of milliseconds, with a fraction if needed, or `null` for nil.
    init(milliseconds duration: Duration?) {
        guard let nanoseconds = duration?.nanoseconds else {
            self = .null
            return
        }
        self.init(Double(nanoseconds) / 1_000_000)
    }
}
