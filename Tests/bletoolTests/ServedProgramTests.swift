import Foundation
import Glibc
import ProgramTesting
import Testing

/// The programs of a served file that receive the values that centrals write.
@Suite(.timeLimit(.minutes(10))) struct ServedProgramTests {
    /// Starts a server with one characteristic that runs `program`, and a client that writes `octets` to it,
    /// `chunk` octets at a time.
    private func serve(
        _ program: String, _ options: [String], writing octets: [UInt8], each chunk: Int = 1,
        as key: String = "exec"
    ) async throws -> (air: TemporaryAir, server: RunningProgram) {
        let air = try await TemporaryAir()
        let configuration = """
            name: Logger
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [write, writeWithoutResponse], write: {\(key): "\(program)"}}
            """
        try Data(configuration.utf8).write(to: air.folder.appending(path: "log.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "log.yaml", "--adapter", "virtual:log", "--json"] + options,
            in: air.folder, mergingErrors: true)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        try Data(octets).write(to: air.folder.appending(path: "octets"))
        let client = try RunningProgram(
            [
                "bletool", "gatt", "name:Logger", "write", "2a06", "--from", "octets", "--chunk", "\(chunk)",
                "--without-response", "--adapter", "virtual:phone",
            ], in: air.folder)
        while await client.line() != nil {}
        #expect(client.status() == 0)
        return (air, server)
    }

    @Test("without descriptors for a program, a request gets Insufficient Resources, and the server goes on")
    func requestWithoutDescriptorsIsRefused() async throws {
        let shell = try Shell()
        try shell.write(
            """
            services:
              - uuid: 1802
                characteristics: [{uuid: 2a06, properties: [read], read: {exec: "echo one"}}]
              - uuid: 180f
                characteristics: [{uuid: 2a19, properties: [read], value: {u8: 7}}]
            """, to: "status.yaml")
        let (status, output) = try await shell.run(
            """
            mkfifo up
            bletool air >up & air=$!
            trap 'kill $air' EXIT
            exec 4<up; read -r line <&4; cat <&4 >/dev/null & exec 4<&-
            for limit in 24 64; do
                mkfifo log$limit
                (ulimit -n $limit; exec bletool serve status.yaml --adapter virtual:served --name Status) >log$limit 2>&1 &
                server=$!
                exec 3<log$limit; read -r line <&3; cat <&3 >reported$limit &
                for attribute in 2a06 2a19; do
                    bletool gatt name:Status read $attribute --adapter virtual:phone --connect-timeout 60s 2>&1
                done
                kill $server; { wait $server; } 2>/dev/null; echo "limit $limit: $?"
            done
            grep -c 'no room for another program: fewer than 24 of 24 descriptors are free' reported24
            """)
        #expect(
            output == """
                bletool: 2a06: Read Request of 0x0012: Insufficient Resources (0x11)
                7 %
                limit 24: 143
                6f6e65 "one"
                7 %
                limit 64: 143
                1

                """, "\(status)")
    }

    @Test("without descriptors, a command fails with a reason", arguments: [4, 6, 8, 12])
    func commandWithoutDescriptorsFails(limit: Int) async throws {
        let (_, output) = try await Shell().run(
            """
            # The process that runs the tests can have left some open.
            exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
            (ulimit -n \(limit); exec bletool scan --adapter virtual --duration 100ms) 2>&1
            echo "status $?"
            """)
        #expect(output.contains("bletool: event loop: cannot start: Too many open files"), "\(output)")
        #expect(output.hasSuffix("status 3\n"), "\(output)")
    }

    /// Only root can start a program as systemd starts a service with `AmbientCapabilities=`.
    @Test("programs do not inherit the capabilities of a service", .enabled(if: geteuid() == 0))
    func programsInheritNoCapabilities() async throws {
        let shell = try Shell()
        try shell.write(
            """
            services:
              - uuid: 1802
                characteristics:
                  - uuid: 2a06
                    properties: [read]
                    read: {exec: "awk '/^Cap[IPEA]/ { print $2 }' /proc/self/status | sort -u"}
            """, to: "status.yaml")
        let (status, output) = try await shell.run(
            """
            setpriv --securebits=+noroot --inh-caps=-all,+net_admin --ambient-caps=-all,+net_admin \
                bletool serve status.yaml --adapter virtual:served --name Status --json >served &
            bletool gatt name:Status read 2a06 --format utf8 --adapter virtual:phone --connect-timeout 60s
            status=$?
            kill $!
            exit $status
            """)
        #expect(status == 0)
        // The inheritable, permitted, effective and ambient sets.
        #expect(output == "0000000000000000\n")
    }

    @Test("a server runs all pending write programs in order before it ends")
    func pendingProgramsRunBeforeServerEnds() async throws {
        let octets = Array("abcdefghijklmnop".utf8)
        let (air, server) = try await serve("cat >> written; echo seen >&2", ["--once"], writing: octets)
        var lines: [String] = []
        while let line = await server.line() { lines.append(line) }
        #expect(server.status() == 0)
        #expect(try Data(contentsOf: air.folder.appending(path: "written")) == Data(octets))
        #expect(lines.count { $0 == "seen" } == octets.count, "what programs print on stderr is shown")
    }

    @Test("writes that no program has received when the server ends are reported, and the status is 2")
    func unservedWritesAreReportedAtEnd() async throws {
        let (air, server) = try await serve("sleep 1000", ["--once"], writing: Array("abcde".utf8))
        defer { withExtendedLifetime(air) {} }
        var values: [String] = []
        var last = ""
        while let line = await server.line() {
            last = line
            if let value = line.firstMatch(
                of: /"event":"undelivered",.*"value":"(..)","type":"command"/)
            {
                values.append(String(value.output.1))
            }
        }
        #expect(server.status() == 2)
        // The first program runs. On a busy machine, the next one runs when the first has reached its limit
        // of 10 s. The request of the program that is killed counts, too.
        #expect(!values.isEmpty && values == ["62", "63", "64", "65"].suffix(values.count))
        #expect(last.contains("serve: programs were not done with \(values.count + 1) requests"), "\(last)")
    }

    /// 160 writes of 448 octets. One of them runs, and 128 wait, because each counts 64 octets more.
    private let many = [UInt8](repeating: UInt8(ascii: "x"), count: 160 * 448)

    @Test("writes beyond the queue's limit are dropped and reported")
    func writesBeyondLimitAreDropped() async throws {
        // Each program waits until the file `go` exists.
        let (air, server) = try await serve(
            "until test -e go; do sleep 0.1; done; cat >> written; echo seen >&2", [], writing: many,
            each: 448)
        var (written, dropped) = (0, 0)
        while written + dropped < 160, let line = await server.line() {
            if line.contains(#""event":"write""#) { written += 1 }
            guard line.contains(#""event":"dropped""#) else { continue }
            dropped += 1
            #expect(line.contains(#""uuid":"2a06""#) && line.contains(#""type":"command","limit":65536"#))
        }
        #expect(written >= 128 && dropped > 0 && written + dropped == 160)
        try Data().write(to: air.folder.appending(path: "go"))
        // On a busy machine, the first program may have exceeded its time limit.
        var (seen, late) = (0, 0)
        while seen + late < written, let line = await server.line() {
            if line == "seen" { seen += 1 }
            if line.contains("took longer") { late += 1 }
        }
        server.signal(SIGINT)
        while await server.line() != nil {}
        #expect(try Data(contentsOf: air.folder.appending(path: "written")).count == seen * 448)
    }

    @Test("a second Ctrl-C ends the programs with the server")
    func secondInterruptEndsPrograms() async throws {
        let (_, server) = try await serve("sleep 1000 & echo seen >&2; wait", [], writing: [1])
        #expect(await server.line { $0 == "seen" } != nil)
        server.signal(SIGINT)
        #expect(await server.line { $0.contains("waiting for the programs of 1 request,") } != nil)
        server.signal(SIGINT)
        // The output also contains the programs' errors, so it ends only when the last of the programs has
        // ended.
        while await server.line() != nil {}
        #expect(server.status() != 0)
    }

    @Test("a lines program reads each written value as a line and ends with the server")
    func linesProgramReadsWrittenValues() async throws {
        let (air, server) = try await serve(
            "while read line; do echo $line >> written; done; echo end >> written", ["--once"],
            writing: Array("abc\n".utf8), as: "lines")
        while await server.line() != nil {}
        #expect(server.status() == 0)
        let written = try String(contentsOf: air.folder.appending(path: "written"), encoding: .utf8)
        #expect(written == "61\n62\n63\n0a\nend\n")
    }

    @Test("a lines program that ends is restarted, and values wait for it")
    func endedLinesProgramIsRestarted() async throws {
        let (air, server) = try await serve(
            "read line; echo $line >> written; exit 7", [], writing: Array("a".utf8), as: "lines")
        #expect(await server.line { $0.contains("ended with status 7; it is run again in 1s") } != nil)
        let client = try RunningProgram(
            ["bletool", "gatt", "name:Logger", "write", "2a06", "62", "--adapter", "virtual:tablet"],
            in: air.folder)
        while await client.line() != nil {}
        #expect(client.status() == 0)
        #expect(await server.line { $0.contains("ended with status 7; it is run again in 2s") } != nil)
        server.signal(SIGTERM)
        while await server.line() != nil {}
        let written = try String(contentsOf: air.folder.appending(path: "written"), encoding: .utf8)
        #expect(written == "61\n62\n")
    }

    @Test("programs run in the folder of the configuration, also those that it names by a path")
    func programsRunInFolderOfConfiguration() async throws {
        let air = try await TemporaryAir()
        let folder = air.folder.appending(path: "lamp")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("on".utf8).write(to: folder.appending(path: "state"))
        let script = folder.appending(path: "show")
        try Data("#!/bin/sh\ncat \"$1\"\n".utf8).write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        let configuration = """
            name: Lamp
            services:
              - uuid: 180f
                characteristics:
                  - {uuid: 2a19, properties: [read], read: {exec: "cat state"}}
                  - {uuid: 2a1a, properties: [read], read: {exec: [/bin/cat, state]}}
                  - {uuid: 2a1b, properties: [read], read: {exec: [./show, state]}}
                  - {uuid: 2a1c, properties: [read], read: {exec: [cat, state]}}
                  - {uuid: 2a1e, properties: [notify], notify: {lines: [./show, state]}}
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "lamp.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "lamp/lamp.yaml", "--adapter", "virtual:lamp", "--json"],
            in: air.folder, mergingErrors: true)
        // The program of notify: prints one line and ends, not before the server is ready.
        #expect(await server.line { $0.contains("./show\" ended with status 0") } != nil)
        let reads = "read 2a19\nread 2a1a\nread 2a1b\nread 2a1c\n"
        try Data(reads.utf8).write(to: air.folder.appending(path: "script"))
        let client = try RunningProgram(
            ["bletool", "gatt", "name:Lamp", "run", "script", "--json", "--adapter", "virtual:phone"],
            in: air.folder)
        var values: [String] = []
        while let line = await client.line() {
            if line.contains(#""event":"value""#) { values.append(line) }
        }
        #expect(values.count == 4)
        for value in values { #expect(value.contains(#""value":"6f6e""#), "\(value)") }
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }

    @Test("values that a lines program has not read when it ends are for its next run")
    func unreadLinesAreForNextRun() async throws {
        // The first run reads one of three values that are in the pipe, and each of the next runs another one.
        let (air, server) = try await serve(
            "until test -e go; do sleep 0.1; done; read line; echo $line >> written", [],
            writing: Array("abc".utf8), as: "lines")
        for _ in 0..<3 { #expect(await server.line { $0.contains(#""event":"write""#) } != nil) }
        try Data().write(to: air.folder.appending(path: "go"))
        #expect(await server.line { $0.hasSuffix("again in 1s, for 2 values that wait") } != nil)
        #expect(await server.line { $0.hasSuffix("again in 2s, for 1 value that waits") } != nil)
        #expect(await server.line { $0.hasSuffix("again in 4s") } != nil)
        server.signal(SIGTERM)
        while await server.line() != nil {}
        let written = try String(contentsOf: air.folder.appending(path: "written"), encoding: .utf8)
        #expect(written == "61\n62\n63\n")
    }

    @Test("values that a lines program has not read when the server ends are reported")
    func unreadLinesAreReportedAtEnd() async throws {
        let (air, server) = try await serve(
            "until test -e go; do sleep 0.1; done; read line", [], writing: Array("abc".utf8), as: "lines")
        for _ in 0..<3 { #expect(await server.line { $0.contains(#""event":"write""#) } != nil) }
        server.signal(SIGINT)
        try Data().write(to: air.folder.appending(path: "go"))
        let end = "the server ends with 2 values that its program has not read"
        #expect(await server.line { $0.contains(end) } != nil)
        while await server.line() != nil {}
    }

    @Test("a write request beyond the queue's limit is refused with Insufficient Resources")
    func writeRequestBeyondLimitIsRefused() async throws {
        let (air, server) = try await serve(
            "until test -e go; do sleep 0.1; done; cat >> written", [], writing: many, each: 448)
        // The first program runs. The write commands fill the room that has become free since, then the write
        // request of a `y` follows.
        let script = """
            write 2a06 --from octets --chunk 448 --without-response
            write 2a06 79
            """
        try Data(script.utf8).write(to: air.folder.appending(path: "script"))
        let client = try RunningProgram(
            ["bletool", "gatt", "name:Logger", "run", "script", "--json", "--adapter", "virtual:tablet"],
            in: air.folder)
        let refusal = await client.line { $0.contains(#""event":"error""#) } ?? "none"
        #expect(refusal.contains(#""number":17"#), "\(refusal)")
        #expect(refusal.contains("script:2: "), "\(refusal)")
        while await client.line() != nil {}
        #expect(client.status() == 5)
        #expect(
            await server.line { $0.contains(#""event":"refused""#) && $0.contains(#""error":17"#) } != nil)
        try Data().write(to: air.folder.appending(path: "go"))
        server.signal(SIGINT)
        while await server.line() != nil {}
        // The value that was refused is not written later.
        let written = try Data(contentsOf: air.folder.appending(path: "written"))
        #expect(written.count >= 448)
        #expect(!written.contains(UInt8(ascii: "y")))
    }
}

/// The values that centrals receive from a program that keeps running, and from a file.
@Suite(.timeLimit(.minutes(10))) struct ServedSourceTests {
    /// Starts a server with one characteristic, and a client that subscribes to it.
    private func serve(
        _ notify: String, values: Int, _ options: [String] = [], in air: TemporaryAir
    ) async throws -> (server: RunningProgram, client: RunningProgram) {
        let configuration = """
            name: Source
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [read, notify], notify: \(notify)}
            """
        try Data(configuration.utf8).write(to: air.folder.appending(path: "source.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "source.yaml", "--adapter", "virtual:source", "--json"], in: air.folder,
            mergingErrors: true)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        let client = try RunningProgram(
            [
                "bletool", "gatt", "name:Source", "notify", "2a06", "--count", "\(values)", "--format", "hex",
                "--json", "--adapter", "virtual:phone", "--timeout", "60s",
            ] + options, in: air.folder)
        #expect(await server.line { $0.contains(#""event":"subscribed""#) } != nil)
        return (server, client)
    }

    private func values(_ client: RunningProgram) async -> [String] {
        var values: [String] = []
        while let line = await client.line() {
            if let value = line.firstMatch(of: /"value":"([0-9a-f]*)"/)?.output.1 {
                values.append(String(value))
            }
        }
        return values
    }

    @Test("each line that a program prints is a value, and the program ends with the server")
    func programLinesBecomeValues() async throws {
        let air = try await TemporaryAir()
        let program =
            "until test -e go; do sleep 0.1; done; echo $$ > pid; seq 1 40; echo x; echo 300; exec cat fifo"
        let (server, client) = try await serve(
            "{lines: \"mkfifo fifo; \(program)\", format: u8}", values: 40, in: air)
        try Data().write(to: air.folder.appending(path: "go"))
        #expect(await values(client) == (1...40).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) })
        let problems = [#"2a06: "x" is not"#, "2a06: the value is 0 to 255, not 300"]
        for problem in problems {
            #expect(await server.line { $0.contains(problem) } != nil, "\(problem)")
        }
        let process = try String(contentsOf: air.folder.appending(path: "pid"), encoding: .utf8)
        let number = try #require(Int32(process.trimmingCharacters(in: .newlines)))
        #expect(kill(number, 0) == 0)
        server.signal(SIGTERM)
        while await server.line() != nil {}
        #expect(kill(number, 0) != 0)
    }

    @Test("a program that ends is restarted, and its exit status is reported")
    func endedProgramIsRestarted() async throws {
        let air = try await TemporaryAir()
        let (server, client) = try await serve(
            "{lines: \"until test -e go; do sleep 0.1; done; printf abc; exit 7\"}", values: 2, in: air)
        try Data().write(to: air.folder.appending(path: "go"))
        #expect(await server.line { $0.contains("ended with status 7; it is run again in 1s") } != nil)
        #expect(await server.line { $0.contains("ended with status 7; it is run again in 2s") } != nil)
        #expect(await values(client) == ["616263", "616263"])
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }

    @Test("a flood of lines that are no values is counted, and a line that is too long ends the program")
    func floodOfWrongLinesIsCounted() async throws {
        let air = try await TemporaryAir()
        let program = "yes x | head -n 20000; head -c 70000 /dev/zero; exec sleep 1000"
        let (server, client) = try await serve(
            "{lines: \"until test -e go; do sleep 0.1; done; \(program)\", format: u8}", values: 1, in: air)
        try Data().write(to: air.folder.appending(path: "go"))
        var (reported, counted) = (0, 0)
        let last = await server.line { line in
            if line.contains(#"2a06: "x" is not"#) { reported += 1 }
            if let rest = line.firstMatch(of: /2a06: ([0-9]+) more lines? (?:is|are) no value/) {
                counted += Int(rest.output.1) ?? 0
            }
            return line.contains("it is run again in")
        }
        #expect(reported + counted == 20_000)
        #expect(counted > reported)
        #expect(
            last?.hasSuffix(": a line has more than 65536 octets; it is run again in 1s") == true,
            "\(last ?? "")")
        server.signal(SIGTERM)
        while await server.line() != nil {}
        while await client.line() != nil {}
    }

    @Test("a write to a file or its replacement is sent as a value; the initial content is not")
    func fileChangesBecomeValues() async throws {
        let air = try await TemporaryAir()
        let file = air.folder.appending(path: "value")
        let (server, client) = try await serve("{file: value, format: i16}", values: 2, in: air)
        let isNotified = { (line: String) in line.contains(#""event":"notified""#) }
        try Data("21\n".utf8).write(to: file)
        #expect(await server.line(isNotified)?.contains("1500") == true)
        // The same content again is not a change.
        try Data("21\n".utf8).write(to: file)
        let other = air.folder.appending(path: "other")
        try Data("-5\n".utf8).write(to: other)
        #expect(rename(other.path, file.path) == 0)
        #expect(await values(client) == ["1500", "fbff"])
        let reader = try RunningProgram(
            ["bletool", "gatt", "name:Source", "read", "2a06", "--json", "--adapter", "virtual:phone"],
            in: air.folder)
        #expect(await values(reader) == ["fbff"])
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }

    @Test("values that do not fit into a notification are reported once for each central")
    func oversizedValuesAreReportedOnce() async throws {
        let air = try await TemporaryAir()
        let (long, longer) = (String(repeating: "x", count: 21), String(repeating: "y", count: 25))
        let start = "until test -e go; do sleep 0.1; done"
        let (server, client) = try await serve(
            "{lines: \"\(start); printf '%s\\\\n' \(long) \(longer) ab; exec sleep 1000\"}", values: 1,
            ["--mtu", "23"], in: air)
        try Data().write(to: air.folder.appending(path: "go"))
        #expect(await values(client) == ["6162"])
        server.signal(SIGTERM)
        var problems: [String] = []
        while let line = await server.line() {
            if line.contains("does not receive the value") { problems.append(line) }
        }
        #expect(problems.count == 1, "\(problems)")
    }

    @Test("a missing file is reported at the start") func missingFileIsReported() async throws {
        let air = try await TemporaryAir()
        let configuration = """
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [read, notify], notify: {file: value}}
            """
        try Data(configuration.utf8).write(to: air.folder.appending(path: "source.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "source.yaml", "--adapter", "virtual:source"], in: air.folder,
            mergingErrors: true)
        #expect(await server.line { $0.hasSuffix(#"value" is not there yet"#) } != nil)
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }

    @Test("a program's child processes end with the server, even if the program has ended before")
    func childProcessesEndWithServer() async throws {
        let air = try await TemporaryAir()
        let (server, client) = try await serve(
            "{lines: \"until test -e go; do sleep 0.1; done; sleep 1000 & echo one\"}", values: 1, in: air)
        try Data().write(to: air.folder.appending(path: "go"))
        #expect(await values(client) == ["6f6e65"])
        server.signal(SIGTERM)
        // The output also contains the errors of the child processes, so it ends only when the last of them
        // has ended.
        while await server.line() != nil {}
        #expect(server.status() != 0)
    }

    @Test("a program that closes its output is ended and restarted")
    func programWithClosedOutputIsRestarted() async throws {
        let air = try await TemporaryAir()
        let (server, client) = try await serve(
            "{lines: \"until test -e go; do sleep 0.1; done; echo one; exec >&-; exec sleep 1000\"}",
            values: 2,
            in: air)
        try Data().write(to: air.folder.appending(path: "go"))
        #expect(await server.line { $0.contains("was ended by signal 9; it is run again in 1s") } != nil)
        #expect(await values(client) == ["6f6e65", "6f6e65"])
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }

    @Test(
        "a recreated folder is watched again, and a value's text can be longer than the value")
    func recreatedFolderIsWatchedAgain() async throws {
        let air = try await TemporaryAir()
        let folder = air.folder.appending(path: "sensor")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let (server, client) = try await serve("{file: sensor/value, format: hex}", values: 2, in: air)
        let value = String(repeating: "ab", count: 300)
        try Data(value.utf8).write(to: folder.appending(path: "value"))
        #expect(await server.line { $0.contains(#""event":"notified""#) } != nil)
        try FileManager.default.removeItem(at: folder)
        #expect(await server.line { $0.contains(#"sensor/value" is gone"#) } != nil)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("0102".utf8).write(to: folder.appending(path: "value"))
        let received = await values(client)
        #expect(received.count == 2 && received.first?.hasPrefix("abab") == true && received.last == "0102")
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }
}

/// The security that a served file requires of links.
@Suite(.timeLimit(.minutes(10))) struct ServedProtectionTests {
    private static let configuration = """
        name: Safe
        services:
          - uuid: 1802
            characteristics:
              - {uuid: 2a06, handle: 0x0020, properties: [read, write], permissions: {write: authenticated}}
              - {uuid: 2a07, properties: [read], permissions: {read: encrypted}}
        """

    @Test(
        "attributes that need more security than pairing can provide are reported at the start",
        arguments: [([], true), (["--io", "display"], false), (["--passkey", "123456"], false)])
    func unreachableAttributesAreReported(options: [String], isTold: Bool) async throws {
        let air = try await TemporaryAir()
        try Data(Self.configuration.utf8).write(to: air.folder.appending(path: "safe.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "safe.yaml", "--adapter", "virtual:safe"] + options, in: air.folder,
            mergingErrors: true)
        var lines: [String] = []
        while lines.last?.contains("on virtual:safe") != true, let line = await server.line() {
            lines.append(line)
        }
        #expect(lines.contains { $0.contains("secure enough for 2a06 at 0x0021:") } == isTold, "\(lines)")
    }
}
