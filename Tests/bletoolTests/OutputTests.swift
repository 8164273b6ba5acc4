import BLECore
import Glibc
import HCISocket
import Testing

@testable import bletool

struct JSONTests {
    @Test(
        arguments: [
            ("null", .null), ("true", true), ("[]", []), ("{}", .object([])),
            ("-0.50e+3", .number("-0.50e+3")),
            (#"{"b":1,"a":[null,"x"]}"#, ["b": 1, "a": [nil, "x"]]),
            (#""\"\\\n\r\t\u0000\u001f\u007f\u2028é😀""#, "\"\\\n\r\t\u{0}\u{1f}\u{7f}\u{2028}é😀"),
        ] as [(String, JSONValue)])
    func jsonRoundTrips(text: String, value: JSONValue) throws {
        #expect(value.description == text)
        #expect(try JSONValue(text: text) == value)
    }

    @Test(arguments: [
        (#" [ 1 , 2 ] "#, "[1,2]"), (#""\/\b\f\u00e9""#, #""/\u0008\u000cé""#), (#""\ud83d\ude00""#, #""😀""#),
        (#""\ud83d""#, #""\#u{fffd}""#), (#""\ud83dx""#, #""\#u{fffd}x""#),
        (#""\ude00\ud83d\u0041""#, #""\#u{fffd}\#u{fffd}A""#),
        (#"{"a":1,"a":2}"#, #"{"a":1,"a":2}"#),
    ])
    func jsonIsNormalized(text: String, written: String) throws {
        #expect(try JSONValue(text: text).description == written)
    }

    @Test(arguments: [
        "", " ", "nul", "truefalse", "[", "[1", "[1,]", "[1 2]", "{", "{a:1}", #"{"a"}"#, #"{"a":}"#,
        #"{"a":1,}"#, #"""#,
        "\"\n\"", #""\x""#, #""\u12""#, #""\u+123""#, "01", "1.", ".5", "-", "1e", "+1", "NaN", "1 2", "'a'",
        String(repeating: "[", count: 100_000),
    ])
    func invalidJSONIsRefused(text: String) { #expect(throws: BadInput.self) { try JSONValue(text: text) } }

    @Test func stringsRoundTrip() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<2000 {
            let text = String(decoding: random.bytes(upTo: 40), as: UTF8.self)
            let written = JSONValue(text).description
            #expect(!written.unicodeScalars.contains { $0.value < 0x20 })
            #expect(try JSONValue(text: written) == .string(text))
        }
    }

    @Test func numbersAreFormatted() {
        #expect(JSONValue(30.0).description == "30")
        #expect(JSONValue(11.25).description == "11.25")
        #expect(JSONValue(Double.nan) == .null)
        #expect(JSONValue(Int?.none) == .null)
        #expect(JSONValue(UInt64.max).description == "18446744073709551615")
        #expect(JSONValue(number: "+INF").description == #""+INF""#)
    }
}

struct FailureTests {
    @Test func failureHasTextAndJSON() {
        let failure = Failure(.att, "read 2a19", "Read Not Permitted\n(0x02)", hint: "try\nagain", number: 2)
        #expect(failure.lines == ["bletool: read 2a19: Read Not Permitted (0x02)", "hint: try again"])
        #expect(
            failure.json.description == """
                {"event":"error","kind":"att","message":"read 2a19: Read Not Permitted (0x02)","code":5,"number":2,\
                "hint":"try again"}
                """)
    }

    @Test func failureOfConfigurationHasLine() {
        let error = ConfigurationError(SourcePosition(line: 12, column: 9), "unknown key")
        #expect(
            Failure(error, file: "lamp.yaml").json.description == """
                {"event":"error","kind":"input","message":"lamp.yaml:12:9: unknown key","code":1,"line":12}
                """)
        #expect(Failure(ConfigurationError(nil, "empty"), file: "lamp.yaml").line == nil)
    }

    @Test func failureEscapesControlCharacters() {
        #expect(
            Failure(.notFound, "name:\u{1b}[2J", "not there").lines == [
                #"bletool: name:\u{1b}[2J: not there"#
            ])
    }

    @Test func exitCodesMatchContract() {
        let codes = Failure.Kind.allCases.map { "\($0) \($0.status.rawValue)" }
        #expect(
            codes == [
                "usage 1", "input 1", "notFound 2", "timeout 2", "adapter 3", "permission 4", "att 5",
                "security 6",
                "linkLost 7", "peer 7",
            ])
    }
}

struct ConsoleTests {
    @Test(
        arguments: [
            (ColorPolicy.auto, true, [:], true), (.auto, false, [:], false),
            (.auto, true, ["NO_COLOR": "1"], false),
            (.auto, true, ["NO_COLOR": ""], true), (.auto, true, ["TERM": "dumb"], false),
            (.always, false, ["NO_COLOR": "1"], true), (.never, true, [:], false),
        ] as [(ColorPolicy, Bool, [String: String], Bool)])
    func policySetsColor(policy: ColorPolicy, terminal: Bool, environment: [String: String], colored: Bool) {
        #expect(policy.allows(terminal: terminal) { environment[$0] } == colored)
    }

    @Test func tableColumnsAreAligned() {
        let table = Table(
            columns: [("name", .left), ("octets", .right), ("in", .left)],
            rows: [["a", "10", "x"], ["long", "1", ""]])
        #expect(table.lines(colored: false) == ["name  octets  in", "a         10  x", "long       1"])
    }

    @Test func concurrentLinesAreNotInterleaved() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        // Room for all lines, so that no writer has to wait for the reader below.
        let makeRoom: Int32 = 1031  // F_SETPIPE_SZ
        try #require(fcntl(writeEnd, makeRoom, 1 << 19) >= 1 << 19)
        let writer = LineWriter(writeEnd)
        let long = String(repeating: "x", count: 20_000)
        await withTaskGroup { group in
            for index in 0..<20 { group.addTask { writer.line("\(index) \(long)") } }
            for await written in group { #expect(written) }
        }
        close(writeEnd)
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(readEnd, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
        close(readEnd)
        let lines = String(decoding: all, as: UTF8.self).split(separator: "\n")
        #expect(Set(lines) == Set((0..<20).map { Substring("\($0) \(long)") }))
    }

    @Test func closedReaderFailsWrites() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        let writer = LineWriter(ends[1])
        #expect(!writer.line("a"))
        #expect(!writer.line("b"))
        #expect(writer.error == EPIPE)
        close(ends[1])
    }

    @Test("readerHasGone returns when the reader closes, without a write, and not before")
    func readerHasGoneReturnsWhenReaderCloses() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let gone = Lock(false)
        let waiting = Task {
            await LineWriter(writeEnd).readerHasGone()
            gone.withLock { $0 = true }
        }
        #expect(LineWriter(writeEnd).line("a"))
        var octets: [UInt8] = [0, 0]
        #expect(read(readEnd, &octets, 2) == 2)
        #expect(!gone.withLock { $0 })
        close(readEnd)
        await waiting.value
        #expect(gone.withLock { $0 })
        close(writeEnd)

        // A file has no reader that can close, so only the cancellation of the task ends the wait.
        let file = open("/dev/null", O_WRONLY | O_CLOEXEC)
        try #require(file >= 0)
        let forever = Task { await LineWriter(file).readerHasGone() }
        forever.cancel()
        await forever.value
        close(file)
    }
}
