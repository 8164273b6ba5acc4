import Foundation
import Glibc
import Testing

/// Terminal handling in the shell of `gatt … -i`: changes of the window size, Ctrl-Z, all ways to end, and
/// prompts during pairing.
@Suite(.timeLimit(.minutes(10))) struct ShellAtTerminalTests {
    private static let lock = """
        name: Lock
        services:
          - uuid: 1802
            characteristics:
              - {uuid: 2a06, properties: [read, write], permissions: {read: authenticated}, value: {u8: 7}}
          - uuid: 180f
            characteristics: [{uuid: 2a19, properties: [read], value: {u8: 87}}]
        """

    /// Starts a server, and returns a shell that is connected to it and waits for its first line.
    private static func session(
        _ shell: Shell, serving options: [String] = [], _ arguments: [String] = []
    ) throws -> PseudoTerminal {
        try shell.write(lock, to: "lock.yaml")
        let server = try PseudoTerminal(
            shell, ["bletool", "serve", "lock.yaml", "--adapter", "virtual:lock"] + options)
        try server.expect("on virtual:lock")
        let client = try PseudoTerminal(
            shell,
            ["bletool", "gatt", "name:Lock", "-i", "--adapter", "virtual:phone", "--timeout", "120s"]
                + arguments, environment: ["NO_COLOR": "1"])
        client.companion = server
        try client.expect("Lock> ")
        return client
    }

    @Test("a narrower window shows less of the line at once, and a wider one more")
    func resizeAdjustsVisibleLine() async throws {
        try await offThePool {
            let client = try Self.session(try Shell())
            client.type("read " + String(repeating: "a", count: 40) + "END")
            try client.expect("aEND")
            client.resize(columns: 30, lines: 24)
            // The window has 30 columns. The prompt takes six of them, and the cursor one.
            try client.wait(until: "short") { $0.pinned.count <= 29 && $0.pinned.hasSuffix("END") }
            client.resize(columns: 100, lines: 24)
            try client.wait(until: "long") {
                $0.pinned == "Lock> read " + String(repeating: "a", count: 40) + "END"
            }
            client.type("\u{3}quit\r")
            #expect(try client.end() == 0)
        }
    }

    @Test("Ctrl-Z restores the terminal, and fg resumes with the typed text")
    func suspendRestoresTerminal() async throws {
        try await offThePool {
            let client = try Self.session(try Shell())
            client.type("read 2a1")
            try client.expect("read 2a1")
            client.type("\u{1a}")
            try client.wait(until: "stopped") { $0.isAsItWas && $0.isStopped }
            client.signal(SIGCONT)
            try client.expect("Lock> read 2a1")
            #expect(!client.isAsItWas)
            client.type("9\r")
            try client.expect("87 %")
            client.type("\u{4}")
            #expect(try client.end() == 0)
            #expect(client.isAsItWas)
        }
    }

    @Test("every signal restores the terminal, also during a command", arguments: [SIGTERM, SIGHUP])
    func signalsRestoreTerminal(_ signal: CInt) async throws {
        try await offThePool {
            let client = try Self.session(try Shell())
            client.type("sleep 60s\r")
            try client.expect("sleep 60s\r\n")
            client.signal(signal)
            #expect(try client.end() == -signal)
            #expect(client.isAsItWas)
        }
    }

    @Test("the shell prompts for the passkey, and the pending command continues")
    func shellPromptsForPasskey() async throws {
        try await offThePool {
            let client = try Self.session(
                try Shell(), serving: ["--io", "display", "--passkey", "012345"], ["--io", "keyboard"])
            client.type("read 2a06\r")
            try client.expect("shows: ")
            // After an invalid passkey, the prompt is repeated. A typed passkey is not added to the shell's
            // history.
            client.type("12\r")
            try client.expect("six digits")
            try client.expect("shows: ")
            client.type("0123456\u{7f}\r")
            try client.expect("\r\n7\r\n")
            try client.expect("Lock> ")
            client.type("\u{1b}[A\r")
            try client.expect("Lock> read 2a06")
            try client.expect("\r\n7\r\n")
            client.type("quit\r")
            #expect(try client.end() == 0)
        }
    }

    @Test("the shell prompts for numeric comparison, and a refusal does not end the shell")
    func shellPromptsForComparison() async throws {
        try await offThePool {
            let client = try Self.session(
                try Shell(), serving: ["--io", "displayYesNo", "--accept-comparison"],
                ["--io", "displayYesNo"])
            client.type("read 2a06\r")
            try client.expect("is not who it seems: ")
            try client.expect("too? [y/N] ")
            client.type("n\r")
            try client.expect("Lock")
            client.type("\u{3}read 2a19\r")
            try client.expect("87 %")
            client.type("quit\r")
            #expect(try client.end() == 0)
        }
    }
}

extension PseudoTerminal {
    /// The text that the last drawing of the bottom line shows.
    fileprivate var pinned: String {
        let drawing = output.components(separatedBy: "\r\u{1b}[K").last ?? ""
        return drawing.components(separatedBy: "\r\u{1b}[").first ?? ""
    }
}
