import Glibc
import HCISocket

/// The terminal in raw mode: it delivers each key as it is pressed, and does not echo any. The terminal's
/// mode is restored when the process ends, stops or fails.
final class RawTerminal: Sendable {
    /// The mode in which the terminal is used.
    enum Use: Sendable {
        /// Lines below the existing contents. Ctrl-C is a key.
        case lines
        /// A separate screen without a cursor; the existing contents are restored later. Ctrl-C remains a
        /// signal.
        case screen
    }

    /// The descriptor from which keys are read.
    let input = STDIN_FILENO
    /// The writer of the terminal.
    let output: LineWriter
    private let use: Use
    /// The previous mode of the terminal, while it is taken.
    private let before = Lock<termios?>(nil)

    /// The terminal that is taken, for the end of the process.
    private static let current = Lock<RawTerminal?>(nil)
    /// Signals that change the window or stop the process.
    private static let signals = [SIGWINCH, SIGTSTP, SIGCONT]
    private static let endOfProcess: Void = { atexit { RawTerminal.giveBack() } }()

    /// Creates the terminal of stdin and `output`, or returns nil if one of them is not a terminal, or if it
    /// belongs to another job of the shell.
    init?(_ output: LineWriter, for use: Use) {
        guard output.isTerminal, isatty(STDIN_FILENO) == 1 else { return nil }
        // A process that is not a job of a shell has no foreground group, and can use the terminal.
        let job = tcgetpgrp(STDIN_FILENO)
        guard job == getpgrp() || job == -1 else { return nil }
        (self.output, self.use) = (output, use)
    }

    /// Takes over the terminal until `release`. Only one value can have it at a time. `redraw` is called on
    /// the loop whenever the window has a new size or has lost its contents.
    func take(redraw: @escaping @Sendable () -> Void) {
        begin()
        Self.current.withLock { $0 = self }
        _ = Self.endOfProcess
        SignalWatch.beforeDeath { RawTerminal.giveBack() }
        SignalWatch.watch(Self.signals) { [weak self] signal in
            guard let self else { return }
            switch signal {
            case SIGTSTP:
                end()
                // Does what the signal does by default. The process continues after this line.
                kill(getpid(), SIGSTOP)
            case SIGCONT:
                begin()
                redraw()
            default: redraw()
            }
        }
    }

    /// Restores the terminal as it was before `take`.
    func release() {
        SignalWatch.unwatch(Self.signals)
        end()
        SignalWatch.beforeDeath(nil)
        Self.current.withLock { $0 = nil }
    }

    /// Restores the terminal at the end of the process, if it is taken.
    private static func giveBack() { current.withLock { $0 }?.end() }

    private func begin() {
        var mode = termios()
        guard tcgetattr(input, &mode) == 0 else { return }
        before.withLock { if $0 == nil { $0 = mode } }
        // The output mode is unchanged, so printed lines still end as usual.
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        mode.c_iflag &= ~tcflag_t(ICRNL | IXON)
        // Ctrl-\ would end the process before the terminal is restored. Ctrl-Z remains a signal.
        mode.setControl(VQUIT, 0)
        if use == .lines { mode.setControl(VINTR, 0) }
        // Each octet is delivered at once.
        mode.setControl(VMIN, 1)
        mode.setControl(VTIME, 0)
        tcsetattr(input, TCSADRAIN, &mode)
        if use == .screen { output.text("\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J\u{1b}[H") }
    }

    private func end() {
        guard var mode = before.withLock({ $0.take() }) else { return }
        switch use {
        case .lines: PinnedLine.show(nil, on: output)
        case .screen: output.text("\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l")
        }
        tcsetattr(input, TCSADRAIN, &mode)
    }
}

extension termios {
    /// Sets one of the control characters, whose array is a tuple in Swift.
    fileprivate mutating func setControl(_ index: Int32, _ value: cc_t) {
        withUnsafeMutableBytes(of: &c_cc) { $0[Int(index)] = value }
    }
}

extension LineWriter {
    /// The columns and lines of the terminal; 80 and 24 if the descriptor is not a terminal.
    var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
