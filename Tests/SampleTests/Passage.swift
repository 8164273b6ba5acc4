import Foundation

/// Lines of code that documentation shows, or that this target compiles.
struct Passage: Sendable {
    /// The file whose documentation shows the code, from the package's root on.
    let file: String
    /// The file and the line before the code.
    let place: String
    /// The code, without the indentation that all lines have.
    let lines: [String]

    init(file: String, place: String, _ lines: some Collection<Substring>) {
        self.file = file
        self.place = place
        let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        self.lines = lines.map { String($0.dropFirst(depth)) }
    }

    /// Whether `code` is what this passage of documentation shows. An ellipsis leaves out the rest of its line,
    /// or any lines if nothing else is on its line.
    func shows(_ code: Passage) -> Bool {
        file == code.file && Self.matches(lines[...], code.lines[...])
    }

    private static func matches(_ shown: ArraySlice<String>, _ code: ArraySlice<String>) -> Bool {
        guard let line = shown.first else { return code.isEmpty }
        if line.drop(while: { $0 == " " }) == "…" {
            return (code.startIndex...code.endIndex).contains { matches(shown.dropFirst(), code[$0...]) }
        }
        guard let compiled = code.first else { return false }
        let isSame =
            line.firstIndex(of: "…").map { compiled.hasPrefix(line[..<$0]) } ?? (compiled == line)
        return isSame && matches(shown.dropFirst(), code.dropFirst())
    }
}

extension Passage {
    /// The code blocks in the documentation comments of the package's sources, except those of the language
    /// `text`.
    static func documented() throws -> [Passage] {
        try files(in: "Sources").flatMap { file, lines in
            var passages: [Passage] = []
            var rest = lines[...]
            while let start = rest.firstIndex(where: { comment($0)?.hasPrefix("```") == true }) {
                let block = lines[(start + 1)...].prefix { comment($0)?.hasPrefix("```") == false }
                if comment(lines[start]) != "```text" {
                    let code = block.map { $0.drop { $0 == " " }.dropFirst(3) }
                    passages.append(Passage(file: file, place: "\(file):\(start + 1)", code))
                }
                rest = lines[block.endIndex...].dropFirst()
            }
            return passages
        }
    }

    /// The samples of this target: what follows a line that names a source file, up to the line `// .`.
    static func compiled() throws -> [Passage] {
        try files(in: "Tests/SampleTests").flatMap { file, lines in
            lines.indices.compactMap { start in
                let mark = lines[start].drop { $0 == " " }
                guard mark.hasPrefix("// Sources/"), mark.hasSuffix(".swift") else { return nil }
                let code = lines[(start + 1)...].prefix { $0.drop { $0 == " " } != "// ." }
                return Passage(file: String(mark.dropFirst(3)), place: "\(file):\(start + 1)", code)
            }
        }
    }

    /// The text of a line that is part of a documentation comment.
    private static func comment(_ line: Substring) -> Substring? {
        let text = line.drop { $0 == " " }
        return text.hasPrefix("///") ? text.dropFirst(3).drop { $0 == " " } : nil
    }

    /// The lines of all Swift files in a folder, by the path from the package's root on.
    private static func files(in folder: String) throws -> [(file: String, lines: [Substring])] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
            .standardizedFileURL
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return try names.sorted().filter { $0.hasSuffix(".swift") }.map { name in
            let file = "\(folder)/\(name)"
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            return (file, text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }
}
