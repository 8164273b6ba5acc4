/// A key that was pressed on a terminal in raw mode.
enum TerminalKey: Hashable, Sendable {
    /// A sign, or part of one: a combining one comes after what it belongs to.
    case scalar(Unicode.Scalar)
    /// Ctrl and a letter, lower-case.
    case control(Character)
    /// Alt and a sign, or Escape and then it.
    case alt(Character)
    case enter, tab, backTab, backspace, delete, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// To the word before, and behind the next.
    case wordLeft, wordRight
}
