import ArgumentParser
import BLECore
import HCI
import Recordings
import TestSupport
import Testing

@testable import bletool

/// A connection, the discovery of a battery level, a read that is refused, and a truncated command. The
/// packets are a millisecond apart.
private let steps: [(Record.Direction, String)] = [
    (.controllerToHost, "043e130100400000000605040302011800000 0f40100"),
    (.hostToController, "0240000b000700040008 0100ffff0328"),
    (.controllerToHost, "0240200d00 09000400 0907 0200020300192a"),
    (.hostToController, "0240000700 03000400 0a0300"),
    (.controllerToHost, "0240200900 05000400 010a030002"),
    (.hostToController, "01030c"),
]

private let records = steps.enumerated().map { index, step in
    Record(
        time: RecordingTime(microseconds: 1_795_000_000_000_000 + Int64(index) * 1000),
        content: .packet(step.0, octets(step.1)))
}

private var packets: [DecodedPacket] {
    var dissector = Dissector()
    return records.map { dissector.dissect($0) }
}

/// The lines of all packets except the first.
private let lines = """
         2     0.001000 → 0040 att Read By Type Request handle=0x0001 endHandle=0xffff type=2803
         3     0.002000 ← 0040 att Read By Type Response values=[{handle=0x0002 value=020300192a \
    properties=[read] valueHandle=0x0003 uuid=2a19}] (1.000 ms after 2)
         4     0.003000 → 0040 att Read Request Battery Level handle=0x0003
         5     0.004000 ← 0040 att Error Response Battery Level request=Read Request handle=0x0003 \
    error=Read Not Permitted (0x02) (1.000 ms after 4)
         6     0.005000 → hci HCI Command problem: HCI packet: Parameter_Total_Length at octet 3 needs 1 \
    octet, 0 left

    """

/// The JSON objects of the last two packets.
private let objects = #"""
    {"frame":5,"time":"2026-11-18T11:06:40.004000Z","direction":"controller→host","layer":"att",\#
    "name":"Error Response","fields":{"request":"Read Request","handle":3,\#
    "error":"Read Not Permitted (0x02)"},"bytes":"010a030002","problem":null,"adapter":0,\#
    "connection":64,"peer":"01:02:03:04:05:06","addressType":"public","attribute":\#
    {"handle":3,"uuid":"2a19","name":"Battery Level","characteristic":null,"service":null},\#
    "request":4,"latency":1}
    {"frame":6,"time":"2026-11-18T11:06:40.005000Z","direction":"host→controller","layer":"hci",\#
    "name":"HCI Command","fields":{},"bytes":"01030c","problem":"HCI packet: Parameter_Total_Length \#
    at octet 3 needs 1 octet, 0 left","adapter":0}

    """#

struct DecodeTests {
    @Test func linesDescribePackets() {
        var printer = PacketText(isColored: false)
        var text = ""
        for packet in packets.dropFirst() {
            printer.appendLine(packet, since: records[0].time, to: &text)
        }
        #expect(text == lines)
    }

    @Test("a value that is known is shown as `gatt notify` shows it, and flags by name")
    func readingsAreShown() {
        var dissector = Dissector()
        let level = (Record.Direction.controllerToHost, "0240200800 04000400 1b 0300 57")
        let report = (
            Record.Direction.controllerToHost, "043e0f0201030106050403020103020106c8"
        )
        let packets = (steps.prefix(3) + [level, report]).map { step in
            dissector.dissect(
                Record(time: RecordingTime(microseconds: 0), content: .packet(step.0, octets(step.1))))
        }
        var printer = PacketText(isColored: false)
        var (line, tree, flags) = ("", "", "")
        printer.appendLine(packets[3], since: RecordingTime(microseconds: 0), to: &line)
        printer.appendTree(packets[3], to: &tree)
        printer.appendTree(packets[4], to: &flags)
        #expect(line.hasSuffix("Handle Value Notification Battery Level handle=0x0003 value=57 (87 %)\n"))
        #expect(tree.contains("\n  reading: 87 %\n"))
        #expect(flags.contains("flags: 0x06 (LE General Discoverable Mode, BR/EDR Not Supported)\n"))
    }

    /// The text has units and names for readers. The JSON object has the numbers of the packet for programs.
    @Test func textHasUnitsAndJSONRawNumbers() {
        var printer = PacketText(isColored: false)
        var (line, tree, object) = ("", "", "")
        printer.appendLine(packets[0], since: records[0].time, to: &line)
        printer.appendTree(packets[0], to: &tree)
        #expect(line.contains(" interval=30 ms latency=0 supervisionTimeout=5 s "))
        #expect(tree.contains("\n    interval: 30 ms\n"))
        var json = PacketJSON(showsLayers: false)
        json.appendLine(packets[0], to: &object)
        #expect(object.contains(#""interval":24,"latency":0,"supervisionTimeout":500,"#))
    }

    @Test func linesCanHaveAbsoluteTime() {
        var printer = PacketText(isColored: false, time: .absolute)
        var text = ""
        printer.appendLine(packets[3], since: records[0].time, to: &text)
        #expect(
            text == """
                     4 2026-11-18T11:06:40.003000Z → 0040 att Read Request Battery Level handle=0x0003

                """)
    }

    @Test(
        arguments: [
            (["a", "--stats", "--svg", "b"], "--stats", "--svg"),
            (["a", "--tree", "--stats"], "--tree", "--stats"),
            (["a", "--tree", "--svg", "b"], "--tree", "--svg"),
            (["a", "--write", "b", "--svg", "c"], "--svg", "--write"),
            (["a", "--write", "b", "--stats"], "--stats", "--write"),
            (["a", "--write", "b", "-v"], "--tree", "--write"),
            (["a", "--time", "absolute", "--stats"], "--time", "--stats"),
            (["a", "--time", "relative", "--json"], "--time", "--json"),
        ]
            + [
                ["--svg", "b"], ["--write", "b"], ["--follow"], ["--layer", "att"], ["--errors"],
            ].map { (["--hex", "020106", "--as", "adv"] + $0, $0[0], "--hex") })
    func inapplicableOptionsAreRefused(arguments: [String], option: String, form: String) async throws {
        let command = try DecodeCommand.parse(arguments)
        var message: String?
        do throws(Failure) {
            try await command.perform(Console(isJSON: arguments.contains("--json")))
        } catch {
            message = error.message
        }
        #expect(message == "\(option): does not apply to \(form)")
    }

    @Test func jsonObjectsMatchContract() throws {
        var printer = PacketJSON(showsLayers: false)
        var text = ""
        for packet in packets.dropFirst(4) { printer.appendLine(packet, to: &text) }
        #expect(text == objects)
        var deep = PacketJSON(showsLayers: true)
        var object = ""
        deep.appendLine(packets[3], to: &object)
        let layers = try JSONValue(text: String(object.dropLast()))
        #expect(object.contains(#""layers":[{"layer":"hci","name":"ACL Data""#))
        #expect(layers.description + "\n" == object)
    }

    @Test func treeShowsAllLayersAndOctets() {
        var text = ""
        PacketText(isColored: false).appendTree(packets[4], to: &text)
        #expect(
            text == """
                Frame 5  2026-11-18T11:06:40.004000Z  controller→host  hci0  peer 01:02:03:04:05:06/public
                  hci ACL Data
                    connection: 0x0040
                    boundary: firstFlushable
                    octets: 9
                  l2cap L2CAP frame
                    channel: ATT
                    octets: 5
                  att Error Response
                    request: Read Request
                    handle: 0x0003
                    error: Read Not Permitted (0x02)
                  attribute 0x0003: Battery Level
                  answers Read Request, 1.000 ms after 4
                  0000  02 40 20 09 00 05 00 04 00 01 0a 03 00 02        .@ ...........

                """)
    }

    @Test(
        arguments: [
            ([], [1, 2, 3, 4, 5, 6]), (["--layer", "att"], [2, 3, 4, 5]), (["-l", "att,smp"], [2, 3, 4, 5]),
            (["--layer", "l2cap", "--sent"], [2, 4]), (["--received"], [1, 3, 5]),
            (["--name", "read by*"], [2, 3]), (["--name", "error*", "--name", "LE *"], [1, 5]),
            (["--connection", "0x40"], [1, 2, 3, 4, 5]), (["--connection", "0x41"], []),
            (["--address", "01:02:03:04:05:06"], [1, 2, 3, 4, 5]),
            (["--address", "01:02:03:04:05:07/public"], []),
            (["--handle", "3"], [4, 5]), (["--uuid", "battery_level"], [4, 5]), (["--uuid", "2a1a"], []),
            (["--opcode", "0x0a"], [4]), (["--opcode", "0x3e"], [1]), (["--opcode", "1"], [1, 5]),
            (["--errors"], [5, 6]),
            (["--frames", "2-3"], [2, 3]), (["--frames", "5-"], [5, 6]), (["--frames=-2"], [1, 2]),
            (["--frames", "4"], [4]),
            (["--since", "3ms"], [4, 5, 6]), (["--until", "1ms"], [1, 2]),
            (["--since", "2026-11-18T11:06:40.002Z", "--until", "2026-11-18T11:06:40.003Z"], [3, 4]),
        ] as [([String], [Int])])
    func filtersSelectPackets(arguments: [String], frames: [Int]) throws {
        let filter = try FilterOptions.parse(arguments).filter()
        let chosen = packets.filter { filter.matches($0, start: records[0].time) }
        #expect(chosen.map(\.frame) == frames)
    }

    @Test(arguments: [
        ["--layer", "at"], ["--connection", "x"], ["--address", "1"], ["--handle", "0x10000"],
        ["--uuid", "?"], ["--frames", "3-2"], ["--frames", "-"], ["--frames", "a"], ["--since", "noon"],
        ["--opcode", ""],
    ])
    func invalidFiltersAreRefused(arguments: [String]) throws {
        let options = try FilterOptions.parse(arguments)
        #expect(throws: Failure.self) { try options.filter() }
    }

    @Test(
        arguments: [
            (.adv, "020106", "adv", nil),
            (
                .adv, "0301", "adv",
                "Advertising Data: AD structure at octet 0 needs 3 octets, 1 left"
            ),
            (.att, "0a0300", "att", nil),
            (.att, "0a03", "att", "Read Request: attribute handle at octet 1 needs 2 octets, 1 left"),
            (.smp, "0b00", "smp", nil), (.l2cap, "0300040002f700", "l2cap", nil),
            (.l2cap, "03000400020000ff", "l2cap", "L2CAP frame: end at octet 7: 1 octet too many"),
            (.hci, "01030c00", "hci", nil),
        ] as [(DecodeCommand.Form, String, String, String?)])
    func hexInputIsDecoded(form: DecodeCommand.Form, hex: String, layer: String, problem: String?) throws {
        let layers = form.layers([UInt8](hex: hex) ?? [])
        let object = PacketJSON.object(layers).description
        #expect(object.hasPrefix(#"{"frame":null,"time":null,"direction":null,"layer":"\#(layer)","#))
        #expect(object.contains(#""bytes":"\#(hex)""#))
        #expect(layers.compactMap(\.problem).first == problem)
    }

    @Test func timesHaveMicrosecondPrecision() {
        var clock = RecordingClock()
        #expect(clock.text(RecordingTime(microseconds: -1)) == "1969-12-31T23:59:59.999999Z")
        #expect(clock.text(RecordingTime(microseconds: 1)) == "1970-01-01T00:00:00.000001Z")
        #expect(clock.text(RecordingTime(microseconds: 999_999)) == "1970-01-01T00:00:00.999999Z")
        #expect(clock.text(RecordingTime(microseconds: 1_000_000)) == "1970-01-01T00:00:01.000000Z")
        // A damaged record can have any time.
        for time in [Int64.min, .min + 1, .max] {
            #expect(clock.text(RecordingTime(microseconds: time)).hasSuffix("Z"))
        }
    }
}
