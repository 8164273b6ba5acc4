import AssignedNumbers
import BLECore
import GATTClient

/// What Tab offers: verbs, options, attributes that discovery found, and formats.
struct ShellCompletion: Hashable, Sendable {
    /// The first words that mean something, and the options of each.
    var verbs: [String: [String]]
    /// UUIDs, names and handles of what the device has.
    var attributes: [String] = []

    private static let formats = ValueFormat.allCases.filter { $0 != .raw }.map(\.rawValue)
    private static let awaited = WaitStep.Awaited.allCases.map(\.rawValue)

    /// The words that could stand where the cursor is, given what stands before it; they all begin with `word`.
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
        case ("write", 2...): return Self.formats.filter { $0 != "auto" }.map { "\($0):" }
        case ("help", 1): return Array(verbs.keys)
        case ("read", _), ("write", 1), ("notify", _), ("subscribe", _), ("unsubscribe", _), ("wait", _):
            return attributes
        default: return []
        }
    }

    /// What to put at the cursor: the rest of the only candidate with a blank, or what all of them begin with.
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
    /// How the attributes with values may be called: by UUID, by name as `battery_level`, and by handle.
    var spellings: [String] {
        services.flatMap(\.characteristics).flatMap { characteristic in
            let name = Names.name(characteristic.uuid)?.snakeCased
            let isName = name.map { Names.uuid($0, .characteristic) == characteristic.uuid } ?? false
            return ["\(characteristic.uuid)", "\(characteristic.valueHandle)"] + (isName ? [name ?? ""] : [])
                + characteristic.descriptors.map { "\($0.handle)" }
        }
    }
}

extension String {
    fileprivate var snakeCased: String {
        String(lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
}
