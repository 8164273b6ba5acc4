import ATT
import BLECore
import HCI
import Recordings
import SMP
import TestSupport
import Testing

private func record(_ hex: String, _ direction: Record.Direction = .controllerToHost) -> Record {
    Record(time: RecordingTime(microseconds: 0), content: .packet(direction, octets(hex)))
}

/// Returns the fields in one line: `handle=3 value=0102`.
private func line(_ fields: DecodedFields) -> String {
    fields.all.map { "\($0.name)=\(text($0.value))" }.joined(separator: " ")
}

private func text(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let number): "\(number)"
    case .text(let text): text
    case .list(let values): "[" + values.map(text).joined(separator: ", ") + "]"
    case .fields(let fields): "{" + line(fields) + "}"
    case .described(let value, _): text(value)
    }
}

/// HCI packets with their names and fields.
private let hci: [(hex: String, name: String, fields: String)] = [
    ("01 030c00", "Reset", ""),
    ("01 0c2002 0100", "LE Set Scan Enable", "enable=true filterDuplicates=false"),
    ("01 052006 0504030201c1", "LE Set Random Address", "address=C1:01:02:03:04:05/random"),
    ("01 01fc03 010203", "0xfc01", "parameters=010203"),
    ("04 0e04 01030c00", "Command Complete", "credits=1 opcode=Reset status=Success (0x00)"),
    (
        "04 0e0a 010910000605040302c1", "Command Complete",
        "credits=1 opcode=Read BD_ADDR status=Success (0x00) address=C1:02:03:04:05:06/public"
    ),
    (
        "04 0e06 0101fc000102", "Command Complete",
        "credits=1 opcode=0xfc01 status=Success (0x00) parameters=0102"
    ),
    (
        "04 0f04 12010d20", "Command Status",
        "status=Invalid HCI Command Parameters (0x12) credits=1 opcode=LE Create Connection"
    ),
    (
        "04 0504 00400013", "Disconnection Complete",
        "status=Success (0x00) connection=64 reason=Remote User Terminated Connection (0x13)"
    ),
    ("04 1305 0140000200", "Number Of Completed Packets", "completed=[{connection=64 count=2}]"),
    (
        "04 3e0f 0201 0000 060504030201 03 020106 c8", "LE Advertising Report",
        "reports=[{type=0 address=01:02:03:04:05:06/public data=020106 rssi=-56 advertising={flags=6}}]"
    ),
    ("04 3e02 7f01", "0x7f", "parameters=7f01"),
    ("04 ff02 abcd", "Vendor", "parameters=abcd"),
    ("02 4020 0300 010203", "ACL Data", "connection=64 boundary=firstFlushable octets=3"),
    ("03 4000 02 0102", "Synchronous Data", "connection=64 data=0102"),
    ("05 4000 0200 0102", "ISO Data", "connection=64 boundary=first data=0102"),
    (
        "05 6060 0a00 78563412 0500 0280 aabb", "ISO Data",
        "connection=96 boundary=complete timeStamp=305419896 sequence=5 sduLength=2 status=2 data=aabb"
    ),
    ("01 010c08 ffffffffffffff3f", "Set Event Mask", "mask=0x3fffffffffffffff"),
    (
        "04 0e0c 01182000 0807060504030201", "Command Complete",
        "credits=1 opcode=LE Rand status=Success (0x00) value=0x0102030405060708"
    ),
    ("04 0f04 00010000", "Command Status", "status=Success (0x00) credits=1 opcode=NOP"),
    ("01 57fd02 0102", "Android LE Advertising Packet Content Filter", "parameters=0102"),
]

@Test(arguments: hci.indices)
func hciPacketsAreDecoded(index: Int) throws {
    let (layer, _) = DecodedLayer.hci(octets(hci[index].hex))
    #expect(layer.layer == .hci)
    #expect(layer.name == hci[index].name)
    #expect(line(layer.fields) == hci[index].fields)
    #expect(layer.problem == nil)
    #expect(layer.message?.encoded == layer.bytes)
}

/// ATT PDUs with their fields.
private let att: [(hex: String, fields: String)] = [
    ("01 10 5d00 0a", "request=Read By Group Type Request handle=93 error=Attribute Not Found (0x0a)"),
    ("02 0502", "mtu=517"), ("03 1700", "mtu=23"),
    ("04 0100 ffff", "handle=1 endHandle=65535"),
    ("05 01 0100 0028", "attributes=[{handle=1 uuid=2800}]"),
    ("06 0100 ffff 0028 0d18", "handle=1 endHandle=65535 type=2800 value=0d18"),
    ("07 0100 0300", "groups=[{handle=1 endHandle=3}]"),
    ("08 0100 ffff 0328", "handle=1 endHandle=65535 type=2803"),
    ("09 03 0300 07 0500 08", "values=[{handle=3 value=07}, {handle=5 value=08}]"),
    ("0a 0300", "handle=3"), ("0b 0102", "value=0102"),
    ("0c 0300 1600", "handle=3 offset=22"), ("0d", "value="),
    ("0e 0300 0500", "handles=[3, 5]"), ("0f 01", "value=01"),
    ("10 0100 ffff 0028", "handle=1 endHandle=65535 type=2800"),
    ("11 06 0100 0300 0d18", "groups=[{handle=1 endHandle=3 value=0d18 uuid=180d}]"),
    ("12 0300 01", "handle=3 value=01"), ("13", ""),
    ("16 0300 1200 01", "handle=3 offset=18 value=01"), ("17 0300 1200 01", "handle=3 offset=18 value=01"),
    ("18 01", "flags=write"), ("19", ""),
    ("1b 0300 01", "handle=3 value=01"), ("1d 0300 01", "handle=3 value=01"), ("1e", ""),
    ("20 0300 0500", "handles=[3, 5]"),
    ("21 0100 07 0000", "values=[{length=1 value=07}, {length=0 value=}]"),
    ("23 0300 0100 07 0500 0000", "values=[{handle=3 value=07}, {handle=5 value=}]"),
    ("52 0300 01", "handle=3 value=01"),
    ("d2 0300 01 0a000000 0807060504030201", "handle=3 value=01 counter=10 mac=0102030405060708"),
]

@Test(arguments: att.indices)
func attPDUsAreDecoded(index: Int) throws {
    let layer = DecodedLayer.att(octets(att[index].hex))
    #expect(layer.layer == .att)
    #expect(layer.name == ATTOpcode(layer.bytes[0]).name)
    #expect(line(layer.fields) == att[index].fields)
    #expect(layer.problem == nil)
    #expect(layer.message?.encoded == layer.bytes)
}

/// SMP and signaling packets, each in a complete frame, with their names and fields.
private let frames: [(hex: String, layer: DecodedLayer.Layer, name: String, fields: String)] = [
    (
        "0700 0600 01 03 00 0d 10 01 02", .smp, "Pairing Request",
        "ioCapability=NoInputNoOutput oobData=false authentication={bonding=true mitm=true"
            + " secureConnections=true keypress=false ct2=false} maximumKeySize=16"
            + " initiatorKeys={encryption=true identity=false signing=false link=false}"
            + " responderKeys={encryption=false identity=true signing=false link=false}"
    ),
    (
        "1100 0600 03 000102030405060708090a0b0c0d0e0f", .smp, "Pairing Confirm",
        "confirm=0f0e0d0c0b0a09080706050403020100"
    ),
    ("0200 0600 05 05", .smp, "Pairing Failed", "reason=Pairing Not Supported"),
    ("0b00 0600 07 0100 0807060504030201", .smp, "Central Identification", "ediv=1 random=0102030405060708"),
    (
        "0800 0600 09 01 0605040302c1", .smp, "Identity Address Information",
        "address=C1:02:03:04:05:06/random"
    ),
    ("0200 0600 0e 04", .smp, "Pairing Keypress Notification", "type=4"),
    (
        "0c00 0500 12 07 0800 0600 0c00 0000 f401", .signaling, "Connection Parameter Update Request",
        "identifier=7 intervalMin=6 intervalMax=12 latency=0 supervisionTimeout=500"
    ),
    (
        "0600 0500 13 07 0200 0100", .signaling, "Connection Parameter Update Response",
        "identifier=7 result=1"
    ),
    ("0500 0500 7f 01 0100 aa", .signaling, "0x7f", "identifier=1 data=aa"),
    ("0200 4000 abcd", .l2cap, "L2CAP frame", "channel=0x0040 octets=2 data=abcd"),
]

@Test(arguments: frames.indices)
func framesAreSplitIntoLayers(index: Int) throws {
    let layers = DecodedLayer.l2cap(octets(frames[index].hex))
    let top = try #require(layers.last)
    #expect(layers.first?.layer == .l2cap)
    #expect(top.layer == frames[index].layer)
    #expect(top.name == frames[index].name)
    #expect(line(top.fields) == frames[index].fields)
    for layer in layers {
        #expect(layer.problem == nil)
        #expect(layer.message?.encoded == layer.bytes)
    }
}

@Test func malformedPacketsAreReportedWithProblem() {
    let malformed: [(DecodedLayer, String, String)] = [
        (DecodedLayer.hci([]).layer, "no packet", "HCI packet: type at octet 0 needs 1 octet, 0 left"),
        (
            DecodedLayer.hci([9]).layer, "packet type 0x09",
            "HCI packet: type at octet 0 has the invalid value 0x9"
        ),
        (
            DecodedLayer.hci(octets("04 0504 004000")).layer, "HCI Event",
            "HCI packet: Event_Parameters at octet 3 needs 4 octets, 3 left"
        ),
        (
            DecodedLayer.hci(octets("01 0c2001 01")).layer, "LE Set Scan Enable",
            "LE Set Scan Enable: Filter_Duplicates at octet 1 needs 1 octet, 0 left"
        ),
        (DecodedLayer.att([]), "empty PDU", "ATT PDU: opcode at octet 0 needs 1 octet, 0 left"),
        (
            DecodedLayer.att([0x0a, 3]), "Read Request",
            "Read Request: attribute handle at octet 1 needs 2 octets, 1 left"
        ),
        (DecodedLayer.att([0x77]), "opcode 0x77", "ATT PDU: opcode at octet 0 has the invalid value 0x77"),
        (DecodedLayer.smp([0x0f]), "0x0f", "SMP packet: code at octet 0 has the invalid value 0xf"),
        (
            DecodedLayer.signaling([0x13, 1, 0, 0]), "Connection Parameter Update Response",
            "Connection Parameter Update Response: Result at octet 0 needs 2 octets, 0 left"
        ),
        (
            DecodedLayer.l2cap([1, 0, 4, 0])[0], "L2CAP frame",
            "L2CAP frame: Information payload at octet 4 needs 1 octet, 0 left"
        ),
    ]
    for (layer, name, problem) in malformed {
        #expect(layer.name == name)
        #expect(layer.problem == problem)
        #expect(layer.message == nil)
    }
}

private let connected = "04 3e13 01 00 4000 00 00 060504030201 1800 0000 f401 00"

@Test func fragmentsAreReassembledWithPeer() {
    var dissector = Dissector()
    #expect(dissector.dissect(record(connected)).top.name == "LE Connection Complete")
    let first = dissector.dissect(record("02 4020 0600 0700 0400 1b03"))
    #expect(first.layers.map(\.layer) == [.hci])
    #expect(first.connection == ConnectionHandle(0x0040))
    #expect(first.peer == DeviceAddress(0x0102_0304_0506, type: .public))
    // The other direction has fragments of its own.
    let between = dissector.dissect(record("02 4000 0700 0300 0400 120300", .hostToController))
    #expect(between.top.name == "Write Request")
    let last = dissector.dissect(record("02 4010 0500 0001020304"))
    #expect(last.layers.map(\.layer) == [.hci, .l2cap, .att])
    #expect(last.top.bytes == octets("1b0300 01020304"))
    #expect(line(last.top.fields) == "handle=3 value=01020304")
    // After the disconnection, a continuation has no start, and the peer is unknown.
    _ = dissector.dissect(record("02 4020 0600 0700 0400 1b03"))
    _ = dissector.dissect(record("04 0504 00400013"))
    let stray = dissector.dissect(record("02 4010 0500 0001020304"))
    #expect(stray.layers.map(\.layer) == [.hci])
    #expect(stray.peer == nil)
    #expect(stray.top.problem == "a continuation of 5 octets without a start")
}

@Test func notesAndTruncatedPacketsAreDecoded() {
    var dissector = Dissector()
    let note = dissector.dissect(
        Record(time: RecordingTime(microseconds: 0), adapter: 2, content: .note(.systemNote, [0x41])))
    #expect(note.top.layer == .monitor && note.top.name == "System Note" && note.top.bytes == [0x41])
    #expect(note.direction == nil && note.adapter == 2)
    var cut = record("02 4020 0600 0700")
    cut.missing = 4
    let part = dissector.dissect(cut)
    #expect(part.missing == 4 && part.top.problem == nil)
    #expect(line(part.top.fields) == "connection=64 boundary=firstFlushable octets=2")
}

/// For any octets, there is no trap, every layer has a name, and every layer has either a message or a
/// problem.
@Test func randomBytesAreDissectedWithoutTrap() {
    var random = SplitMix64(seed: 99)
    var dissector = Dissector()
    for _ in 0..<20_000 {
        var bytes = random.bytes(upTo: 40)
        if bytes.count > 4 {
            bytes[0] = [1, 2, 4, 4][Int(random.next() % 4)]
            if bytes[0] == 1 { bytes[3] = UInt8(bytes.count - 4) }
            if bytes[0] == 4 {
                (bytes[1], bytes[2]) = (
                    [0x3e, 0x0e, bytes[1]][Int(random.next() % 3)], UInt8(bytes.count - 3)
                )
            }
            if bytes[0] == 2, bytes.count > 9 {
                (bytes[2], bytes[3], bytes[4]) = (0x20, UInt8(bytes.count - 5), 0)
                (bytes[5], bytes[6]) = (UInt8(bytes.count - 9), 0)
                (bytes[7], bytes[8]) = (4 + bytes[7] % 3, 0)
            }
        }
        let packet = dissector.dissect(
            Record(time: RecordingTime(microseconds: 0), content: .packet(.controllerToHost, bytes)))
        for layer in packet.layers {
            #expect(!layer.name.isEmpty)
            let isVendor = layer.name == "Vendor Log" || layer.name == "Vendor Diagnostics"
            #expect((layer.message == nil) == (layer.problem != nil || isVendor))
            guard let again = layer.message?.encoded else { continue }
            if layer.layer == .hci {
                // The reserved bits of connection handles are not kept, but all fields are.
                let (hci, _) = DecodedLayer.hci(again)
                #expect(hci.name == layer.name && hci.fields == layer.fields, "\(layer.bytes.hex)")
            } else {
                #expect(again == layer.bytes)
            }
        }
    }
}
