import Foundation
import Glibc
import Testing

@testable import bletool

/// The table of `scan` on a pseudo-terminal, with two devices on a virtual air.
@Suite(.serialized) final class LiveTableTests {
    private let shell: Shell
    private var devices: [Process] = []

    init() throws {
        shell = try Shell()
        for name in ["Lamp", "Kettle"] {
            let device = Process()
            device.executableURL = URL(filePath: "/usr/bin/env")
            device.arguments = [
                "bletool", "advertise", "--adapter", "virtual:\(name)", "--name", name, "--service", "180f",
            ]
            device.environment = shell.environment
            device.standardOutput = FileHandle.nullDevice
            device.standardError = FileHandle.nullDevice
            try device.run()
            devices.append(device)
        }
    }

    deinit {
        for device in devices {
            device.terminate()
            device.waitUntilExit()
        }
    }

    /// Starts a scan, and returns when its table shows both devices.
    private func scan(_ arguments: String...) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            shell, ["bletool", "scan", "--adapter", "virtual"] + arguments, environment: ["NO_COLOR": "1"])
        try terminal.wait(until: "both are shown") { $0.shows("Lamp") && $0.shows("Kettle") }
        return terminal
    }

    @Test("keys filter, open and quit; the screen follows the window size")
    func tableHandlesKeysAndResizing() throws {
        let terminal = try scan()
        #expect(terminal.output.contains("\u{1b}[?1049h") && !terminal.isAsItWas)
        #expect(terminal.screen.count == 24 && terminal.screen[0].hasPrefix("2 devices"))
        #expect(terminal.screen.contains { $0.contains("Battery") })
        #expect(!terminal.screen.joined().contains("\u{1b}"), "NO_COLOR is heeded")
        terminal.type("/lAm\r")
        try terminal.wait(until: "filtered") { $0.shows("Lamp") && !$0.shows("Kettle") }
        terminal.resize(columns: 38, lines: 10)
        try terminal.wait(until: "smaller") { $0.screen.count == 10 }
        #expect(terminal.screen.allSatisfy { $0.columns <= 38 })
        terminal.resize(columns: 200, lines: 30)
        try terminal.wait(until: "larger") { $0.screen.count == 30 && $0.shows("Battery Service") }
        terminal.type("\u{1b}[B\r")
        try terminal.wait(until: "open") { $0.shows("PACKETS") }
        #expect(terminal.shows("FIELDS") && terminal.shows("4c616d70"))
        terminal.type("q")
        try terminal.wait(until: "closed") { !$0.shows("PACKETS") }
        terminal.type("p")
        try terminal.wait(until: "paused") { $0.shows("PAUSED") }
        terminal.type("q")
        #expect(try terminal.end() == 0)
        let last = try #require(terminal.output.components(separatedBy: "\u{1b}[?1049l").last)
        #expect(last.contains("2 devices, ") && last.contains(" packets"))
        #expect(terminal.output.hasSuffix("packets\r\n"))
        #expect(terminal.isAsItWas)
    }

    @Test("Ctrl-Z restores the terminal, and fg resumes the table")
    func suspendRestoresTerminal() throws {
        let terminal = try scan()
        terminal.type("\u{1a}")
        try terminal.wait(until: "stopped") {
            $0.output.contains("\u{1b}[?1049l") && $0.isAsItWas && $0.isStopped
        }
        let before = terminal.output.utf8.count
        terminal.signal(SIGCONT)
        try terminal.wait(until: "back") { terminal in
            let since = String(decoding: terminal.output.utf8.dropFirst(before), as: UTF8.self)
            return since.contains("\u{1b}[?1049h") && since.contains("Lamp")
        }
        #expect(!terminal.isAsItWas)
        terminal.type("q")
        #expect(try terminal.end() == 0)
        #expect(terminal.isAsItWas)
    }

    @Test("every signal restores the terminal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signalsRestoreTerminal(_ signal: CInt) throws {
        let terminal = try scan()
        if signal == SIGINT { terminal.type("\u{3}") } else { terminal.signal(signal) }
        #expect(try terminal.end() == -signal)
        #expect(terminal.output.contains("\u{1b}[?25h\u{1b}[?1049l") && terminal.isAsItWas)
    }

    @Test func durationEndsScanAndRestoresTerminal() throws {
        let terminal = try PseudoTerminal(
            shell, ["bletool", "scan", "--adapter", "virtual", "--duration", "3s"],
            environment: ["NO_COLOR": "1"])
        #expect(try terminal.end() == 0)
        #expect(terminal.output.contains("\u{1b}[?1049l") && terminal.isAsItWas)
        // The devices that were found remain on the screen. Their number depends on how fast they have
        // started.
        let found = ["Lamp", "Kettle"].filter { terminal.shows($0) }
        let last = try #require(terminal.output.components(separatedBy: "\u{1b}[?1049l").last)
        #expect(found.allSatisfy { last.contains($0) } && last.contains(" packets"))
    }

    @Test("c opens a shell on the device, and the program ends with the shell")
    func connectKeyOpensShell() throws {
        let terminal = try scan()
        terminal.type("/lamp\r\u{1b}[Bc")
        try terminal.expect("\u{1b}[?1049l")
        try terminal.expect("/random -i\r\n")
        try terminal.expect("> ")
        #expect(!terminal.isAsItWas)
        terminal.type("tree\r")
        try terminal.expect("/random has no services")
        terminal.type("\u{4}")
        #expect(try terminal.end() == 0)
        #expect(terminal.isAsItWas)
    }

    @Test("connecting to a lost device fails as in gatt and restores the terminal")
    func failedConnectionRestoresTerminal() throws {
        let terminal = try scan("--timeout", "3s")
        for device in devices { device.terminate() }
        terminal.type("/lamp\r\u{1b}[Bc")
        #expect(try terminal.end() == 2)
        #expect(terminal.output.contains("connecting took longer than 3 s"), "\(terminal.output.suffix(300))")
        #expect(terminal.isAsItWas)
    }
}

extension PseudoTerminal {
    /// Returns whether the last screen contains `text`.
    fileprivate func shows(_ text: String) -> Bool { screen.contains { $0.contains(text) } }
}
