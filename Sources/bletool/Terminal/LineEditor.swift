import BLECore

/// A line that is being typed. It turns keys into text and a cursor, without any input or output of its own.
struct LineEditor: Hashable, Sendable {
    /// The result of a key that does more than change the line.
    enum Outcome: Hashable, Sendable {
        /// The user has entered this line.
        case line(String)
        /// Ctrl-C: the line is discarded.
        case interrupt
        /// Ctrl-D on an empty line: the input ends.
        case end
        /// Tab: the text before the cursor is to be completed.
        case complete
        /// Ctrl-L: clear the screen.
        case clear
    }

    /// The maximum length of a line, in characters. Further characters are ignored.
    static let limit = 4096

    private(set) var text: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0
    /// The lines that were entered before.
    private(set) var history = LineHistory()
    /// The text that was cut last.
    private var cut: [Character] = []
    /// The text that Ctrl-R searches for in earlier lines, or nil when there is no search.
    private(set) var search: String?

    var beforeCursor: String { String(text[..<cursor]) }

    /// Handles a key. Returns nil while the line is still being edited.
    mutating func take(_ key: TerminalKey) -> Outcome? {
        if search != nil, takeSearching(key) { return nil }
        switch key {
        case .scalar(let scalar): insert(scalar)
        case .enter: return .line(finish())
        case .tab: return .complete
        case .control("c"):
            _ = reset()
            return .interrupt
        case .control("d"):
            if text.isEmpty { return .end }
            remove(cursor..<min(cursor + 1, text.count))
        case .control("l"): return .clear
        case .control("r"): search = ""
        case .up, .control("p"): recall(history.older(than: String(text)))
        case .down, .control("n"): recall(history.newer())
        default: edit(key)
        }
        return nil
    }

    /// Handles the keys that only move the cursor, or that remove or insert text.
    private mutating func edit(_ key: TerminalKey) {
        switch key {
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(text.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .wordLeft, .alt("b"): cursor = wordStart
        case .wordRight, .alt("f"): cursor = wordEnd
        case .backspace: remove(max(0, cursor - 1)..<cursor)
        case .delete: remove(cursor..<min(cursor + 1, text.count))
        case .control("k"): keep(cursor..<text.count)
        case .control("u"): keep(0..<cursor)
        case .control("w"), .alt("\u{7f}"): keep(wordStart..<cursor)
        case .alt("d"): keep(cursor..<wordEnd)
        case .control("y"): insert(cut)
        default: break
        }
    }

    mutating func insert(_ more: some Collection<Character>) {
        guard text.count + more.count <= Self.limit else { return }
        text.insert(contentsOf: more, at: cursor)
        cursor += more.count
    }

    /// A combining scalar joins the character before the cursor.
    private mutating func insert(_ scalar: Unicode.Scalar) {
        guard String(scalar).printable == String(scalar) else { return }
        guard cursor > 0 else { return insert([Character(scalar)]) }
        var joined = String(text[cursor - 1])
        joined.unicodeScalars.append(scalar)
        guard joined.count == 1 else { return insert([Character(scalar)]) }
        text[cursor - 1] = Character(joined)
    }

    private mutating func remove(_ range: Range<Int>) {
        text.removeSubrange(range)
        cursor = range.lowerBound
    }

    /// Removes characters, which Ctrl-Y inserts again.
    private mutating func keep(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        cut = Array(text[range])
        remove(range)
    }

    private var wordStart: Int {
        let blanks = text[..<cursor].lastIndex { !$0.isWhitespace } ?? 0
        return text[..<blanks].lastIndex { $0.isWhitespace }.map { $0 + 1 } ?? 0
    }

    private var wordEnd: Int {
        let start = text[cursor...].firstIndex { !$0.isWhitespace } ?? text.count
        return text[start...].firstIndex { $0.isWhitespace } ?? text.count
    }

    private mutating func recall(_ line: String?) {
        guard let line else { return }
        text = Array(line)
        cursor = text.count
    }

    private mutating func reset() -> String {
        defer { (text, cursor, search) = ([], 0, nil) }
        history.leave()
        return String(text)
    }

    private mutating func finish() -> String {
        let line = reset()
        history.add(line)
        return line
    }
}

/// Ctrl-R: finds the newest earlier line that contains the typed text.
extension LineEditor {
    /// Handles a key of a search. Returns false for other keys, which end the search and are handled as
    /// usual.
    private mutating func takeSearching(_ key: TerminalKey) -> Bool {
        guard var wanted = search else { return false }
        var skipping = 0
        switch key {
        case .scalar(let scalar) where String(scalar).printable == String(scalar):
            wanted.unicodeScalars.append(scalar)
        case .backspace: wanted = String(wanted.dropLast())
        case .control("r"): skipping = 1
        case .escape, .control("g"):
            search = nil
            return true
        default:
            search = nil
            return false
        }
        search = wanted
        if let found = history.find(wanted, before: skipping == 1 ? String(text) : nil) { recall(found) }
        return true
    }
}

extension LineEditor {
    /// Returns the line as shown on one row of `columns` columns, and the column of the cursor. If the line
    /// is too long, the part around the cursor is shown.
    func view(prompt: String, columns: Int) -> (line: String, cursor: Int) {
        let prompt = search.map { "(search \($0.quoted)) " } ?? prompt
        let margin = prompt.columns
        let room = max(4, columns - margin - 1)
        var start = 0
        while text[start..<cursor].columns > room { start += max(1, room / 2) }
        start = min(start, cursor)
        var end = start
        var width = 0
        while end < text.count, width + text[end].columns <= room {
            width += text[end].columns
            end += 1
        }
        return (prompt + String(text[start..<end]), margin + text[start..<cursor].columns)
    }
}
