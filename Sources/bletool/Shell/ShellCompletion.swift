import ATT
import ArgumentParser
import AssignedNumbers
import BLECore
import GATTClient

/// The completions that Tab offers: verbs, options, discovered attributes, and formats.
struct ShellCompletion: Hashable, Sendable {
    /// The valid first words, and the options of each.
    var verbs: [String: [String]]
    /// An attribute that the device has.
    struct Attribute: Hashable, Sendable {
        /// The UUID, name and handle, as far as they identify the attribute.
        var spellings: [String]
        /// The handle of its value.
        var handle: AttributeHandle
        var uuid: BluetoothUUID
        /// The properties of the characteristic; nil for descriptors.
        var properties: CharacteristicProperties?

        /// Returns whether a verb can be used on the attribute.
        fileprivate func takes(_ verb: String) -> Bool {
            let needed: CharacteristicProperties =
                switch verb {
                case "read": .read
                case "write": .anyWrite
                default: .anyNotification
                }
            guard let properties else { return verb == "read" || verb == "write" }
            return !properties.isDisjoint(with: needed)
        }
    }

    var attributes: [Attribute] = []
    /// The values that were read or received last.
    var values: [AttributeHandle: [UInt8]] = [:]

    private static let formats = ValueFormat.allCases.filter { $0 != .raw }.map(\.rawValue)
    private static let awaited = WaitStep.Awaited.allCases.map(\.rawValue)

    /// Returns the words that are possible at the cursor, given the text before it. They all begin with
    /// `word`.
    func candidates(before text: String) -> (word: String, candidates: [String]) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let isInWord = text.last.map { !$0.isWhitespace } ?? false
        let word = isInWord ? words.last ?? "" : ""
        let earlier = Array(isInWord ? words.dropLast() : words[...])
        return (word, Set(offered(word, after: earlier).filter { $0.hasPrefix(word) }).sorted())
    }

    private func offered(_ word: String, after words: [String]) -> [String] {
        guard let verb = words.first else { return Array(verbs.keys) }
        if word.hasPrefix("-") { return verbs[verb] ?? [] }
        if words.last == "--format" { return Self.formats }
        switch (verb, words.count) {
        case ("wait", 1): return Self.awaited
        case ("write", 2...):
            let types = Self.formats.filter { $0 != "auto" }.map { "\($0):" }
            guard let value = lastValue(of: words[1]) else { return types }
            // The value takes the place of its type, so that Tab completes it.
            return types.filter { !value.hasPrefix($0) } + [value]
        case ("help", 1): return Array(verbs.keys)
        case ("read", _), ("write", 1), ("notify", _), ("subscribe", _), ("unsubscribe", _), ("wait", _):
            return attributes.filter { $0.takes(verb) }.flatMap(\.spellings)
        default: return []
        }
    }

    /// Returns the last value of an attribute in the form that `write` accepts.
    private func lastValue(of spelling: String) -> String? {
        guard let attribute = attributes.first(where: { $0.spellings.contains(spelling) }),
            let value = values[attribute.handle], !value.isEmpty, value.count <= Self.longest
        else { return nil }
        if ValueType(of: attribute.uuid) == .text, let text = ValueType.utf8(value), text.isPlain {
            return "utf8:\"\(text)\""
        }
        let number = value.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return [1, 2, 4].contains(value.count) ? "u\(value.count * 8):\(number)" : "hex:\(value.hex)"
    }

    /// The maximum length of an offered value in octets.
    static let longest = 32

    /// Returns the text to insert at the cursor: the rest of the only candidate and a space, or the common
    /// beginning of all candidates.
    static func insertion(_ word: String, _ candidates: [String]) -> String {
        guard let first = candidates.first else { return "" }
        if candidates.count == 1 {
            return String(first.dropFirst(word.count))
                + (first.hasSuffix(":") || first.hasSuffix("/") ? "" : " ")
        }
        let common = candidates.dropFirst().reduce(first) { String(zip($0, $1).prefix { $0 == $1 }.map(\.0)) }
        return String(common.dropFirst(word.count))
    }
}

extension RemoteDatabase {
    /// The attributes with values, and their spellings: by UUID, by name as `battery_level`, and by handle.
    var spelledAttributes: [ShellCompletion.Attribute] {
        services.flatMap(\.characteristics).flatMap { characteristic in
            let name = Names.attribute(characteristic.uuid)?.snakeCased
            let isName = name.map { Names.uuid($0, .characteristic) == characteristic.uuid } ?? false
            let spellings = ["\(characteristic.uuid)", "\(characteristic.valueHandle)"]
            let value = ShellCompletion.Attribute(
                spellings: spellings + (isName ? [name ?? ""] : []), handle: characteristic.valueHandle,
                uuid: characteristic.uuid, properties: characteristic.properties)
            return [value]
                + characteristic.descriptors.map {
                    ShellCompletion.Attribute(spellings: ["\($0.handle)"], handle: $0.handle, uuid: $0.uuid)
                }
        }
    }
}

extension String {
    /// Whether a line can contain the text in double quotes without escapes.
    fileprivate var isPlain: Bool {
        unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" } && self == printable
    }

    fileprivate var snakeCased: String {
        String(lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
}

/// The first words of lines with their descriptions: those of scripts, of `gatt`, and the shell's own.
enum ShellVerbs {
    /// The shell's own commands, and the steps of scripts that are not verbs of `gatt`.
    private static let others = [
        ("connect", "connect again"), ("disconnect", "end the link"),
        ("help", "show this list, or with VERB its help"),
        ("quit", "end the shell"), ("sleep", "DURATION: pause; values are still shown"),
        ("subscribe", "ATTR [--indicate]: show values as they arrive"),
        ("unsubscribe", "ATTR: end the subscription"),
        ("wait", "notification|indication|disconnection [ATTR] [--within DURATION]"),
    ]

    /// Returns the lines of help for a verb of `gatt`. For any other word, or none, returns the list of all
    /// commands.
    static func help(_ name: String?) -> [String] {
        if let verb = ScriptStep.verbs.first(where: { $0.configuration.commandName == name }) {
            return verb.helpMessage(columns: 80).split(separator: "\n", omittingEmptySubsequences: false)
                .map(String.init)
        }
        let all =
            others + ScriptStep.verbs.map { ($0.configuration.commandName ?? "", $0.configuration.abstract) }
        return all.sorted { $0.0 < $1.0 }.map { "  \($0.0.filling(14))\($0.1)" } + [
            "Tab completes, up and down and Ctrl-R recall lines, Ctrl-C ends a command,",
            "Ctrl-Z suspends the shell, Ctrl-D ends it.",
        ]
    }

    /// The options of each verb that a line can contain. They are determined once, because generating the
    /// help that they are read from takes time.
    static let table: [String: [String]] = {
        var table = Dictionary(uniqueKeysWithValues: others.map { ($0.0, [String]()) })
        table["subscribe"] = ["--indicate"]
        table["wait"] = ["--within"]
        for verb in ScriptStep.verbs {
            let words = verb.helpMessage(columns: 200).split { !$0.isLetter && $0 != "-" }
            let options = Set(words.filter { $0.hasPrefix("--") && $0.count > 2 }.map(String.init))
            table[verb.configuration.commandName ?? ""] = options.filter { !ScriptStep.isOfLink($0) }.sorted()
        }
        return table
    }()
}
