/// A line of a screen and its look.
struct ScreenLine: Hashable, Sendable {
    /// The style of a line.
    enum Look: Hashable, Sendable {
        case plain, title, heading, selected, dim, problem
    }

    var text: String
    var look = Look.plain

    /// The line with its look, as far as looks are wanted.
    fileprivate func styled(_ colored: Bool) -> String {
        switch look {
        case .plain: text
        case .title: Style.bold(text, when: colored)
        case .heading, .dim: Style.dim(text, when: colored)
        case .selected: Style.reversed(text, when: colored)
        case .problem: Style.red(text, when: colored)
        }
    }
}

extension LineWriter {
    /// Shows lines from the top of the terminal, and nothing below them.
    func show(_ screen: [ScreenLine], colored: Bool) {
        let body = screen.map { $0.styled(colored) + "\u{1b}[K" }
        // Between the marks of a synchronized update the terminal does not show half a screen.
        text("\u{1b}[?2026h\u{1b}[H" + body.joined(separator: "\r\n") + "\u{1b}[J\u{1b}[?2026l")
    }
}
