import Testing

@testable import bletool

struct LineEditorTests {
    /// Returns the editor after the octets of a terminal, and the outcomes of the keys.
    private func typed(_ text: String, _ editor: LineEditor = LineEditor()) -> (
        LineEditor, [LineEditor.Outcome]
    ) {
        var (editor, keys) = (editor, KeyDecoder())
        let outcomes = keys.take(Array(text.utf8)).compactMap { editor.take($0) }
        return (editor, outcomes)
    }

    @Test(arguments: [
        ("read", "read", 4), ("rad\u{1b}[D\u{1b}[De", "read", 2), ("reead\u{1b}[D\u{1b}[D\u{7f}", "read", 2),
        ("xread\u{1}\u{1b}[3~", "read", 0), ("ead\u{1}r\u{5}!", "read!", 5), ("read 2a19\u{17}", "read ", 5),
        ("read 2a19  \u{17}", "read ", 5), ("read 2a19\u{1}\u{b}", "", 0), ("read 2a19\u{15}", "", 0),
        ("read 2a19\u{17}\u{15}\u{19}", "read ", 5), ("read 2a19\u{1b}b\u{1b}bx", "xread 2a19", 1),
        ("read 2a19\u{1}\u{1b}f!", "read! 2a19", 5), ("read 2a19\u{1}\u{1b}d", " 2a19", 0),
        ("read\u{1}\u{4}", "ead", 0), ("日本\u{1b}[D\u{7f}", "本", 0), ("e\u{301}\u{7f}", "", 0),
        ("e\u{301}", "e\u{301}", 1), ("\u{202e}a", "a", 1),
        ("\u{1b}[D\u{7f}\u{1b}[3~\u{b}\u{15}\u{17}\u{1b}b\u{1b}f\u{1b}d\u{19}", "", 0),
    ])
    func keysEditLine(_ keys: String, _ text: String, _ cursor: Int) {
        let (editor, outcomes) = typed(keys)
        #expect(String(editor.text) == text)
        #expect(editor.cursor == cursor)
        #expect(outcomes.isEmpty)
    }

    @Test(
        arguments: [
            ("read 2a19\r", [.line("read 2a19")]), ("\r", [.line("")]), ("rea\t", [.complete]),
            ("x\u{3}", [.interrupt]),
            ("\u{4}", [.end]), ("\u{c}", [.clear]), ("a\rb\r", [.line("a"), .line("b")]),
        ] as [(String, [LineEditor.Outcome])])
    func keysProduceOutcomes(_ keys: String, _ outcomes: [LineEditor.Outcome]) {
        #expect(typed(keys).1 == outcomes)
    }

    @Test func historyIsRecalledByArrows() {
        let (editor, _) = typed("one\rtwo\rtwo\r \rthr")
        func text(_ keys: String) -> String { String(typed(keys, editor).0.text) }
        #expect(text("\u{1b}[A") == "two")
        #expect(text("\u{1b}[A\u{1b}[A") == "one")
        #expect(text("\u{1b}[A\u{1b}[A\u{1b}[A") == "one")
        #expect(text("\u{1b}[A\u{1b}[A\u{1b}[B") == "two")
        #expect(text("\u{1b}[A\u{1b}[B") == "thr")
        #expect(text("\u{1b}[B") == "thr")
        #expect(typed("\u{1b}[A!\r\u{1b}[A", editor).1 == [.line("two!")])
    }

    @Test func historyIsSearched() {
        let (editor, _) = typed("read 2a19\rwrite 2a06 01\rread 2a00\r")
        func text(_ keys: String) -> String { String(typed(keys, editor).0.text) }
        #expect(text("\u{12}rea") == "read 2a00")
        #expect(text("\u{12}rea\u{12}") == "read 2a19")
        #expect(text("\u{12}06") == "write 2a06 01")
        #expect(typed("\u{12}06\r", editor).1 == [.line("write 2a06 01")])
        #expect(typed("\u{12}06\u{7}!", editor).0.search == nil)
        #expect(
            typed("\u{12}06", editor).0.view(prompt: "> ", columns: 80).line
                == "(search \"06\") write 2a06 01")
    }

    @Test(arguments: [
        ("abc", 20, "> abc", 5), ("日本", 20, "> 日本", 6), ("日本\u{1b}[D", 20, "> 日本", 4),
        ("abcdefghijkl", 10, "> ghijkl", 8), ("abcdefghijkl\u{1}", 10, "> abcdefg", 2), ("", 1, "> ", 2),
    ])
    func viewScrollsToCursor(_ keys: String, _ columns: Int, _ line: String, _ cursor: Int) {
        let view = typed(keys).0.view(prompt: "> ", columns: columns)
        #expect(view.line == line)
        #expect(view.cursor == cursor)
    }

    @Test func lineLengthIsLimited() {
        let (editor, _) = typed(String(repeating: "a", count: 5000))
        #expect(editor.text.count == LineEditor.limit)
    }
}
