import AssignedNumbers
import BLECore
import Testing

@testable import bletool

/// The names that are known in these tests.
let someNames: UUIDNames = { name, kind in
    if name == "Current Time" { return kind == .characteristic ? 0x2a2b : 0x1805 }
    return ["Battery Service": 0x180f, "battery_level": 0x2a19, "On/Off": 0x2a9e][name]
}

struct DeviceSelectorTests {
    @Test(
        arguments: [
            ("AA:bb:CC:DD:EE:01", .untyped(0xaabb_ccdd_ee01)),
            ("AA:BB:CC:DD:EE:01/public", .address(DeviceAddress(0xaabb_ccdd_ee01, type: .public))),
            ("C0:BB:CC:DD:EE:01/random", .address(DeviceAddress(0xc0bb_ccdd_ee01, type: .random))),
            ("name:Thermo*", .name("Thermo*")), ("name:AA:BB:CC:DD:EE:01", .name("AA:BB:CC:DD:EE:01")),
        ] as [(String, DeviceSelector)])
    func selectorsRoundTrip(text: String, device: DeviceSelector) throws {
        #expect(try DeviceSelector(text: text) == device)
        #expect(try DeviceSelector(text: device.description) == device)
    }

    @Test(arguments: [
        "", "name:", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:01/rpa", "AA-BB-CC-DD-EE-01", "Thermo",
        "AA:BB:CC:DD:EE:01/",
    ])
    func invalidSelectorsAreRefused(text: String) {
        #expect(throws: BadInput.self) { try DeviceSelector(text: text) }
    }
}

struct AttributePathTests {
    @Test(arguments: ["18", "3", "2a1"])
    func handleWithoutPrefixHasHint(_ text: String) throws {
        let problem = try #require(
            #expect(throws: BadInput.self) { try AttributePath(text: text, names: someNames) })
        #expect(problem.hint == "a handle begins with 0x, as in 0x0012")
    }

    @Test(
        arguments: [
            ("2a19", .uuids(service: nil, characteristic: 0x2a19, descriptor: nil)),
            ("180f/2a19", .uuids(service: 0x180f, characteristic: 0x2a19, descriptor: nil)),
            (
                "Battery Service/battery_level/2902",
                .uuids(service: 0x180f, characteristic: 0x2a19, descriptor: 0x2902)
            ),
            ("On/Off", .uuids(service: nil, characteristic: 0x2a9e, descriptor: nil)),
            ("0x0012", .handle(0x0012)),
            ("Current Time", .uuids(service: nil, characteristic: 0x2a2b, descriptor: nil)),
            ("Current Time/Current Time", .uuids(service: 0x1805, characteristic: 0x2a2b, descriptor: nil)),
            ("0x12", .handle(0x0012)), ("0xFFFF", .handle(0xffff)),
            (
                "12345678-1234-5678-1234-567812345678",
                .uuids(
                    service: nil, characteristic: BluetoothUUID(0x12345678_1234_5678_1234_567812345678),
                    descriptor: nil)
            ),
        ] as [(String, AttributePath)])
    func pathsRoundTrip(text: String, path: AttributePath) throws {
        #expect(try AttributePath(text: text, names: someNames) == path)
        #expect(try AttributePath(text: path.description, names: someNames) == path)
    }

    @Test(arguments: [
        "", "0x0000", "0x10000", "0x", "180f/", "/2a19", "180f/2a19/2902/1", "nonsense", "2a1",
        "180f/nonsense",
    ])
    func invalidPathsAreRefused(text: String) {
        #expect(throws: BadInput.self) { try AttributePath(text: text, names: someNames) }
    }
}

struct TextTests {
    @Test(arguments: [
        ("Lamp", "Lamp"), ("a\nb", #"a\u{a}b"#), ("\u{1b}[2J", #"\u{1b}[2J"#), ("a\u{202e}b", #"a\u{202e}b"#),
        ("a\u{2028}b", #"a\u{2028}b"#), ("👩‍🔬 Zoë", "👩‍🔬 Zoë"), ("\u{9b}1m", #"\u{9b}1m"#),
    ])
    func controlCharactersAreEscaped(text: String, shown: String) { #expect(text.printable == shown) }

    @Test(arguments: [
        ("propertes", "properties"), ("Handel", "handle"), ("serivces", "services"), ("uid", "uuid"),
        ("xyzzy", nil), ("", nil),
    ])
    func nearestWordIsSuggested(word: String, nearest: String?) {
        #expect(["uuid", "handle", "services", "properties"].nearest(to: word) == nearest)
    }

    @Test func wordsAreJoinedAsList() {
        #expect([String]().joined(lastBy: "or") == "")
        #expect(["a"].joined(lastBy: "or") == "a")
        #expect(["a", "b", "c"].joined(lastBy: "or") == "a, b or c")
    }
}
