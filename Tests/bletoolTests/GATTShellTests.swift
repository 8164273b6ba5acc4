import Foundation
import Testing

/// `gatt … -i` at a pseudo-terminal, against a server on the virtual air.
struct GATTShellTests {
    private static let server = """
        name: Lamp
        services:
          - uuid: 180f
            characteristics:
              - {uuid: 2a19, properties: [read, notify], value: {u8: 87}, notify: {every: 300ms, counter: u8}}
          - uuid: 1802
            characteristics: [{uuid: 2a06, properties: [read, write], value: {u8: 0}}]
        """

    @Test(.timeLimit(.minutes(10)))
    func shellSessionSucceedsAndRestoresTerminal() async throws {
        let (status, isAsItWas) = try await offThePool { try Self.session(try Shell()) }
        #expect(status == 0)
        #expect(isAsItWas)
    }

    /// Runs a session. Returns its exit status, and whether the terminal has its original settings.
    private static func session(_ shell: Shell) throws -> (Int32, Bool) {
        try shell.write(Self.server, to: "lamp.yaml")
        let serve = ["bletool", "serve", "lamp.yaml", "--adapter", "virtual:lamp"]
        var server = try PseudoTerminal(shell, serve)
        try server.expect("on virtual:lamp")
        let client = try PseudoTerminal(
            shell, ["bletool", "gatt", "name:Lamp", "-i", "--adapter", "virtual:phone", "--timeout", "120s"])
        try client.expect("Lamp> ")
        // A misspelled word is corrected with editing keys, and the attribute is completed with Tab.
        client.type("raed\u{1b}[D\u{1b}[D\u{7f}\u{1b}[Ca\u{5} battery_l\t\r")
        try client.expect("87 %")
        try client.expect("Lamp> ")
        client.type("write 2a06 u8:2\r")
        try client.expect("wrote 02 (1 octet)")
        // A notification is shown above the line that is being typed, which remains.
        client.type("subscribe 2a19\r")
        try client.expect("subscribed to notifications")
        client.type("read 2a0")
        try client.expect("2a19")
        try client.expect("read 2a0")
        client.type("6\r")
        try client.expect("02")
        // Ctrl-C ends the command, not the shell.
        client.type("sleep 60s\r")
        try client.expect("sleep 60s")
        client.type("\u{3}")
        try client.expect("cancelled")
        client.type("reed 2a19\r")
        try client.expect("did you mean")
        // The end of the link is printed, and the shell can connect again.
        try client.expect("Lamp> ")
        try server.stop()
        try client.expect("disconnected: ")
        try client.expect("Lamp (not connected)> ")
        server = try PseudoTerminal(shell, serve)
        client.type("connect\r")
        try client.expect("Lamp> ")
        client.type("\u{1b}[A\u{1b}[A\u{1b}[A\u{15}quit\r")
        return (try client.end(), client.isAsItWas)
    }
}
