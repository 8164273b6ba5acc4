import Foundation
import Glibc

/// A program on its own terminal. A test types keys and waits for output.
final class PseudoTerminal {
    /// A failure, with the output of the terminal.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private let shell: Shell
    private let terminal: CInt
    private let process: pid_t
    /// The wait status of the program after it was reaped. Another process can have its process ID from then
    /// on.
    private var status: CInt?
    /// All output to the terminal.
    private(set) var output = ""
    /// A program that runs as long as this one.
    var companion: PseudoTerminal?
    /// The output after the last text that `expect` has found.
    private var unread = ""

    /// Starts a program in the shell's PATH.
    init(
        _ shell: Shell, _ words: [String], environment: [String: String] = [:], columns: UInt16 = 80,
        lines: UInt16 = 24
    ) throws {
        self.shell = shell
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN, because posix_openpt and related functions are not imported.
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        guard terminal >= 0, ioctl(terminal, 0x4004_5431, &locked) == 0,
            ioctl(terminal, 0x8004_5430, &number) == 0
        else { throw Problem(description: "no pseudo-terminal: \(errno)") }
        let path = "/dev/pts/\(number)"
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session leader opens becomes its controlling terminal.
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
        // Closes the descriptors of other code in this process, such as those with which Foundation detects
        // the end of a process.
        for descriptor in 3..<256 as Range<CInt> {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID, which Swift does not import.
        posix_spawnattr_setflags(&attributes, 0x80)

        var arguments = (["env", "-C", shell.folder.path] + words).map { strdup($0) } + [nil]
        let all = shell.environment.merging(environment) { $1 }
        var variables = all.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/usr/bin/env", &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw Problem(description: "not started: \(code)") }
        self.process = process
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(terminal)
    }

    /// The lines of the last screen that was drawn.
    var screen: [String] {
        guard let end = output.range(of: "\u{1b}[J\u{1b}[?2026l", options: .backwards),
            let start = output.range(
                of: "\u{1b}[?2026h\u{1b}[H", options: .backwards, range: output.startIndex..<end.lowerBound)
        else { return [] }
        return output[start.upperBound..<end.lowerBound].components(separatedBy: "\u{1b}[K\r\r\n")
            .map { $0.replacingOccurrences(of: "\u{1b}[K", with: "") }
    }

    /// Waits until `condition` returns true, which it checks after each new output.
    func wait(until what: String, _ condition: (PseudoTerminal) -> Bool) throws {
        let end = ContinuousClock.now + .seconds(180)
        while !condition(self) {
            var ready = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard ContinuousClock.now < end, poll(&ready, 1, 1000) >= 0 else {
                throw Problem(description: "not \(what): \(output.suffix(3000).debugDescription)\(besides)")
            }
            if ready.revents != 0, !readSome() {
                throw Problem(description: "ended, not \(what): \(output)\(besides)")
            }
        }
    }

    /// The output of the companion, for failure messages.
    private var besides: String {
        guard let companion else { return "" }
        var ready = pollfd(fd: companion.terminal, events: Int16(POLLIN), revents: 0)
        for _ in 0..<64 where poll(&ready, 1, 0) > 0 { _ = companion.readSome() }
        return "; beside it: \(companion.output.debugDescription)"
    }

    /// Reads until `text` is shown, and discards the unread output up to its end.
    func expect(_ text: String) throws {
        try wait(until: "shown: \(text)") { $0.unread.contains(text) }
        if let range = unread.range(of: text) { unread = String(unread[range.upperBound...]) }
    }

    /// Reads the available output. Returns false if no writer is left.
    private func readSome() -> Bool {
        var octets = [UInt8](repeating: 0, count: 65_536)
        let count = read(terminal, &octets, octets.count)
        guard count > 0 else { return false }
        let text = String(decoding: octets.prefix(count), as: UTF8.self)
        output += text
        unread += text
        return true
    }

    func type(_ text: String) {
        let octets = Array(text.utf8)
        _ = write(terminal, octets, octets.count)
    }

    /// Changes the size of the terminal.
    func resize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    /// Sends a signal to the program.
    func signal(_ number: CInt) { if status == nil { kill(process, number) } }

    /// Whether the terminal has its original settings: it returns lines, echoes input, and sends signals for
    /// Ctrl-C, Ctrl-Z and Ctrl-\\.
    var isAsItWas: Bool {
        var settings = termios()
        tcgetattr(terminal, &settings)
        let flags = tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        return settings.c_lflag & flags == flags && settings.c_cc.0 == 3 && settings.c_cc.1 == 0x1c
    }

    /// Whether the program has been stopped, as by Ctrl-Z. A process that receives SIGCONT before it has
    /// stopped still stops afterwards (proc(5)).
    var isStopped: Bool {
        let account = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return account?.split(separator: ") ").last?.first == "T"
    }

    /// Ends the program with SIGTERM, as a service manager does.
    func stop() throws {
        signal(SIGTERM)
        _ = try end()
    }

    /// Reads to the end of the output. Returns the exit status, or the number of the signal as a negative
    /// number.
    func end() throws -> CInt {
        let end = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < end {
            var ready = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, 1000) > 0, !readSome() {
                var status: CInt = 0
                waitpid(process, &status, 0)
                self.status = status
                return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
            }
        }
        throw Problem(description: "does not end: \(output.suffix(3000).debugDescription)")
    }
}
