import Foundation
import Testing

/// The code in the documentation's articles is part of programs that tests compile and run.
struct ArticleTests {
    private static let articles = Readme.root.appending(path: "Sources/BLE/BLE.docc")

    @Test func articleCodeExistsInExamples() throws {
        let programs = try ["Examples", "Tests/ReadmeTests"].flatMap { folder in
            try sources(in: Readme.root.appending(path: folder)).map(Self.lines)
        }
        var count = 0
        for article in try FileManager.default.contentsOfDirectory(atPath: Self.articles.path) {
            let text = try String(contentsOf: Self.articles.appending(path: article), encoding: .utf8)
            for block in text.components(separatedBy: "```swift\n").dropFirst() {
                let code = Self.lines(block.components(separatedBy: "\n```")[0])
                #expect(programs.contains { $0.contains(code) }, "\(article): \(code)")
                count += 1
            }
        }
        #expect(count >= 6)
    }

    private func sources(in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    }

    /// Returns the lines of `text` without indentation and without empty lines.
    private static func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }
}
