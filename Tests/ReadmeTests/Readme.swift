import Foundation

/// README.md and the sources of its samples.
enum Readme {
    /// The folder of the package.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// The code blocks of README.md in a language, without the fences.
    static func blocks(_ language: String) throws -> [String] {
        try text("README.md").components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
    }

    /// Returns the code between the marks in a file of this target as README.md contains it: with its import,
    /// and not indented.
    static func sample(_ file: String) throws -> String {
        let source = try text("Tests/ReadmeTests/\(file).swift")
        let lines = source.components(separatedBy: "\n").drop { $0 != "    // README:" }.dropFirst()
            .prefix { $0 != "    // README." }
        return "import BLE\n\n" + lines.map { String($0.dropFirst(4)) }.joined(separator: "\n")
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
