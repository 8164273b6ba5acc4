import BLECore
import Testing

@testable import bletool

private func tree(_ text: String) throws(ConfigurationError) -> YAMLNode {
    try YAMLComposer.tree(Array(text.utf8))
}

struct YAMLTests {
    @Test func scalarsKeepTextAndPosition() throws {
        let root = try tree(
            "a: 1809\nb: [2e01, '0x10', \"x\"]\nc:\n  - d: |\n      two\n      lines\n")
        guard case .mapping(let entries) = root.content else {
            Issue.record("not a mapping")
            return
        }
        #expect(entries.map(\.key) == ["a", "b", "c"])
        #expect(
            entries.map(\.position) == [
                .init(line: 1, column: 1), .init(line: 2, column: 1), .init(line: 3, column: 1),
            ])
        #expect(entries[0].value.content == .scalar("1809", isPlain: true))
        let items = try entries[1].value.list(of: "things")
        #expect(
            items.map(\.content) == [
                .scalar("2e01", isPlain: true), .scalar("0x10", isPlain: false), .scalar("x", isPlain: false),
            ])
        #expect(items.map(\.position.column) == [5, 11, 19])
    }

    @Test func jsonIsParsedAsYAML() throws {
        let root = try tree(#"{"a": [1, true, null, "\u00e9"], "b": {"c": {}}}"#)
        #expect(try root.entries(of: "things").map(\.key) == ["a", "b"])
    }

    @Test func aliasesAreResolved() throws {
        let root = try tree("a: &x {k: [1, 2]}\nb: *x\n")
        let entries = try root.entries(of: "things")
        #expect(entries[0].value == entries[1].value)
        #expect(entries[1].value.position.line == 1)
    }

    @Test(arguments: [
        ("", 1, "is empty"), ("# nothing\n", 2, "is empty"), ("a: 1\na: 2", 2, "is already given, at line 1"),
        ("a: 1\n'a': 2", 2, "is already given"), ("a: *b", 1, "anchor"), ("a: &a [*a]", 1, "anchor"),
        ("a: 1\n---\nb: 2", 2, "second document"), ("[a]: 1", 1, "expected a key"),
        ("? {a: 1}\n: 2", 1, "a key"),
        ("a: !!binary AAAA", 1, "tag"), ("a: !x b", 1, "tag"), ("a: !!int 1", 1, "tag"),
        ("a: [1", 2, "YAML: "),
        ("a: b: c", 1, "YAML: "), ("a:\n\t- b", 2, "; tabs do not indent"), ("x\ny: \u{1}", 2, "not text"),
        ("a: \"", 1, "YAML: "),
        ("%YAML 3.0\n---\na", 1, "YAML: "), ("}", 1, "YAML: "), ("a: 'x\n", 2, "YAML: "),
    ])
    func invalidYAMLIsRefusedWithLine(text: String, line: Int, reason: String) throws {
        let error = try #require(#expect(throws: ConfigurationError.self) { try tree(text) })
        #expect(error.reason.contains(reason), "\(error.reason)")
        #expect(error.position?.line == line, "\(error)")
    }

    @Test func errorOfAnotherKindDoesNotMentionTabs() throws {
        let error = try #require(
            #expect(throws: ConfigurationError.self) { try tree("a: [b\n\t}]") })
        #expect(error.reason.contains("YAML: ") && !error.reason.contains("tabs"), "\(error.reason)")
    }

    @Test func invalidUTF8ErrorHasPosition() throws {
        let text = Array("a: é\nb: \"".utf8) + [0xff, 0xfe] + Array("\"".utf8)
        let error = try #require(#expect(throws: ConfigurationError.self) { try YAMLComposer.tree(text) })
        #expect(error.position == SourcePosition(line: 2, column: 5))
    }

    /// Nine levels of nine aliases each would be 3 GB.
    @Test func aliasExpansionIsBounded() throws {
        var lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            lines.append("a\(level): &a\(level) [\(aliases)]")
        }
        let error = try #require(
            #expect(throws: ConfigurationError.self) { try tree(lines.joined(separator: "\n")) })
        #expect(error.reason == "more than 100000 nodes, with aliases expanded")
        #expect(error.position?.line == 6)
    }

    @Test func depthIsBounded() throws {
        let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(throws: Never.self) { try tree(deep) }
        let deeper = #expect(throws: ConfigurationError.self) { try tree("[\(deep)]") }
        #expect(deeper?.reason == "more than 32 levels")
        let abyss = #expect(throws: ConfigurationError.self) {
            try tree(String(repeating: "[", count: 500_000))
        }
        #expect(abyss != nil)
        // The depth of an alias includes the depth of the node that it refers to.
        let chain = (1...31).map { "a\($0): &a\($0) [\($0 == 1 ? "x" : "*a\($0 - 1)")]" }.joined(
            separator: "\n")
        let alias = #expect(throws: ConfigurationError.self) { try tree(chain) }
        #expect(alias?.reason == "more than 32 levels")
    }

    @Test func sizeIsBounded() {
        let long = #expect(throws: ConfigurationError.self) {
            try YAMLComposer.tree([UInt8](repeating: UInt8(ascii: "#"), count: YAMLComposer.fileLimit + 1))
        }
        #expect(long?.position == nil)
    }

    /// libyaml takes seconds for 30,000 of them.
    @Test func directivesAreBounded() throws {
        let lines = (0..<101).map { "%TAG !\($0)! tag:x,2000:" } + ["--- a: b"]
        let error = #expect(throws: ConfigurationError.self) { try tree(lines.joined(separator: "\n")) }
        #expect(error?.reason == "101 lines begin with %, at most 100 may")
        #expect(throws: Never.self) { try tree("%YAML 1.1\n%TAG !x! tag:x,2000:\n---\na: b") }
    }

    @Test func randomInputDoesNotTrap() {
        var random = SplitMix64(seed: 4)
        let pieces = [
            "a", ":", " ", "\n", "- ", "[", "]", "{", "}", ",", "&x ", "*x", "'", "\"", "|\n", "!t ", "#",
            "\t", "é", "?", "---\n",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            _ = try? tree(text.joined())
            _ = try? YAMLComposer.tree(random.bytes(upTo: 60))
        }
    }
}
