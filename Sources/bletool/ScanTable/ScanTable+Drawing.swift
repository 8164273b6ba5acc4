import BLECore

extension ScanTable {
    /// Lines beside the rows of devices: title, headings and the line for messages and keys.
    static let frame = 3

    /// The screen: `lines` lines at most, none of more than so many columns, and nothing in them that a terminal obeys.
    func lines(columns: Int, lines: Int, at now: Timestamp) -> [ScreenLine] {
        // A table that stands still shows what it was then.
        let now = pausedAt ?? now
        // The last line is for messages and keys; where there is hardly room, the devices matter more.
        let hasFooter = lines > Self.frame
        let body = max(1, hasFooter ? lines - 1 : lines)
        var screen =
            switch view {
            case .table: table(columns, body - 2, at: now)
            case .device(let scrolled): device(columns, body - 1, scrolled, at: now)
            case .help: [title("bletool scan: keys")] + Self.help.map { ScreenLine(text: $0) }
            }
        screen = Array(screen.prefix(body))
        if hasFooter {
            screen += [ScreenLine](repeating: ScreenLine(text: ""), count: body - screen.count)
            screen.append(footer)
        }
        return screen.map { ScreenLine(text: $0.text.cut(toColumns: columns), look: $0.look) }
    }

    private func title(_ text: String) -> ScreenLine { ScreenLine(text: text, look: .title) }

    private func table(_ columns: Int, _ room: Int, at now: Timestamp) -> [ScreenLine] {
        let room = max(0, room)
        let shown = shown(at: now)
        let layout = ScanColumns(within: columns)
        let place = selected(in: shown)
        // The selected row is in sight, in the middle where there are more than the screen has room for.
        let start = max(0, min((place ?? 0) - room / 2, shown.count - room))
        let rows = shown.dropFirst(start).prefix(room).map { row in
            let isSelected = row.key == selection
            return ScreenLine(
                text: (isSelected ? "> " : "  ") + layout.line(of: row, at: now),
                look: isSelected ? .selected : .plain)
        }
        return [title(summary(shown.count, rows.count)), ScreenLine(text: layout.heading, look: .heading)]
            + rows
    }

    private func summary(_ shown: Int, _ inSight: Int) -> String {
        var parts = [devices]
        if shown < count { parts.append("\(shown) pass the filter") }
        if inSight < shown { parts.append("\(inSight) in sight") }
        if isPaused { parts.append("PAUSED, \(missed) packets since") }
        parts.append("by \(order.rawValue)\(isReversed ? ", reversed" : "")")
        if !filter.isEmpty, !isTyping { parts.append("filter \(filter.quoted)") }
        parts.append("\(packets) packets")
        return parts.joined(separator: " · ")
    }

    private var footer: ScreenLine {
        if isTyping { return ScreenLine(text: "/" + filter.printable + "▏") }
        if let message { return ScreenLine(text: message.printable, look: .problem) }
        return ScreenLine(
            text: view == .table
                ? "q quit  ↑↓ select  ⏎ open  c connect  s sort  / filter  p pause  ? help"
                : "q back  ↑↓ scroll  c connect  p pause", look: .dim)
    }

    private static let help = [
        "", "↑ ↓ j k          select a device, or scroll",
        "PgUp PgDn g G    move by a screen, to the first, to the last",
        "⏎ →              open the device: its fields and its last packets",
        "q Esc ←          back; q in the table ends the scan",
        "c                connect: ends the scan and opens a shell on the device",
        "s                sort by strength, name, address, rate, last seen, discovery",
        "r                the other way round",
        "/                show only what has this text in it; Esc shows all",
        "p Space          stand still, and go on",
    ]
}
