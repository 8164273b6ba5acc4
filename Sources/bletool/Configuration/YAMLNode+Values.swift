import AssignedNumbers
import BLECore

/// What nodes hold. Each method says what should be there when it is something else.
extension YAMLNode {
    /// Text, quoted or not.
    func text(_ wanted: String = "text") throws(ConfigurationError) -> String {
        guard case .scalar(let text, _) = content, !isNull else { throw isNot(wanted) }
        return text
    }

    /// Returns whether the plain scalar is `true`. Anything but `true` and `false` is an error.
    func bool() throws(ConfigurationError) -> Bool {
        switch content {
        case .scalar("true", isPlain: true): return true
        case .scalar("false", isPlain: true): return false
        default: throw isNot("true or false")
        }
    }

    /// An integer within `range`, decimal or hexadecimal after `0x`; JSON, which has no hexadecimal
    /// numbers, may put it in quotes. `what` names it in errors, as in "the MTU".
    func integer<Number: FixedWidthInteger>(
        _ what: String, in range: ClosedRange<Number>
    ) throws(ConfigurationError) -> Number {
        let text = try text("a number")
        return try located { try Number(text: text, in: range, what) }
    }

    /// The case of an enumeration whose raw values are the words.
    func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type = Word.self
    ) throws(ConfigurationError) -> Word where Word.RawValue == String {
        let names = Word.names.joined(lastBy: "or")
        guard case .scalar(let text, _) = content, !isNull else { throw isNot(names) }
        guard let word = Word(rawValue: text) else {
            throw ConfigurationError(
                position, "\(names) should be here, not \(text.quoted)\(Word.names.suggestion(for: text))")
        }
        return word
    }

    /// The nodes of a list.
    func list(of what: String) throws(ConfigurationError) -> [YAMLNode] {
        guard case .sequence(let nodes) = content else { throw isNot("a list of \(what)") }
        return nodes
    }

    /// The keys and values of a mapping whose keys may be anything.
    func entries(of what: String) throws(ConfigurationError) -> [Entry] {
        guard case .mapping(let entries) = content else { throw isNot("a mapping of \(what)") }
        return entries
    }

    func duration() throws(ConfigurationError) -> Duration {
        let text = try text("a duration")
        return try located { try Duration(text: text) }
    }

    /// Octets as hexadecimal digits; `0102` without quotes is what it says, too.
    func hex(count: ClosedRange<Int> = 0...512) throws(ConfigurationError) -> [UInt8] {
        let text = try text("hex")
        return try located { try [UInt8](hexText: text, count: count) }
    }

    /// A UUID by its digits or by its name; among equal names, that of `kind`.
    func uuid(
        _ kind: AssignedNumbers.UUIDKind, _ names: UUIDNames
    ) throws(ConfigurationError) -> BluetoothUUID {
        let text = try text("a UUID")
        return try located { try BluetoothUUID(text: text, kind: kind, names: names) }
    }

    /// The UUIDs of a list.
    func uuids(_ names: UUIDNames) throws(ConfigurationError) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for node in try list(of: "UUIDs") { uuids.append(try node.uuid(.service, names)) }
        return uuids
    }

    /// What `body` makes of this node; what is wrong with it is wrong here.
    func located<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
        try position.located(body)
    }
}

extension SourcePosition {
    /// What `body` makes of what is here; what is wrong with it is wrong here.
    func located<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
        do {
            return try body()
        } catch {
            throw ConfigurationError(self, BadInput(caught: error))
        }
    }
}
