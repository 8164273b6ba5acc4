import BLECore

/// The format in which values are shown and read: the argument of `--format`.
enum ValueFormat: String, Hashable, CaseIterable, Sendable {
    /// The format of the attribute's UUID and its 0x2904 descriptor; otherwise hex, followed by the text that
    /// it may be.
    case auto
    /// Two lower-case digits per octet, without separators.
    case hex
    /// Text; what a terminal would interpret, including line ends, is escaped, as in `\u{a}`.
    case utf8
    /// Integers of 8 to 32 bits, little-endian. A value of several numbers is a list of them: `1,770`.
    case u8, u16, u32, i8, i16, i32
    /// An IEEE 754 number of 32 bits.
    case f32
    /// IEEE 11073, two and four octets.
    case sfloat, float
    case json
    /// The octets as they are, without separators between values; only for values that are read.
    case raw

    /// The layout, for the formats that are numbers.
    var number: NumberCoding? {
        switch self {
        case .u8: .unsigned(octets: 1)
        case .u16: .unsigned(octets: 2)
        case .u32: .unsigned(octets: 4)
        case .i8: .signed(octets: 1)
        case .i16: .signed(octets: 2)
        case .i32: .signed(octets: 4)
        case .f32: .binary(octets: 4)
        case .sfloat: .medical(.two)
        case .float: .medical(.four)
        case .auto, .hex, .utf8, .json, .raw: nil
        }
    }

    /// The names of all formats, for help.
    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Parses the name of a format.
    init(text: some StringProtocol) throws(BadInput) {
        guard let format = Self(rawValue: String(text)) else {
            let names = Self.allCases.map(\.rawValue)
            throw BadInput(
                "\(text.quoted) is not a format\(names.suggestion(for: text))",
                hint: "formats are \(names.joined(lastBy: "and"))")
        }
        self = format
    }
}

extension ValueFormat {
    /// Returns the value as text, on one line and safe on a terminal. A value that does not have this format
    /// is returned as `hex:…`, which `write` also accepts.
    func text(_ value: [UInt8], type: ValueType? = nil) -> String {
        if self == .auto, type?.reading(value) == nil {
            // Printable octets may be a coincidence, so hex comes first and nothing is hidden. One character
            // is not enough to assume text.
            guard let text = ValueType.utf8(value), text.count > 1, text.printable == text else {
                return value.hex
            }
            return "\(value.hex) \(text.quoted)"
        }
        switch reading(value, type) {
        case .string(let text)?: return text.printable
        case .array(let numbers)? where number != nil:
            return numbers.map { if case .string(let text) = $0 { text } else { "\($0)" } }.joined(
                separator: ",")
        case let other?:
            guard case .number(_, let unit)? = type?.reading(value), self == .auto, !unit.isEmpty else {
                return "\(other)"
            }
            return "\(other) \(unit)"
        case nil: return "hex:\(value.hex)"
        }
    }

    /// Returns the value as one line for a program. It is that of `text`, except for `utf8`, where only control
    /// characters and the backslash are escaped. From hex, text and integers the program can get the same
    /// octets again. Other formats have several encodings of one number.
    func line(_ value: [UInt8]) -> String {
        guard self == .utf8 else { return text(value) }
        guard let text = String(validating: value, as: UTF8.self), !text.utf8.starts(with: "hex:".utf8) else {
            return "hex:\(value.hex)"
        }
        var line = ""
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar.properties.generalCategory == .control {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Returns the value for a JSON object: a number, a string, or for `json` the JSON value that it
    /// contains; hex if the value does not have this format.
    func jsonValue(_ value: [UInt8], type: ValueType? = nil) -> JSONValue {
        reading(value, type) ?? .string(value.hex)
    }

    /// Returns whether the value has this format. Every value fits `auto`, whose text shows what it is.
    func fits(_ value: [UInt8]) -> Bool { self == .auto || reading(value, nil) != nil }

    private func reading(_ value: [UInt8], _ type: ValueType?) -> JSONValue? {
        switch self {
        case .hex, .raw: return .string(value.hex)
        case .utf8: return String(validating: value, as: UTF8.self).map { .string($0) }
        case .json: return String(validating: value, as: UTF8.self).flatMap { try? JSONValue(text: $0) }
        case .auto:
            switch type?.reading(value) {
            case .text(let text)?: return .string(text)
            case .number(let text, _)?: return JSONValue(number: text)
            case nil: return nil
            }
        default:
            guard let number, !value.isEmpty, value.count.isMultiple(of: number.octets) else { return nil }
            let numbers = stride(from: 0, to: value.count, by: number.octets).compactMap { start in
                number.text([UInt8](value[start..<(start + number.octets)])).map { JSONValue(number: $0) }
            }
            return numbers.count == 1 ? numbers[0] : .array(numbers)
        }
    }
}

extension ValueFormat {
    /// Parses `text` in this format. Several numbers are separated by commas. `auto` is the format of `type`,
    /// or hex.
    func octets(_ text: some StringProtocol, type: ValueType? = nil) throws(BadInput) -> [UInt8] {
        switch self {
        case .utf8: return Array(text.utf8)
        case .json:
            _ = try JSONValue(text: String(text))
            return Array(text.utf8)
        case .auto:
            switch type {
            case .text?: return Array(text.utf8)
            case .number(let coding, let exponent, _)?: return try coding.octets(text, exponent: exponent)
            case .heartRate?, .temperature?, nil: return try [UInt8](hexText: text)
            }
        case .hex: return try [UInt8](hexText: text)
        case .raw:
            throw BadInput("raw is for values that are read", hint: "--from FILE writes what a file holds")
        default:
            guard let number else { return [] }
            var octets: [UInt8] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                octets += try number.octets(part)
            }
            return octets
        }
    }

    /// Parses what a program has printed or a file contains. White space around numbers and hex is ignored.
    func octets(printed text: [UInt8]) throws(BadInput) -> [UInt8] {
        self == .utf8 ? text : try octets(String(decoding: text, as: UTF8.self).trimmed)
    }

    /// Parses a VALUE on the command line. Without `--format`, it is hex, or has the format of its prefix, as
    /// in `utf8:Hello` or `u16:500`. The format is never guessed.
    static func octets(
        argument text: some StringProtocol, format: ValueFormat?, type: ValueType? = nil
    ) throws(BadInput) -> [UInt8] {
        if let format { return try format.octets(text, type: type) }
        if let colon = text.firstIndex(of: ":"), let format = ValueFormat(rawValue: String(text[..<colon])) {
            return try format.octets(text[text.index(after: colon)...], type: type)
        }
        do {
            return try hex.octets(text)
        } catch {
            // A misspelled prefix, not text or hex with colons.
            if let colon = text.firstIndex(of: ":"), case let prefix = String(text[..<colon]),
                !prefix.allSatisfy(\.isHexDigit), allCases.map(\.rawValue).nearest(to: prefix) != nil
            {
                _ = try ValueFormat(text: prefix)
            }
            let word = text.prefix(40).printable
            let number =
                Int128.number(text).map { ", for a number \($0 < 0 ? "i8" : "u8"):\(word) or another type" }
                ?? ""
            throw BadInput(error.reason, hint: "for text write utf8:\(word)\(number); see --format")
        }
    }
}
