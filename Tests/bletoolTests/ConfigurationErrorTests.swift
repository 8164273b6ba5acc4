import BLECore
import Testing

@testable import bletool

struct ConfigurationErrorTests {
    /// Returns a file with a service and one characteristic, which begins at line 4.
    private static func characteristic(_ lines: String) -> String {
        "services:\n- uuid: 180f\n  characteristics:\n  - uuid: 2a19\n"
            + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    }

    /// A file, the line and column of its error, and words of the reason.
    @Test(arguments: [
        // The file as a whole.
        ("[]", 1, 1, "expected a configuration, not a list"),
        ("name: x", 1, 1, "needs the key \"services\""),
        ("services: []\nstandardServices: false", 1, 1, "nothing to serve"),
        ("services: {}", 1, 11, "expected a list of services, not a mapping"),
        ("services:", 1, 1, "has no value"),
        ("servces: []", 1, 1, "no key \"servces\"; did you mean \"services\"?"),
        ("services: []\nxyzzy: 1", 2, 1, "no key \"xyzzy\""),
        // Numbers and words.
        ("services: []\nmtu: 22", 2, 6, "the MTU is 23 to 517, not 22"),
        ("services: []\nmtu: x", 2, 6, "\"x\" is not a number"),
        ("services: []\nmtu: [23]", 2, 6, "expected a number, not a list"),
        ("services: []\nprepareQueue: 0", 2, 15, "1 to 1024"),
        ("services: []\nstandardServices: yes", 2, 19, "true or false"),
        ("services: []\nstrict: no", 2, 9, "true or false"),
        ("services: []\nstandardServices: \"true\"", 2, 19, "true or false"),
        ("services: []\nsecurity: {io: keybord}", 2, 16, "did you mean \"keyboard\"?"),
        ("services: []\nconnection: {interval: 5ms}", 2, 24, "7.5"),
        (
            "services: []\nconnection: {supervision: 50ms}", 2, 13,
            "50 ms is below the least supervision timeout, 100 ms"
        ),
        ("services: [{uuid: 180f}]\nconnection: {latency: 1}\nstandardServices: false", 2, 1, "GAP service"),
        ("services: []\nsecurity: none", 2, 11, "expected security"),
        ("services: []\nname: \"\"", 2, 7, "1 to 248"),
        ("services: []\nname: \(String(repeating: "x", count: 249))", 2, 7, "249 octets"),
        // Advertising.
        (
            "services: []\nname: \(String(repeating: "x", count: 30))", 2, 7,
            "name takes 32 octets and does not fit: the limit is 31"
        ),
        ("services: []\nadvertise:\n  services: [1809, 18]", 3, 20, "\"18\" is not a UUID"),
        ("services: []\nadvertise:\n  services: [Batery]", 3, 14, "neither a UUID nor a name"),
        ("services: []\nadvertise:\n  interval: 100", 3, 13, "is not a duration"),
        ("services: []\nadvertise:\n  interval: 1ms", 3, 13, "the interval is 20ms to 10.24s"),
        ("services: []\nadvertise:\n  manufacturer: {0x1ffff: 00}", 3, 18, "0 to 65535"),
        ("services: []\nadvertise:\n  manufacturer: {76: 0}", 3, 22, "odd number of digits"),
        ("services: []\nadvertise:\n  manufacturer: {76: 00, 76: 01}", 3, 26, "is already given"),
        ("services: []\nadvertise:\n  serviceData: {feaa: [1]}", 3, 23, "expected hex"),
        (
            "services: []\nadvertise:\n  overflow: shorten", 3, 13,
            "fail, shorten-name, scan-response, extended or apple"
        ),
        ("services: []\nadvertise:\n  raw: 0201", 3, 3, "raw: "),
        ("services: []\nadvertise:\n  flags: 0606", 3, 10, "not 1"),
        ("services: []\nadvertise:\n  url: x", 3, 8, "not a URI"),
        ("services: []\nadvertise:\n  power: 21", 3, 10, "-127 to 20"),
        ("services: []\nadvertise:\n  ibeacon: x", 3, 12, "UUID,MAJOR,MINOR,POWER"),
        ("services: []\nadvertise:\n  ibeacon: {major: 1}", 3, 12, "expected UUID,MAJOR,MINOR,POWER"),
        ("services: []\nadvertise:\n  eddystoneUrl: x", 3, 17, "begins with one of"),
        ("services: []\nbeacons:\n  - {periodic: {interval: 1ms}}", 3, 27, "not within 7.5ms to 81.91875s"),
        ("services: []\nbeacons:\n  - {periodic: {data: 020106}}", 3, 16, "needs the key \"interval\""),
        ("services: []\nbeacons:\n  - {periodic: {interval: 1s, data: 0301}}", 3, 31, "needs 3 octets"),
        (
            "services: []\nbeacons:\n  - {type: scannable, periodic: {interval: 1s}}", 3, 23, "nonconnectable"
        ),
        ("services: []\nadvertise:\n  type: scannable", 3, 3, "no key \"type\""),
        ("services: []\nadvertise:\n  raw: 020106\n  services: [1809]", 3, 3, "cannot take"),
        // Services.
        ("services: [{}]", 1, 12, "a service needs the key \"uuid\""),
        ("services: [{uuid: 18}]", 1, 19, "is not a UUID"),
        ("services: [{uuid: [18]}]", 1, 19, "expected a UUID"),
        ("services: [{uuid: 1800}]", 1, 12, "is added already"),
        ("services:\n- {uuid: 180f, handle: 0}", 2, 24, "1 to 65535"),
        (
            "services:\n- {uuid: 180f, handle: 0x30}\n- {uuid: 1809, handle: 0x30}", 3, 24,
            "is taken by the service 180f"
        ),
        ("services:\n- {uuid: 180f, handle: 0x30}\n- {uuid: 1809, handle: 0x20}", 3, 24, "is out of order"),
        (
            "services:\n- {uuid: 180f, endHandle: 0x0030}\n- {uuid: 1809, handle: 0x0020}", 3, 24,
            "lies in the service 180f, which ends at 0x0030"
        ),
        (
            "services:\n- {uuid: 180f, endHandle: 0xffff}\n- {uuid: 1809}", 3, 3,
            "no handle is left for the service 1809: the service 180f ends at 0xffff"
        ),
        (
            "services:\n- {uuid: 180f, handle: 0x30, includes: [{uuid: 180f}], endHandle: 0x30}", 2, 67,
            "ends before its last attribute, 0x0031"
        ),
        ("services: [{uuid: 180f, uuidBits: 32}]", 1, 35, "ATT has UUIDs of 16 and 128 bits"),
        (
            "services:\n- {uuid: 180f, handle: 0xffff}\n- {uuid: 1809}", 3, 3,
            "no handle is left for the service 1809"
        ),
        ("services:\n- {uuid: 180f, includes: [{uuid: 1809}]}", 2, 27, "no service 1809 to include"),
        ("services:\n- {uuid: 180f, includes: [{handle: 0x0011}]}", 2, 27, "no service at 0x0011 to include"),
        (
            "services:\n- {uuid: 180f, includes: [{uuid: 180f}]}", 2, 27,
            "includes itself, directly or through others"
        ),
        (
            "services:\n- {uuid: 180f, includes: [{uuid: 1809}]}\n- {uuid: 1809, includes: [{uuid: 180f}]}",
            3, 27,
            "1809 includes itself, directly or through others"
        ),
        ("services:\n- {uuid: 180f, includes: [{}]}", 2, 27, "either handle or uuid"),
        (
            "services:\n- {uuid: 180f, includes: [{uuid: 1809}]}\n- uuid: 1809\n- uuid: 1809", 2, 27,
            "2 services 1809"
        ),
    ])
    func configurationErrorHasPosition(file: String, line: Int, column: Int, words: String) throws {
        let error = try #require(#expect(throws: ConfigurationError.self) { try configuration(file) })
        #expect(error.reason.contains(words), "\(error.reason)")
        #expect(error.position == SourcePosition(line: line, column: column), "\(error)")
        #expect(!Failure(error, file: "x.yaml").message.contains("\n"))
    }

    /// The same for the lines of one characteristic, without the column.
    @Test(arguments: [
        ("value: x", 4, "needs the key \"properties\""),
        ("properties: [red]", 5, "not \"red\"; did you mean \"read\"?"),
        ("properties: [read, read]", 5, "twice"), ("propertes: [read]", 5, "did you mean \"properties\"?"),
        ("properties: []\nvalue: 100", 6, "a text or a number?"),
        ("properties: []\nvalue: true", 6, "a text or a number?"),
        ("properties: []\nvalue: {u9: 1}", 6, "no form of a value; did you mean \"u8\"?"),
        ("properties: []\nvalue: {u8: 256}", 6, "0 to 255"),
        ("properties: []\nvalue: {u8: 1, u16: 1}", 6, "one key"),
        ("properties: []\nvalue: {}", 6, "one key"), ("properties: []\nvalue: [1]", 6, "not a list"),
        ("properties: []\nvalue: {hex: 0}", 6, "odd number"),
        ("properties: []\nvalue: {u8: }", 6, "has no value"),
        ("properties: []\nvalue: {sfloat: 36.123}", 6, "sfloat cannot hold"),
        ("properties: []\nvalue: {file: none}", 6, "no none"),
        ("properties: []\nvalue: {file: big}", 6, "no big"),
        ("properties: []\nlength: {max: 513}", 6, "1 to 512"),
        ("properties: []\nvalue: abc\nlength: {max: 2}", 6, "more than its max of 2"),
        ("properties: []\nvalue: abc\nlength: {max: 4, fixed: true}", 6, "fixed at 4"),
        ("properties: []\nlength: {fixed: true}", 6, "needs max"),
        ("properties: []\nnotify: {every: 1s, counter: u8}", 6, "without a property"),
        ("properties: [notify]\nnotify: {counter: u8}", 6, "needs the key \"every\""),
        ("properties: [notify]\nnotify: {every: 1s}", 6, "one of exec, counter, lines and file"),
        (
            "properties: [notify]\nnotify: {every: 1s, counter: u8, exec: x}", 6,
            "one of exec, counter, lines and file"
        ),
        ("properties: [notify]\nnotify: {every: 1s, lines: x}", 6, "takes no every"),
        ("properties: [notify]\nnotify: {every: 1s, counter: u8, format: u8}", 6, "counter takes no format"),
        ("properties: [notify]\nnotify: {every: 1s, exec: x, format: u9}", 6, "\"u9\" is not a format"),
        ("properties: [read]\nread: {exec: x, format: u9}", 6, "\"u9\" is not a format"),
        ("properties: [notify]\nnotify: {lines: x, format: u9}", 6, "\"u9\" is not a format"),
        ("properties: [notify]\nnotify: {lines: \"\"}", 6, "the command is empty"),
        ("properties: [notify]\nnotify: {file: /nowhere/value}", 6, "there is no folder \"/nowhere\""),
        ("properties: [notify]\nnotify: {every: 0s, counter: u8}", 6, "1ms to 24h"),
        ("properties: [notify]\nnotify: {every: 1s, counter: i8}", 6, "u8, u16 or u32"),
        (
            "properties: [notify]\nnotify: {every: 1s, counter: u16}\nlength: {max: 1}", 6,
            "the counter has 2 octets"
        ),
        ("properties: [write]\nread: {exec: x}", 6, "let no central read"),
        ("properties: [write]\nwrite: {format: u8}", 6, "write needs either exec or lines"),
        ("properties: [write]\nwrite: {exec: x, lines: x}", 6, "write needs either exec or lines"),
        ("properties: [write]\nwrite: {exec: x, format: u8}", 6, "exec takes no format"),
        ("properties: [write]\nwrite: {lines: x, format: json5}", 6, "is not a format"),
        ("properties: [read]\nwrite: {exec: x}", 6, "let no central write"),
        ("properties: [read]\nread: {exec: \" \"}", 6, "the command is empty"),
        ("properties: [read]\nread: {exec: []}", 6, "empty"),
        ("properties: [read]\nread: {exec: [nonsense]}", 6, "no program \"nonsense\""),
        ("properties: [read]\nread: {}", 6, "needs the key"),
        ("properties: [read]\nread: date", 6, "expected read"),
        ("properties: [read]\nread: {exec: {a: b}}", 6, "a command"),
        ("properties: []\npermissions: {read: closed}", 6, "open, encrypted"),
        ("properties: []\npermissions: {keySize: 6}", 6, "7 to 16"),
        ("properties: [read]\npermissions: {authorize: true}", 6, "there is no user to authorize"),
        ("properties: [read]\npermissions: {keySize: 16}", 6, "without encryption"),
        ("properties: [notify]\npermissions: {subscribe: none}", 6, "so none is not possible"),
        (
            "properties: [notifyEncryptionRequired]\npermissions: {subscribe: open}", 6,
            "a property requires encryption to subscribe"
        ),
        ("properties: [read]\npermissions: {subscribe: encrypted}", 6, "subscribe without a property"),
        (
            "properties: [notify]\ndescriptors: [{uuid: 2902, permissions: {subscribe: open}}]", 6,
            "a descriptor has no subscribers"
        ),
        ("properties: [read]\npermissions: {read: none}", 6, "the permissions forbid"),
        ("properties: [signedWrite]\npermissions: {write: none}", 6, "the permissions forbid"),
        ("properties: []\nhandle: 0x0010", 6, "is taken by the service 180f"),
        ("properties: []\nvalueHandle: 0x0011", 6, "is taken by the characteristic 2a19"),
        ("properties: []\ndescriptors: [{uuid: 2901, handle: 0x0012}]", 6, "is taken by the value of 2a19"),
        ("properties: []\ndescriptors: [{uuid: 2902}]", 6, "needs the property notify or indicate"),
        ("properties: []\ndescriptors: [{uuid: 2803}]", 6, "UUID of a declaration"),
        ("properties: []\ndescriptors:\n- {uuid: 2901}\n- {uuid: 2901}", 8, "only one descriptor 2901"),
        ("properties: [notify]\ndescriptors: [{uuid: 2902, value: {hex: 0100}}]", 6, "begins as 0000"),
        ("properties: [extended]\ndescriptors: [{uuid: 2900, value: {hex: 01}}]", 6, "has 2 octets, not 1"),
        ("properties: []\ndescriptors: [{uuid: 2904}]", 6, "has 7 octets, not 0"),
        ("properties: []\ndescriptors: [{value: x}]", 6, "needs the key \"uuid\""),
    ])
    func characteristicErrorHasPosition(lines: String, line: Int, words: String) throws {
        let file = Self.characteristic(lines)
        let error = try #require(#expect(throws: ConfigurationError.self) { try configuration(file) })
        #expect(error.reason.contains(words), "\(error.reason)")
        #expect(error.position?.line == line, "\(error)")
    }

    @Test func failureNamesFileAndPosition() {
        let failure = Failure(
            ConfigurationError(SourcePosition(line: 3, column: 9), "no", hint: "so"), file: "a.yaml")
        #expect(failure.lines == ["bletool: a.yaml:3:9: no", "hint: so"])
        #expect(failure.kind.status == .badInput)
    }

    @Test func unreadableFileFails() {
        for path in ["/nonexistent/x.yaml", "/", "/dev/null"] {
            let failure = #expect(throws: Failure.self) {
                try ServeConfiguration.load(path, names: someNames)
            }
            #expect(failure?.what == path)
        }
    }

    /// The example with random words removed, doubled, replaced or reversed is accepted, or refused with a
    /// position.
    @Test func mutatedFilesLoadOrFailWithPosition() {
        var random = SplitMix64(seed: 5)
        let words = ServeConfigurationTests.example.split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        for _ in 0..<1500 {
            var mutated = words
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<mutated.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: mutated.remove(at: place)
                case 1: mutated.insert(mutated[place], at: place)
                case 2: mutated[place] = words.randomElement(using: &random) ?? ""
                default: mutated[place] = String(mutated[place].reversed())
                }
            }
            do throws(ConfigurationError) {
                expectDatabase(of: try configuration(mutated.joined(separator: " ")))
            } catch {
                #expect(error.position != nil)
                #expect(!error.reason.isEmpty)
            }
        }
    }
}
