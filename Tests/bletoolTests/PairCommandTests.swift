import ArgumentParser
import Testing

@testable import bletool

/// `pair`: its input from files and at terminals, including that of `serve`, and the security that it
/// reports.
@Suite(.timeLimit(.minutes(10))) struct PairCommandTests {
    private static let lock = """
        name: Lock
        services:
          - uuid: 1802
            characteristics:
              - {uuid: 2a06, properties: [read], permissions: {read: authenticated}, value: {u8: 7}}
        """

    /// Returns the beginning of a script, which starts a server in the background and waits until it
    /// advertises.
    private static func serving(_ options: String) -> String {
        """
        trap 'kill $server 2>/dev/null || :' EXIT
        mkfifo log
        bletool serve lock.yaml --adapter virtual:lock --state-dir lock \(options) >log 2>&1 &
        server=$!
        exec 3<log; read -r line <&3; cat <&3 >reported &
        pair() { bletool pair name:Lock --adapter virtual:phone --state-dir phone --timeout 120s "$@"; }

        """
    }

    /// Starts a server and `pair`, each on its own terminal.
    private static func session(
        _ shell: Shell, serving options: [String], _ arguments: [String]
    ) throws -> (server: PseudoTerminal, client: PseudoTerminal) {
        try shell.write(lock, to: "lock.yaml")
        let server = try PseudoTerminal(
            shell, ["bletool", "serve", "lock.yaml", "--adapter", "virtual:lock"] + options)
        try server.expect("on virtual:lock")
        let client = try PseudoTerminal(
            shell,
            ["bletool", "pair", "name:Lock", "--adapter", "virtual:phone", "--timeout", "120s"] + arguments,
            environment: ["NO_COLOR": "1"])
        client.companion = server
        return (server, client)
    }

    @Test("both sides read the passkey from a file") func passkeysAreReadFromFiles() async throws {
        let shell = try Shell()
        try shell.write(Self.lock, to: "lock.yaml")
        try shell.write("012345\nwhat follows is no part of it\n", to: "key")
        try shell.write("12345\n", to: "short")
        let (status, output) = try await shell.run(
            Self.serving("--passkey-file key") + """
                for options in 'short' 'missing' 'key --passkey 012345'; do
                    pair --passkey-file $options 2>&1 || echo "status $?"
                done
                pair --passkey-file key --json | sed 's/.*"level"/"level"/'
                """)
        #expect(status == 0, "\(output)")
        let lines = output.split(separator: "\n")
        #expect(lines.filter { $0 == "status 1" }.count == 3, "\(output)")
        #expect(lines.contains("bletool: --passkey-file: a passkey has six digits, as 012345"), "\(output)")
        #expect(
            lines.contains("bletool: --passkey-file: and --passkey cannot both be given"), "\(output)")
        #expect(
            lines.last == #""level":"fips","keySize":16,"bonded":true,"authenticated":true}"#, "\(output)")
    }

    @Test("pairing with a keyboard reports Just Works if the device uses no passkey")
    func justWorksPairingIsReported() async throws {
        let shell = try Shell()
        try shell.write(Self.lock, to: "lock.yaml")
        let (status, output) = try await shell.run(
            Self.serving("") + """
                pair --io keyboard | sed 's/^[^ ]* //'
                pair --io keyboard --json | sed 's/.*"level"/"level"/'
                pair --io keyboard --security high 2>/dev/null || echo "status $?"
                """)
        #expect(status == 0, "\(output)")
        #expect(
            output == """
                paired and bonded  level medium  key of 16 octets  not authenticated: Just Works, without \
                passkey or comparison
                "level":"medium","keySize":16,"bonded":true,"authenticated":false}
                status 6

                """)
    }

    @Test("nothing is read from or written to a device that has the address of a bonded one, but not its key")
    func impostorIsNotUsed() async throws {
        let shell = try Shell()
        try shell.write(
            """
            name: Lock
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [read, write, notify], value: {utf8: true}}

            """, to: "lock.yaml")
        let (status, output) = try await shell.run(
            """
            trap 'kill $server 2>/dev/null || :' EXIT
            mkfifo log
            serve() {
                bletool serve lock.yaml --adapter virtual:lock --state-dir "$1" >log 2>&1 &
                server=$!
                exec 3<log; read -r line <&3; cat <&3 >reported &
            }
            phone() { bletool "$@" --adapter virtual:phone --state-dir phone --timeout 120s 2>/dev/null; }
            serve lock
            phone pair name:Lock >/dev/null
            phone gatt name:Lock dump first.yaml >/dev/null; echo "bonded $?"
            grep -c 'utf8: "true"' first.yaml
            kill $server; { wait $server; } 2>/dev/null
            sed -i 's/true/spoofed/' lock.yaml
            serve impostor
            phone gatt name:Lock read 2a06; echo "read $?"
            phone gatt name:Lock write 2a06 utf8:sesame; echo "write $?"
            phone gatt name:Lock notify 2a06 --count 1; echo "notify $?"
            phone gatt name:Lock tree --values; echo "tree $?"
            phone gatt name:Lock dump second.yaml; echo "dump $? $(ls second.yaml 2>/dev/null || echo none)"
            grep -c sesame reported
            phone gatt name:Lock read 2a06 --plain-text --format raw; echo " plain $?"
            """)
        #expect(
            output == """
                bonded 0
                1
                read 6
                write 6
                notify 6
                tree 6
                dump 6 none
                0
                spoofed plain 0

                """, "\(status) \(output)")
    }

    @Test("the server prompts for the passkey that the device displays")
    func serverPromptsForPasskey() async throws {
        try await offThePool {
            let (server, client) = try Self.session(
                try Shell(), serving: ["--io", "keyboard"], ["--io", "display", "--passkey", "012345"])
            try client.expect("type 012345 on ")
            try server.expect("shows: ")
            server.type("1234\r")
            try server.expect("a passkey has six digits")
            try server.expect("shows: ")
            server.type("012345\r")
            try client.expect("paired and bonded  level fips")
            #expect(try client.end() == 0)
            try server.stop()
        }
    }

    @Test("numeric comparison is confirmed or refused at both terminals", arguments: [false, true])
    func numericComparisonRunsOnBothTerminals(isSame: Bool) async throws {
        try await offThePool {
            let (server, client) = try Self.session(
                try Shell(), serving: ["--io", "displayYesNo"],
                ["--io", "displayYesNo", "--security", "high"])
            for side in [server, client] { try side.expect("too? [y/N] ") }
            server.type("yes\r")
            client.type(isSame ? "y\r" : "\r")
            if isSame { try client.expect("paired and bonded  level fips") }
            #expect(try client.end() == (isSame ? 0 : 6))
            try server.stop()
        }
    }

    @Test("the minimum key size is 7 to 16 octets") func minimumKeySizeIsValidated() throws {
        #expect(try PairingArguments.parse([]).minimumKeySize() == 16)
        #expect(try PairingArguments.parse(["--min-key-size", "7"]).minimumKeySize() == 7)
        for size in ["6", "17"] {
            let arguments = try PairingArguments.parse(["--min-key-size", size])
            let failure = #expect(throws: Failure.self) { try arguments.minimumKeySize() }
            #expect(failure?.kind == .usage)
        }
    }
}
