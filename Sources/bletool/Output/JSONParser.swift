/// A strict parser of JSON text (RFC 8259) from devices and command lines, with at most 64 levels.
struct JSONParser {
    private static let depthLimit = 64
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) { self.text = Array(text.utf8) }

    /// Parses the text, which must be one value.
    mutating func parse() throws(BadInput) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        if position < text.count { throw failure("nothing may follow the value") }
        return value
    }

    private func failure(_ reason: String) -> BadInput {
        BadInput("this is not JSON: \(reason), at octet \(position)")
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace() {
        while let next, next == 0x20 || next == 0x0a || next == 0x0d || next == 0x09 { position += 1 }
    }

    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: wanted) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(BadInput) -> JSONValue {
        guard depth < Self.depthLimit else { throw failure("more than \(Self.depthLimit) levels") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case let next? where next == UInt8(ascii: "-") || Self.digits.contains(next): return try number()
        default:
            for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
            where text[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return value
            }
            throw failure("expected a value")
        }
    }

    private mutating func array(depth: Int) throws(BadInput) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw failure("expected a comma or ]") }
        return .array(values)
    }

    private mutating func object(depth: Int) throws(BadInput) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if take("}") { return .object([]) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("expected a name in quotes") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw failure("expected a colon") }
            members.append(.init(name, try value(depth: depth + 1)))
            skipSpace()
        } while take(",")
        guard take("}") else { throw failure("expected a comma or }") }
        return .object(members)
    }

    private mutating func number() throws(BadInput) -> JSONValue {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return .number(String(decoding: text[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(BadInput) {
        let start = position
        while let next, Self.digits.contains(next) { position += 1 }
        if position == start { throw failure("expected a digit") }
    }

    private mutating func string() throws(BadInput) -> String {
        position += 1
        var result = ""
        var start = position
        while let octet = next, octet >= 0x20 {
            guard octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            result += String(decoding: text[start..<position], as: UTF8.self)
            position += 1
            if octet == UInt8(ascii: "\"") { return result }
            result.unicodeScalars.append(try escaped())
            start = position
        }
        throw failure("a string has no end, or a control character")
    }

    /// Parses the rest of an escape sequence. An unpaired surrogate becomes U+FFFD.
    private mutating func escaped() throws(BadInput) -> Unicode.Scalar {
        let plain: [(Unicode.Scalar, Unicode.Scalar)] = [
            ("\"", "\""), ("\\", "\\"), ("/", "/"), ("b", "\u{8}"), ("f", "\u{c}"), ("n", "\n"), ("r", "\r"),
            ("t", "\t"),
        ]
        for (letter, meaning) in plain where take(letter) { return meaning }
        guard take("u") else { throw failure("no such escape") }
        let unit = try unit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let after = position
        if UTF16.isLeadSurrogate(unit), take("\\"), take("u") {
            let second = try self.unit()
            if UTF16.isTrailSurrogate(second) { return UTF16.decode(UTF16.EncodedScalar([unit, second])) }
        }
        position = after
        return "\u{fffd}"
    }

    private mutating func unit() throws(BadInput) -> UInt16 {
        let digits = text[position...].prefix(4)
        guard digits.count == 4, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16),
            digits.first != UInt8(ascii: "+")
        else { throw failure("expected four hexadecimal digits") }
        position += 4
        return unit
    }
}

extension JSONValue {
    /// Parses `text`, which must be one JSON value.
    init(text: String) throws(BadInput) {
        var parser = JSONParser(text)
        self = try parser.parse()
    }
}
