import ATT
import BLECore
import GATTClient
import Testing

@testable import bletool

struct ShellCompletionTests {
    private static let database = RemoteDatabase(services: [
        RemoteService(
            uuid: 0x180f, handle: AttributeHandle(1), endHandle: AttributeHandle(4),
            characteristics: [
                RemoteCharacteristic(
                    uuid: 0x2a19, handle: AttributeHandle(2), valueHandle: AttributeHandle(3),
                    endHandle: AttributeHandle(4), properties: [.read, .notify],
                    descriptors: [RemoteDescriptor(uuid: 0x2902, handle: AttributeHandle(4))])
            ])
    ])

    private let completion = ShellCompletion(
        verbs: ShellVerbs.table, attributes: Self.database.spelledAttributes)

    @Test("the path of a service alone is not found, with its characteristics as a hint")
    func serviceIsNoAttribute() throws {
        let device = DeviceAddress(0xc0_11_22_33_44_55, type: .random)
        let battery = try AttributePath(text: "180f", names: Names.uuid)
        #expect(Self.database.attributes(battery).isEmpty)
        let failure = Self.database.failure(toFind: battery, on: device)
        #expect(failure.message == "180f: is a service, not a characteristic")
        #expect(failure.hint == "its characteristics: 2a19" && failure.kind == .notFound)
        let empty = RemoteService(
            uuid: 0x180f, handle: AttributeHandle(5), endHandle: AttributeHandle(5), characteristics: [])
        let repeated = RemoteDatabase(services: [empty] + Self.database.services)
        #expect(repeated.failure(toFind: battery, on: device).hint == "its characteristics: 2a19")
        let absent = try AttributePath(text: "2a1a", names: Names.uuid)
        #expect(
            Self.database.failure(toFind: absent, on: device).message
                == "2a1a: C0:11:22:33:44:55 has no such attribute")
    }

    @Test(arguments: [
        ("re", "ad "), ("read ", ""), ("read b", "attery_level "), ("read 0x0003", " "), ("read 2", "a19 "),
        ("read 2a19 --f", "ormat "), ("read 2a19 --format u1", "6 "), ("write 2a19 u1", "6:"),
        ("wait n", "otification "),
        ("wait notification 2", "a19 "), ("qu", "it "), ("help su", "bscribe "), ("nothing ", ""),
        ("un", "subscribe "),
        ("read 2a19 --adapt", ""), ("notify 2a19 0x000", "3 "), ("du", "mp "),
    ])
    func tabInsertsCompletion(_ line: String, _ more: String) {
        let (word, candidates) = completion.candidates(before: line)
        #expect(ShellCompletion.insertion(word, candidates) == more)
    }

    @Test func candidatesAreListed() {
        #expect(
            completion.candidates(before: "read ").candidates == [
                "0x0003", "0x0004", "2a19", "battery_level",
            ])
        #expect(completion.candidates(before: "s").candidates == ["sleep", "subscribe"])
        #expect(completion.candidates(before: "subscribe 2a19 -").candidates == ["--indicate"])
    }

    @Test("verbs are completed with the attributes that support them")
    func verbsOfferSupportedAttributes() {
        let candidates = { (line: String) in completion.candidates(before: line).candidates }
        #expect(candidates("subscribe ") == ["0x0003", "2a19", "battery_level"])
        // The battery level cannot be written, but its descriptor can.
        #expect(candidates("write ") == ["0x0004"])
    }

    @Test(
        "write is completed with the last value",
        arguments: [
            ([87], 0x2a19, "u8:87 "), ([1, 2], 0x2a19, "u16:513 "), ([1, 2, 3], 0x2a19, "hex:010203 "),
            (Array("My Lamp".utf8), 0x2a00, "utf8:\"My Lamp\" "), (Array("a\"".utf8), 0x2a00, "u16:8801 "),
        ] as [([UInt8], BluetoothUUID, String)])
    func writeOffersLastValue(_ value: [UInt8], _ uuid: BluetoothUUID, _ argument: String) {
        var completion = completion
        completion.attributes = [.init(spellings: ["x"], handle: 3, uuid: uuid, properties: .write)]
        completion.values = [3: value]
        let type = String(argument.prefix { $0 != ":" })
        let (word, candidates) = completion.candidates(before: "write x \(type)")
        #expect(type + ShellCompletion.insertion(word, candidates) == argument)
        #expect(completion.candidates(before: "write x ").candidates.contains("i8:"))
        #expect(!completion.candidates(before: "write y ").candidates.contains(String(argument.dropLast())))
    }

    @Test func everyScriptVerbIsOffered() {
        #expect(Set(ScriptStep.names).isSubset(of: completion.verbs.keys))
        #expect(ShellVerbs.help(nil).contains { $0.hasPrefix("  dump ") })
        #expect(ShellVerbs.help(nil).allSatisfy { $0.columns <= 80 })
        #expect(ShellVerbs.help("dump").contains { $0.hasPrefix("USAGE: bletool gatt <device> dump") })
        #expect(!completion.verbs.keys.contains("shell"))
        #expect(completion.verbs["write"]?.contains("--without-response") == true)
    }
}
