import BLECore
import HCISocket

/// The table of a scan on a terminal. It takes packets and keys, and is drawn soon after a change.
actor LiveTable {
    /// The key with which the user ended the table.
    enum Ending: Hashable, Sendable {
        case quit
        case connect(DeviceAddress)
    }

    private let console: Console
    private let terminal: RawTerminal
    private let loop: EventLoop
    private var table = ScanTable()
    private var isDrawingDue = false
    private var isFinished = false
    /// The messages for stderr, which wait because they would disturb the screen.
    private var messages: [String] = []
    private var forgotten = 0

    /// The time from a change to the drawing that shows it.
    private static let pause = Duration.milliseconds(100)
    /// The maximum number of messages that are kept for the end.
    private static let messageLimit = 200

    /// Creates a table on the terminal, or returns nil if there is none.
    init?(_ console: Console, on loop: EventLoop) {
        guard console.showsTables, let terminal = RawTerminal(console.output, for: .screen) else {
            return nil
        }
        (self.console, self.terminal, self.loop) = (console, terminal, loop)
    }

    /// Takes over the terminal, and the output to stderr if that is a terminal as well.
    func begin() {
        if console.errors.isTerminal {
            console.errors.divert { line in Task { await self.show(line) } }
        }
        terminal.take { Task { await self.draw() } }
        draw()
    }

    /// Adds a packet to the table, which is drawn soon.
    func note(_ event: AdvertisementEvent) {
        table.note(event)
        drawSoon()
    }

    /// Handles keys until one ends the scan, and updates the times on the screen. Returns nil when the task
    /// is cancelled.
    func run() async -> Ending? {
        let clock = Task {
            while await loop.sleep(for: .seconds(1)) { drawSoon() }
        }
        defer { clock.cancel() }
        var reader = KeyReader(terminal, on: loop)
        while let keys = await reader.next() {
            for key in keys {
                let page = max(1, console.output.size.lines - ScanTable.frame)
                switch table.press(key, page: page, at: .now) {
                case .quit?: return .quit
                case .connect(let address)?: return .connect(address)
                case nil: break
                }
            }
            draw()
        }
        return nil
    }

    /// Releases the terminal, and then prints the messages and a summary. If `leavingDevices`, the
    /// advertisements that fit stay on the screen, one line each.
    func finish(leavingDevices: Bool) {
        guard !isFinished else { return }
        isFinished = true
        terminal.release()
        console.errors.divert(nil)
        for line in messages { console.errors.line(line) }
        if forgotten > 0 { console.note("\(forgotten) more messages were not kept") }
        if leavingDevices {
            let room = max(1, console.output.size.lines - 2)
            for event in table.shown(at: .now).flatMap(\.lastEvents).prefix(room) {
                for line in event.lines(colored: console.isColored) { console.output.line(line) }
            }
        }
        let packets = table.packets == 1 ? "1 packet" : "\(table.packets) packets"
        console.output.line("\(table.devices), \(packets)")
    }

    private func show(_ line: String) {
        if isFinished {
            console.errors.line(line)
            return
        }
        if messages.count < Self.messageLimit { messages.append(line) } else { forgotten += 1 }
        table.message = line
        drawSoon()
    }

    private func drawSoon() {
        guard !isDrawingDue, !isFinished else { return }
        isDrawingDue = true
        Task {
            _ = await loop.sleep(for: Self.pause)
            isDrawingDue = false
            draw()
        }
    }

    private func draw() {
        guard !isFinished else { return }
        let (columns, lines) = console.output.size
        console.output.show(
            table.lines(columns: columns, lines: lines, at: .now), colored: console.isColored)
    }
}

/// A line of a screen and its look.
struct ScreenLine: Hashable, Sendable {
    /// The style of a line.
    enum Look: Hashable, Sendable {
        case plain, title, heading, selected, dim, problem
    }

    var text: String
    var look = Look.plain

    /// Returns the text in its look if `colored`, otherwise unchanged.
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
        // The marks of a synchronized update keep the terminal from showing half a screen.
        text("\u{1b}[?2026h\u{1b}[H" + body.joined(separator: "\r\n") + "\u{1b}[J\u{1b}[?2026l")
    }
}
