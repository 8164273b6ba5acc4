/// A key that was pressed on a terminal in raw mode.
enum TerminalKey: Hashable, Sendable {
    /// A character, or part of one: a combining scalar follows the character that it belongs to.
    case scalar(Unicode.Scalar)
    /// Ctrl and a letter, lower-case.
    case control(Character)
    /// Alt and a character, or Escape and then the character.
    case alt(Character)
    case enter, tab, backTab, backspace, delete, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// To the start of the previous word, and behind the next one.
    case wordLeft, wordRight
}

/// Decodes keys in the input of a terminal (ECMA-48, with the extensions of xterm and similar terminals).
/// Accepts any octets.
struct KeyDecoder: Sendable {
    /// The maximum length of an escape sequence. Longer ones are not keys.
    static let limit = 32

    private var octets: [UInt8] = []

    /// Whether an Escape was received that can be a key, or the start of one. Call `flush` if nothing follows
    /// soon.
    var isPending: Bool { octets.first == 0x1b }

    /// Adds octets, and returns the keys that are complete.
    mutating func take(_ more: some Sequence<UInt8>) -> [TerminalKey] {
        octets += more
        var keys: [TerminalKey] = []
        var rest = octets[...]
        while !rest.isEmpty {
            let (key, length) = Self.key(rest)
            guard length > 0 else { break }
            if let key { keys.append(key) }
            rest = rest.dropFirst(length)
        }
        octets = Array(rest)
        return keys
    }

    /// Returns the keys in octets that will not be continued.
    mutating func flush() -> [TerminalKey] {
        guard isPending else { return [] }
        octets.removeFirst()
        return [.escape] + take([])
    }

    /// Returns the first key, or nil for octets that are not a key, and its length, which is 0 if more octets
    /// are needed.
    private static func key(_ octets: ArraySlice<UInt8>) -> (TerminalKey?, length: Int) {
        switch octets.first ?? 0 {
        case 0x1b: escape(octets)
        case 0x0d, 0x0a: (.enter, 1)
        case 0x09: (.tab, 1)
        case 0x08, 0x7f: (.backspace, 1)
        case let control where control < 0x20:
            (control == 0 || control > 26 ? nil : .control(letter(control + 0x60)), 1)
        default: scalar(octets)
        }
    }

    private static func letter(_ octet: UInt8) -> Character { Character(Unicode.Scalar(octet)) }

    /// Returns a character of UTF-8 and its length; the key is nil for invalid UTF-8, which is skipped.
    private static func scalar(_ octets: ArraySlice<UInt8>) -> (TerminalKey?, length: Int) {
        let first = octets.first ?? 0
        let length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
        let whole = octets.prefix(length)
        let isBroken = whole.dropFirst().contains { $0 & 0xc0 != 0x80 }
        guard whole.count == length || isBroken else { return (nil, 0) }
        guard !isBroken, let scalar = String(validating: whole, as: UTF8.self)?.unicodeScalars.first else {
            return (nil, 1)
        }
        return (.scalar(scalar), length)
    }

    private static func escape(_ octets: ArraySlice<UInt8>) -> (TerminalKey?, length: Int) {
        guard let second = octets.dropFirst().first else { return (nil, 0) }
        switch second {
        case 0x5b: return sequence(octets)
        case 0x4f:
            guard let third = octets.dropFirst(2).first else { return (nil, 0) }
            return (letters[third], 3)
        case 0x1b: return (.escape, 1)
        case 0x7f, 0x08: return (.alt("\u{7f}"), 2)
        case 0x20..<0x7f: return (.alt(letter(second)), 2)
        default: return (.escape, 1)
        }
    }

    private static let letters: [UInt8: TerminalKey] = [
        0x41: .up, 0x42: .down, 0x43: .right, 0x44: .left, 0x48: .home, 0x46: .end, 0x5a: .backTab,
        0x4d: .enter,
    ]
    private static let numbers: [Int: TerminalKey] = [
        1: .home, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
    ]

    /// Decodes a control sequence: numbers, then the octet that ends it.
    private static func sequence(_ octets: ArraySlice<UInt8>) -> (TerminalKey?, length: Int) {
        let parameters = octets.dropFirst(2).prefix { (0x20...0x3f).contains($0) }
        guard parameters.count <= limit else { return (nil, parameters.count + 2) }
        guard let final = octets.dropFirst(2 + parameters.count).first else { return (nil, 0) }
        let length = parameters.count + ((0x40...0x7e).contains(final) ? 3 : 2)
        let fields = String(decoding: parameters, as: UTF8.self).split(separator: ";")
        if final == 0x7e { return (fields.first.flatMap { Int($0) }.flatMap { numbers[$0] }, length) }
        let key = letters[final]
        // The second number is the modifier: 3 is Alt, 5 is Ctrl.
        guard fields.count > 1, ["3", "5"].contains(fields[1]) else { return (key, length) }
        return (key == .left ? .wordLeft : key == .right ? .wordRight : key, length)
    }
}
