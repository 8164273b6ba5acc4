import Testing

/// The behavior that scripts rely on, tested from a shell.
struct ContractTests {
    @Test(arguments: [
        ("lookup company 76 --timeout 5s", 0, "Apple"), ("bonds list --timeout 5s", 0, ""),
        ("lookup company 76 --timeout 0s", 1, "--timeout"),
        // A recording on stdout would be mixed with the output.
        ("scan --capture - --adapter virtual", 1, "name a file"),
        ("capture - --json --adapter virtual", 1, "stdout is the recording"),
        // Incomplete command lines, and help.
        ("gatt", 1, "a verb is missing: tree, read, write"), ("bonds --json", 1, #""kind":"usage""#),
        ("gatt --help", 0, "USAGE"), ("--help >/dev/full", 1, "No space left on device"), ("", 0, "USAGE"),
        // Arguments that would be misread, and a closed stdout.
        ("lookup company 76 >&-", 1, "stdout: Bad file descriptor"),
        ("scan --name '' --adapter virtual", 1, "--name: is empty"),
        (#"advertise --dry-run --name "$(printf '\377')""#, 1, "argument 4: is not UTF-8"),
        ("gatt 11:22:33:44:55:66/public write 2a06 123 --adapter virtual", 1, "for a number u8:123"),
        // Names that are almost those of the Bluetooth SIG, and the number of a company.
        ("scan --service Batery --adapter virtual", 1, #"; did you mean "Battery"?"#),
        (
            "gatt 11:22:33:44:55:66/public read batery_level --adapter virtual", 1,
            #"did you mean "Battery Level"?"#
        ),
        ("lookup uuid batery servce", 2, #"; did you mean "Battery Service"?"#),
        ("advertise --manufacturer apple:0102 --dry-run", 1, "hint: `bletool lookup company WHAT` finds it"),
        ("advertise --manufacturer 004c:0215 --dry-run", 1, "hint: hexadecimal numbers begin with 0x"),
        // The failure of a command does not hide that its output is lost.
        ("lookup uuid nothing-like-this --json >/dev/full", 2, "stdout: No space left on device"),
        // The options that all commands accept have a help page of their own.
        ("help options", 0, "--address-lifetime <duration>"),
        (
            "help options", 0,
            "OPTIONS OF COMMANDS THAT USE A RADIO, before or after the command's name:\n  --adapter"
        ),
        ("help options", 0, "OPTIONS OF ALL COMMANDS, before or after the command's name:\n  --timeout"),
        ("doctor --adapter virtual", 1, "--adapter: does not apply to doctor, which opens no adapter"),
        ("scan --help", 0, "--capture and others: bletool help options\n  --version"),
        (
            "gatt X read --help", 0,
            "OPTIONS:\n  --offset <octets>       Begin at this octet of the value."
        ),
        ("gatt X read --help", 0, "  --security, --io, --adapter, --timeout, --json, --capture and others"),
        ("help options", 0, "OPTIONS OF THE VERBS OF gatt, after the verb:\n  --io <capability>"),
        ("lookup --help", 0, "  --json and others: bletool help options"),
        ("capture --help", 0, "  --adapter, --timeout, --json and others: bletool help options"),
        ("advertise --dry-run --name x --capture f", 1, "--capture: does not apply to --dry-run"),
        ("gatt x read --help", 0, "(values: auto,"),
        // The number of devices is printed even if it is 0. Then follow commands of other tools and unknown
        // options.
        ("scan --duration 10ms --adapter virtual", 0, "bletool: scan: 0 devices"),
        // --timeout ends a verb also while it looks for the device.
        (
            "gatt name:Absent read 2a19 --timeout 200ms --connect-timeout 60s --adapter virtual", 2,
            "not found within 200ms"
        ),
        (
            "gatt name:Absent dump --timeout 200ms --connect-timeout 60s --adapter virtual", 2,
            "not found within 200ms"
        ),
        ("-V", 1, "hint: the command for this is bletool --version"),
        ("version", 1, "the command for this is bletool --version"),
        ("hcitool", 1, "the command for this is bletool adapters, scan or gatt"),
        ("scan --foo", 1, "scan: unknown option '--foo'\nhint: "),
        ("bench x --chunk -5", 1, "hint: `bletool bench --help` lists the options"),
        ("gatt x write 2a19 --chunk -5 00", 1, "after =, as in --chunk=-5"),
        ("gatt x write 2a19 -5", 1, "hint: put a value that begins with - after --"),
        ("advertise --dry-run --name x --and", 1, "--and: needs an advertisement after it"),
        ("lescan", 1, "the command for this is bletool scan"), ("primary", 1, "gatt DEVICE tree"),
    ])
    func commandsExitWithStatusAndText(arguments: String, status: Int32, text: String) async throws {
        let result = try await Shell().run("bletool \(arguments)")
        #expect(result.status == status)
        #expect(result.output.contains(text) || text.isEmpty, "\(result.output)")
    }

    private static let lamp = """
        name: Lamp
        services:
          - uuid: 1802
            characteristics: [{uuid: 2a06, properties: [read, write, signedWrite], value: {u8: 0}}]
        """

    @Test("a read by handle asks once for the type, and octets after the 512th only for a file")
    func readByHandle() async throws {
        let (status, output) = try await beside(
            """
            bletool gatt name:Lamp read 0x000b --adapter virtual:phone --timeout 120s --capture read.btsnoop
            bletool decode read.btsnoop --name "Find Information Request" | wc -l
            bletool gatt name:Lamp read 2a06 --offset 513 --adapter virtual:phone
            bletool gatt name:Lamp read 2a06 --offset 513 --to value --adapter virtual:phone --timeout 120s
            """)
        #expect(status == 5, "\(output)")
        let lines = output.split(separator: "\n")
        #expect(lines.count == 5 && lines[1] == "1", "\(output)")
        #expect(lines.dropFirst(2).first?.contains("after the end of every value") == true, "\(output)")
        #expect(lines.last?.contains("Invalid Offset") == true, "\(output)")
    }

    @Test("a device is not found under another type of address, and the message says so")
    func wrongAddressType() async throws {
        let (status, output) = try await beside(
            """
            address=$(bletool scan --name Lamp --count 1 --adapter virtual:phone --timeout 120s | grep -o '..:..:..:..:..:../random')
            bletool gatt "${address%/random}/public" read 2a06 --adapter virtual:phone --timeout 1s
            """)
        #expect(status == 2 && output.contains("and is public right? bletool scan shows both"), "\(output)")
    }

    @Test("bench does not write what the server drops")
    func benchOfDroppedWrites() async throws {
        let (status, output) = try await beside(
            """
            bletool bench name:Lamp --write 2a06 --without-response --size 1 --count 1 --adapter virtual:phone \
                --timeout 120s
            """)
        #expect(
            status == 1 && output.contains("2a06: its server drops writes without a response"), "\(output)")
    }

    /// Runs a script while `lamp.yaml` is served on the same air.
    private func beside(_ script: String) async throws -> (status: Int32, output: String) {
        let shell = try Shell()
        try shell.write(Self.lamp, to: "lamp.yaml")
        return try await shell.run(
            """
            bletool air >air.log 2>&1 & air=$!
            bletool serve lamp.yaml --adapter virtual:lamp >serve.log 2>&1 & server=$!
            \(script)
            status=$?
            # A shell reports programs that were ended.
            { kill $server $air; wait; } 2>/dev/null
            exit $status
            """)
    }

    /// If stdout is not a terminal, the answers are JSON objects, and so is the error that ends the script.
    @Test func failingScriptEndsWithErrorObject() async throws {
        let result = try await beside(
            """
            printf 'read 2a06\\nread 2a19\\nread 2a06\\n' | bletool gatt name:Lamp run - --adapter virtual 2>messages
            """)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""event":"value""#) == true, "\(result.output)")
        #expect(lines.last?.hasPrefix(#"{"event":"error""#) == true, "\(result.output)")
        #expect(result.status == 2)
    }

    /// Each failure is reported with its line. The last object has the number of failures, and the status is
    /// that of the last failure.
    @Test func scriptThatKeepsGoingCountsFailures() async throws {
        let result = try await beside(
            """
            printf 'read 2a06\\nread 2a19\\nread 2a06\\nread 2a1a\\n' |
                bletool gatt name:Lamp run - --keep-going --adapter virtual 2>messages
            """)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 5)
        for (index, line) in [1: 2, 3: 4] where lines.count == 5 {
            #expect(
                lines[index].hasPrefix(#"{"event":"error""#) && lines[index].hasSuffix(#""line":\#(line)}"#))
        }
        #expect(lines.last?.contains(#""message":"stdin: 2 lines failed""#) == true, "\(result.output)")
        #expect(result.status == 2)
    }

    @Test func unsignableWriteFailsWithSecurityStatus() async throws {
        let result = try await beside("bletool gatt name:Lamp write 2a06 01 --signed --adapter virtual")
        #expect(result.status == 6)
        #expect(result.output.contains("bletool pair"), "\(result.output)")
    }

    @Test("raw octets are written to stdout and to files") func rawValuesGoToStdoutAndFiles() async throws {
        let result = try await beside(
            """
            lamp='bletool gatt name:Lamp --adapter virtual'
            $lamp write 2a06 0aff && $lamp read 2a06 --format raw >raw && $lamp read 2a06 --to saved &&
            $lamp read 2a06 --to - >piped && $lamp read 2a06 --json --to saved &&
            od -An -tx1 raw saved piped; $lamp read 2a06 --json --to -
            """)
        #expect(
            result.output == """
                wrote 0aff (2 octets) to 0x0012
                read 2 octets into saved
                {"event":"saved","handle":18,"uuid":"2a06","octets":2,"file":"saved"}
                 0a ff 0a ff 0a ff
                {"event":"error","kind":"usage","message":"--to -: cannot be combined with --json","code":1}
                bletool: --to -: cannot be combined with --json

                """)
    }

    @Test("notify --reconnect continues with the restarted server")
    func notifyReconnectsToRestartedServer() async throws {
        let serving = "bletool serve counting.yaml --adapter virtual:counter >>counting.log 2>&1 & counter=$!"
        let result = try await beside(
            """
            printf '%s\n' 'name: Counting' 'services: [{uuid: 1809, characteristics: [{uuid: 2a6e,' \
                'properties: [notify], notify: {every: 100ms, counter: u16}}]}]' >counting.yaml
            \(serving)
            mkfifo values
            bletool gatt name:Counting notify 2a6e --reconnect --format u16 --adapter virtual >values 2>messages & listener=$!
            {
                read time uuid value && { kill -9 $counter; wait $counter; } 2>/dev/null
                \(serving)
                # The next server begins at zero.
                while read time uuid value && [ $value != 0 ]; do :; done
                # The reader is there until it has ended.
                { kill $listener; wait $listener; } 2>/dev/null
                echo $?
            } <values
            bletool gatt name:Counting notify 2a6e --reconnect --duration 500ms --adapter virtual >values.out 2>&1
            echo $?
            kill $counter
            cut -d ' ' -f 3-6 messages
            """)
        #expect(
            result.output == """
                143
                0
                connected  link 1
                disconnected  link 1
                connected  link 2

                """)
    }

    /// A program that runs when a link is established also runs when the link ends, even if the command ends
    /// it.
    @Test func maintainRunsProgramOnFinalDisconnection() async throws {
        let result = try await beside(
            """
            mkfifo up
            bletool maintain name:Lamp --exec 'echo $BLETOOL_EVENT >>reported; echo >up' --adapter virtual 2>messages >events &
            maintain=$!
            read line <up
            kill -TERM $maintain
            read line <up
            { wait $maintain; } 2>/dev/null
            cat reported
            """)
        #expect(result.output.hasSuffix("connected\ndisconnected\n"), "\(result.output)")
    }
}
