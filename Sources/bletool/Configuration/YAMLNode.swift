import AssignedNumbers
import BLECore

/// A node of a YAML document. Scalars keep the text that they have in the file, so `1809` and `2e01` are not
/// numbers until a caller requests one.
struct YAMLNode: Hashable, Sendable {
    /// The position of the node; for an alias, the position of its target.
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

    /// Whether the node is empty or `null`.
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

    /// Returns the error that this node is not `wanted`.
    func isNot(_ wanted: String, hint: String? = nil) -> ConfigurationError {
        ConfigurationError(position, "expected \(wanted), not \(kind)", hint: hint)
    }
}

/// The contents of nodes. Each method throws an error that states what it expected if the node is something
/// else.
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

    /// Returns an integer within `range`, in decimal, or in hexadecimal after `0x`. It can be in quotes,
    /// because JSON has no hexadecimal numbers. `what` names it in errors, as in "the MTU".
    func integer<Number: FixedWidthInteger>(
        _ what: String, in range: ClosedRange<Number>
    ) throws(ConfigurationError) -> Number {
        let text = try text("a number")
        return try located { try Number(text: text, in: range, what) }
    }

    /// Returns the case of an enumeration whose raw value is the text of the node.
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

    /// Returns the entries of a mapping with arbitrary keys. `what` describes them in errors.
    func entries(of what: String) throws(ConfigurationError) -> [Entry] {
        guard case .mapping(let entries) = content else { throw isNot("a mapping of \(what)") }
        return entries
    }

    func duration() throws(ConfigurationError) -> Duration {
        let text = try text("a duration")
        return try located { try Duration(text: text) }
    }

    /// Returns the octets of hexadecimal digits. Digits such as `0102` need no quotes.
    func hex(count: ClosedRange<Int> = 0...512) throws(ConfigurationError) -> [UInt8] {
        let text = try text("hex")
        return try located { try [UInt8](hexText: text, count: count) }
    }

    /// Returns a UUID, given by its digits or its name. Of several UUIDs with the same name, the one of
    /// `kind` is chosen.
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

    /// Returns the result of `body`. Its errors get the position of this node.
    func located<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
        try position.located(body)
    }
}

extension SourcePosition {
    /// Returns the result of `body`. Its errors get this position.
    func located<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
        do {
            return try body()
        } catch {
            throw ConfigurationError(self, BadInput(caught: error))
        }
    }
}
