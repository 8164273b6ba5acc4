import BLECore
import Foundation
import Testing

/// One exchange of PDUs from `Fixtures/dialogues`. README.md there describes the syntax.
struct Dialogue: Sendable {
    /// The content of a line.
    enum Step: Equatable {
        /// `> octets`: the peer sends a PDU. `>> octets`: the peer sends more before our side processes this one.
        case theirs([UInt8], more: Bool)
        /// `< octets`: our side sends a PDU.
        case ours([UInt8])
        /// `= words`: our side reports an event to its user.
        case reported(String)
        /// `word words`: our side performs a command.
        case happens(String, [String])
    }

    struct Line {
        let number: Int
        let step: Step
    }

    /// An error in a file: invalid syntax, or the name of an unknown database.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    let file: String
    let id: String
    let title: String
    fileprivate let text: [(number: Int, text: String)]

    /// Whether our side is the client.
    var isClient: Bool { id.contains("/CL/") }

    /// Returns the steps in order.
    func lines() throws -> [Line] {
        try text.map { Line(number: $0.number, step: try Self.step($0.text, "\(file):\($0.number)")) }
    }

    private static func step(_ line: String, _ place: String) throws -> Step {
        let words = line.split(separator: " ").map(String.init)
        let rest = words.dropFirst()
        switch words[0] {
        case ">": return .theirs(try octets(rest, place), more: false)
        case ">>": return .theirs(try octets(rest, place), more: true)
        case "<": return .ours(try octets(rest, place))
        case "=": return .reported(rest.joined(separator: " "))
        default: return .happens(words[0], Array(rest))
        }
    }

    /// Returns the octets of hexadecimal words. `*20:07` stands for 20 octets of 07, `*60:00+` for 60 octets that
    /// count up from 00.
    private static func octets(_ words: ArraySlice<String>, _ place: String) throws -> [UInt8] {
        try words.reduce(into: []) { all, word in
            guard let more = octets(word) else { throw Mistake(description: "\(place): \(word) is not hex") }
            all += more
        }
    }

    /// Returns the octets of a word, or nil if the word is invalid.
    static func octets(_ word: String) -> [UInt8]? {
        guard word.hasPrefix("*") else { return [UInt8](hex: word) }
        let parts = word.dropFirst().split(separator: ":")
        guard parts.count == 2, let count = Int(parts[0]), let first = UInt8(parts[1].prefix(2), radix: 16)
        else { return nil }
        let step: UInt8 = parts[1].hasSuffix("+") ? 1 : 0
        return (0..<count).map { first &+ step &* UInt8(truncatingIfNeeded: $0) }
    }
}

extension Dialogue: CustomTestStringConvertible {
    var testDescription: String { "\(id): \(title)" }
}

extension Dialogue {
    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Fixtures/dialogues").standardizedFileURL

    /// All dialogues of all files, in order.
    static let all: [Dialogue] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        return (files ?? []).filter { $0.hasSuffix(".txt") }.sorted().flatMap { file in
            let text = try? String(contentsOf: directory.appending(path: file), encoding: .utf8)
            return parse(text ?? "", file)
        }
    }()

    /// Returns the sections of a file. Each begins with its id in brackets and a title. `#` begins a comment.
    private static func parse(_ text: String, _ file: String) -> [Dialogue] {
        var dialogues: [Dialogue] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
            if words.hasPrefix("["), let end = words.firstIndex(of: "]") {
                let id = String(words[words.index(after: words.startIndex)..<end])
                let title = words[words.index(after: end)...].trimmingCharacters(in: .whitespaces)
                dialogues.append(Dialogue(file: file, id: id, title: title, text: []))
            } else if !words.isEmpty, let last = dialogues.popLast() {
                let text = last.text + [(index + 1, words)]
                dialogues.append(Dialogue(file: file, id: last.id, title: last.title, text: text))
            }
        }
        return dialogues
    }
}
