import AssignedNumbers
import BLECore

/// A node of a YAML document. Scalars stay the text that they are in the file, so `1809` and `2e01` are
/// not taken for numbers before a caller asks for one.
struct YAMLNode: Hashable, Sendable {
    /// Where it begins; for the target of an alias, where the target does.
    var position: SourcePosition
    var content: Content

    enum Content: Hashable, Sendable {
        /// Text; `isPlain` when it has no quotes and is no block.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// Keys and their values, in the order of the file, each key once.
        case mapping([Entry])
    }

    struct Entry: Hashable, Sendable {
        var key: String
        /// The position of the key.
        var position: SourcePosition
        var value: YAMLNode
    }

    /// Whether nothing is there, or `null`.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null"].contains(text)
    }

    /// The kind of node, for messages.
    var kind: String {
        switch content {
        case _ where isNull: "nothing"
        case .scalar(let text, _): text.quoted
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// The error that this node is not `wanted`.
    func isNot(_ wanted: String, hint: String? = nil) -> ConfigurationError {
        ConfigurationError(position, "expected \(wanted), not \(kind)", hint: hint)
    }
}

/// What nodes hold. Each method says what should be there when it is something else.
extension YAMLNode {
    /// Returns the text of a scalar; throws for anything else.
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
                position, "expected \(names), not \(text.quoted)\(Word.names.suggestion(for: text))")
        }
        return word
    }

    /// Returns the nodes of a list; throws `ConfigurationError` for a node that is no list. `what` names the
    /// list in it.
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

    /// Reads a list of UUIDs.
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
