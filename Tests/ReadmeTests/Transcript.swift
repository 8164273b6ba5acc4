import Foundation
import Testing

/// A document of commands and their output, in the format that docs/ten-tasks.md explains at its end.
struct Transcript {
    /// A part of the document, whose commands run in an empty folder.
    struct Chapter: CustomTestStringConvertible {
        var title: String
        var steps: [Step] = []
        var testDescription: String { title }
    }

    /// A step of a chapter.
    enum Step {
        /// A file to create.
        case file(name: String, text: String)
        /// Input and output at a terminal; nil is the terminal of the chapter.
        case session(terminal: String?, [Exchange])
    }

    /// Input, and the output that follows it.
    struct Exchange {
        /// The input, or nil if a running program shows further output.
        var typed: Typed?
        var shown: [String] = []
    }

    /// Input at a terminal.
    enum Typed: Equatable {
        case command(String)
        case interrupt
    }

    private(set) var chapters: [Chapter] = []

    /// Parses the chapters of a document. Each chapter begins with the steps before the first heading.
    init(_ text: String, hasBluetooth: Bool) {
        var (chapter, preface) = (Chapter(title: ""), [Step]())
        var isLeftOut = false
        var lines = text.components(separatedBy: "\n")[...]
        while let line = lines.popFirst() {
            if line.hasPrefix("## ") {
                if chapter.title.isEmpty { preface = chapter.steps } else { chapters.append(chapter) }
                chapter = Chapter(title: String(line.dropFirst(3)), steps: preface)
            } else if line == "<!-- without Bluetooth -->" {
                isLeftOut = hasBluetooth
            } else if line.hasPrefix("```") {
                let body = Array(lines.prefix { $0 != "```" })
                lines = lines.dropFirst(body.count + 1)
                if !isLeftOut, let step = Step(kind: line.dropFirst(3), body) { chapter.steps.append(step) }
                isLeftOut = false
            }
        }
        if !chapter.title.isEmpty { chapters.append(chapter) }
    }
}

extension Transcript.Step {
    /// Parses a code block; nil for a block that is no step.
    fileprivate init?(kind: Substring, _ body: [String]) {
        let words = kind.split(separator: " ")
        switch words.first {
        case "yaml":
            guard let name = body.first?.dropFirst(2) else { return nil }
            self = .file(name: String(name), text: body.joined(separator: "\n") + "\n")
        case "console":
            var exchanges: [Transcript.Exchange] = []
            for line in body {
                if line.hasPrefix("$ ") {
                    exchanges.append(.init(typed: .command(String(line.dropFirst(2)))))
                } else if line == "^C" {
                    exchanges.append(.init(typed: .interrupt))
                } else {
                    if exchanges.isEmpty { exchanges.append(.init()) }
                    exchanges[exchanges.count - 1].shown.append(line)
                }
            }
            self = .session(terminal: words.dropFirst().first.map(String.init), exchanges)
        default: return nil
        }
    }
}

extension Transcript {
    /// The line that stands for any number of lines.
    static let anything = "…"

    /// Returns a line without the parts that differ between runs. All other parts must be equal.
    static func constant(_ line: String) -> String {
        var line = line
        line.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/, with: "TIME")
        // The number and the time of a packet in the output of `decode`.
        line.replace(/^ +\d+ +\d+\.\d{6}/, with: "NUMBER TIME")
        line.replace(/\d+(\.\d+)? ms after \d+/, with: "N ms after NUMBER")
        line.replace(/(as central|as peripheral)  \d+(\.\d+)? s/, with: "N s")
        line.replace(/(F|f)rame \d+/, with: "frame NUMBER")
        line.replace(/\d+ octets\/s/, with: "N octets/s")
        line.replace(/\d+ packets drawn/, with: "N packets drawn")
        line.replace(/process \d+/, with: "process N")
        // There is no pause after a link that lasted long.
        line.replace(#/  again in 500ms$/#, with: "")
        return line
    }
}
