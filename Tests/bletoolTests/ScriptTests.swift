import ATT
import BLE
import BLECore
import Testing

@testable import bletool

/// Lines of `gatt run`.
struct ScriptTests {
    @Test(arguments: [
        ("read 2a19", ["read", "2a19"]), ("  read\t2a19  # the level", ["read", "2a19"]), ("", []),
        ("# read 2a19", []), ("read \"Battery Level\"", ["read", "Battery Level"]),
        ("write 2a00 'utf8:it is #1'", ["write", "2a00", "utf8:it is #1"]),
        (#"write 2a00 utf8:a\ b"#, ["write", "2a00", "utf8:a b"]),
        (#"write 2a00 "utf8:a\"b""#, ["write", "2a00", "utf8:a\"b"]),
        (#"write 2a00 'utf8:a\b'"#, ["write", "2a00", #"utf8:a\b"#]),
        ("write 2a00 \"\"", ["write", "2a00", ""]),
        ("read a#b", ["read", "a#b"]),
    ])
    func linesAreSplitAsInShell(_ line: String, _ words: [String]) throws {
        #expect(try ScriptWords.split(line) == words)
    }

    @Test(arguments: [("read \"2a19", "a \" is not closed"), ("read 2a19\\", "a backslash ends the line")])
    func unterminatedWordsAreRefused(_ line: String, _ reason: String) {
        #expect(throws: BadInput(reason)) { try ScriptWords.split(line) }
    }

    @Test func verbsParseTheirOptions() throws {
        guard case .verb(let verb)? = try ScriptStep("read 2a19 --offset 2", json: true),
            let read = verb as? GATTReadCommand
        else {
            Issue.record("that is to read")
            return
        }
        #expect(read.attribute == "2a19")
        #expect(read.offset == "2")
        #expect(read.global.output.json)
        #expect(try ScriptStep("   # nothing", json: true) == nil)
    }

    @Test func scriptOnlyStepsAreParsed() throws {
        guard case .subscribe(let subscribe)? = try ScriptStep("subscribe 2a37 --indicate", json: false),
            case .unsubscribe(let attribute)? = try ScriptStep("unsubscribe 0x0012", json: false),
            case .sleep(let duration)? = try ScriptStep("sleep 1.5s", json: false),
            case .wait(let wait)? = try ScriptStep("wait indication 2a1c --within 2s", json: false)
        else {
            Issue.record("those are steps")
            return
        }
        #expect(subscribe.attribute == "2a37" && subscribe.indicate)
        #expect(attribute == "0x0012")
        #expect(duration == .milliseconds(1500))
        #expect(wait.awaited == .indication && wait.attribute == "2a1c")
        #expect(try wait.limit() == .seconds(2))
    }

    @Test(arguments: [
        ("reed 2a19", #""reed" is not a verb; did you mean "read"?"#),
        ("run other.txt", #""run" is not a verb"#),
        ("read", "Missing expected argument '<attr>'"),
        ("read 2a19 --mtu 23", "--mtu: is an option of the link or the radio"),
        ("read 2a19 --json", "--json: is an option of the link or the radio"),
        ("read 2a19 --format raw", "--format raw: is not for scripts"),
        ("notify 2a19 --format=raw", "--format raw: is not for scripts"),
        ("read 2a19 --to -", "--to -: is not for scripts"),
        ("write 2a19 zz", #"value: "zz" is not hex: "z" is no digit"#),
        ("write 2a19 utf9:x", #"value: "utf9" is not a format"#),
        ("sleep long", #"sleep: "long" is not a duration"#),
        ("wait rain", "The value 'rain' is invalid for '<awaited>'"),
        ("wait disconnection 2a19", "2a19: cannot follow disconnection"),
        ("wait notification --within 0s", "--within: the time must be greater than zero"),
        ("subscribe nonsense", "attribute: "),
    ])
    func invalidLinesAreRefused(_ line: String, _ message: String) {
        let failure = #expect(throws: Failure.self) { try ScriptStep(line, json: true) }
        #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    }

    @Test func waitTakesOldestMatchingArrival() async throws {
        let arrivals = Arrivals()
        arrivals.add(.init(handle: 1, isIndication: false))
        arrivals.add(.init(handle: 2, isIndication: false))
        try await arrivals.take { $0.handle == 2 }
        try await arrivals.take { _ in true }
        async let third: Void = arrivals.take { $0.handle == 3 }
        arrivals.add(.init(handle: 4, isIndication: false))
        arrivals.add(.init(handle: 3, isIndication: true))
        try await third
        arrivals.end(.disconnected(.unknown))
        // An arrival from before the end can still be taken.
        try await arrivals.take { $0.handle == 4 }
        await #expect(throws: BLEError.disconnected(.unknown)) { try await arrivals.take { _ in true } }
    }

    @Test func waitCanBeCancelled() async {
        let arrivals = Arrivals()
        let waiting = Task { try await arrivals.take { _ in true } }
        waiting.cancel()
        await #expect(throws: BLEError.cancelled) { try await waiting.value }
    }
}
