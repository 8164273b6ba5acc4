import ATT
import BLECore
import HCI
import Recordings
import TestSupport
import Testing

/// Returns the packets of a conversation, decoded. Each has one ATT PDU, its direction, and a time 1 ms after
/// the one before.
private func packets(_ pdus: [(Record.Direction, String)], handle: String = "40") -> [DecodedPacket] {
    var dissector = Dissector()
    return pdus.enumerated().map { index, pdu in
        let frame = octets(pdu.1)
        let flags: UInt8 = pdu.0 == .hostToController ? 0 : 0x20
        let data: [UInt8] =
            [2] + octets(handle) + [flags, UInt8(frame.count + 4), 0, UInt8(frame.count), 0, 4, 0] + frame
        let time = RecordingTime(microseconds: Int64(index) * 1000)
        return dissector.dissect(Record(time: time, content: .packet(pdu.0, data)))
    }
}

struct ConversationTests {
    @Test func discoveryIdentifiesAttributes() {
        let packets = packets([
            (.hostToController, "10 0100 ffff 0028"), (.controllerToHost, "11 06 0100 0900 0f18"),
            (.hostToController, "08 0100 0900 0328"), (.controllerToHost, "09 07 0200 12 0300 192a"),
            (.hostToController, "04 0400 0900"), (.controllerToHost, "05 01 0400 0229"),
            (.hostToController, "12 0400 0100"), (.controllerToHost, "13"),
            (.controllerToHost, "1b 0300 63"), (.hostToController, "0a 0300"),
            (.controllerToHost, "0b 63"), (.hostToController, "0a 2000"),
            (.controllerToHost, "01 0a 2000 01"),
            // A request of the peer refers to the attributes of the host.
            (.controllerToHost, "0a 0300"),
        ])
        let battery = DecodedAttribute(handle: 3, uuid: 0x2a19, service: 0x180f)
        let configuration = DecodedAttribute(
            handle: 4, uuid: 0x2902, characteristic: 0x2a19, service: 0x180f)
        #expect(
            packets.map(\.attribute) == [
                nil, nil, nil, nil, nil, nil, configuration, configuration, battery, battery, battery,
                DecodedAttribute(handle: 0x20), DecodedAttribute(handle: 0x20), DecodedAttribute(handle: 3),
            ])
        #expect(
            packets.map { $0.request?.frame } == [
                nil, 1, nil, 3, nil, 5, nil, 7, nil, nil, 10, nil, 12, nil,
            ])
        #expect(
            packets[1].request
                == AnsweredRequest(frame: 1, latency: 1000, name: "Read By Group Type Request"))
        #expect(packets[12].failure == "Read Request: Invalid Handle (0x01)")
        let values = packets[3].top.fields["values"]
        #expect(
            values
                == .list([
                    .fields([
                        "handle": .number(2), "value": .text("120300192a"),
                        "properties": .list([.text("read"), .text("notify")]), "valueHandle": .number(3),
                        "uuid": .text("2a19"),
                    ])
                ]))
    }

    @Test func confirmationAndDiscoveryErrorMatchRequests() {
        let packets = packets([
            (.controllerToHost, "1d 0300 63"), (.hostToController, "1e"),
            (.hostToController, "10 0100 ffff 0028"), (.controllerToHost, "01 10 0100 0a"),
        ])
        #expect(
            packets[1].request == AnsweredRequest(frame: 1, latency: 1000, name: "Handle Value Indication"))
        #expect(packets[3].attribute == nil)
        #expect(packets[3].request?.frame == 3)
    }

    @Test func eventsAreMatchedToTheirCommands() {
        var dissector = Dissector()
        let all: [(Record.Direction, String)] = [
            (.hostToController, "01 030c00"), (.hostToController, "01 0d2000"),
            (.controllerToHost, "04 0e04 01030c00"), (.controllerToHost, "04 0f04 0c010d20"),
        ]
        let packets = all.enumerated().map { index, item in
            dissector.dissect(
                Record(
                    time: RecordingTime(microseconds: Int64(index) * 10),
                    content: .packet(item.0, octets(item.1))))
        }
        #expect(packets.map { $0.request?.frame } == [nil, nil, 1, 2])
        #expect(packets.map { $0.request?.latency } == [nil, nil, 20, 20])
        #expect(packets[3].failure == "LE Create Connection: Command Disallowed (0x0c)")
        #expect(packets.map(\.frame) == [1, 2, 3, 4])
    }

    /// Two adapters receive the same command at once, and the second one answers first.
    @Test func answersAreMatchedPerAdapter() {
        var dissector = Dissector()
        let steps: [(UInt16, Record.Direction, String)] = [
            (0, .hostToController, "01 030c00"), (1, .hostToController, "01 030c00"),
            (1, .controllerToHost, "04 0e04 01030c00"), (0, .controllerToHost, "04 0f04 0001030c"),
        ]
        let packets = steps.enumerated().map { index, step in
            let time = RecordingTime(microseconds: Int64(index) * 10)
            return dissector.dissect(
                Record(time: time, adapter: step.0, content: .packet(step.1, octets(step.2))))
        }
        #expect(packets.map { $0.request?.frame } == [nil, nil, 2, 1])
        #expect(packets.map { $0.request?.latency } == [nil, nil, 10, 30])
    }

    /// The types of a peer's attributes are known again on its next connection.
    @Test func attributesAreKeptAcrossConnections() {
        var dissector = Dissector()
        let connected = "04 3e13 01 00 4000 00 00 060504030201 1800 0000 f401 00"
        let steps: [(Record.Direction, String)] = [
            (.controllerToHost, connected),
            (.hostToController, "02 4000 0900 0500 0400 04 0300 0300"),
            (.controllerToHost, "02 4020 0a00 0600 0400 05 01 0300 002a"),
            (.controllerToHost, "04 0504 00400013"), (.controllerToHost, connected),
            (.hostToController, "02 4000 0700 0300 0400 0a 0300"),
        ]
        let packets = steps.map { step in
            dissector.dissect(
                Record(time: RecordingTime(microseconds: 0), content: .packet(step.0, octets(step.1))))
        }
        #expect(packets[3].connection == ConnectionHandle(0x40))
        #expect(packets[3].peer != nil)
        #expect(packets[5].attribute?.uuid == 0x2a00)
    }

    @Test func monitorNotesAreDecoded() throws {
        func note(_ opcode: MonitorOpcode, _ hex: String) -> DecodedLayer {
            var dissector = Dissector()
            let record = Record(
                time: RecordingTime(microseconds: 0), adapter: 1, content: .note(opcode, octets(hex)))
            return dissector.dissect(record).top
        }
        let new = note(.newIndex, "01 02 060504030201 68636930 00000000")
        #expect(new.layer == .monitor)
        #expect(
            new.fields == [
                "type": .number(1), "bus": .number(2), "address": .text("01:02:03:04:05:06/public"),
                "name": .text("hci0"),
            ])
        let command = note(.controlCommand, "02000000 0500 01")
        #expect(command.layer == .mgmt && command.name == "Set Powered")
        #expect(command.fields == ["socket": .number(2), "opcode": .number(5), "powered": .bool(true)])
        let event = note(.controlEvent, "02000000 0100 0500 00 01000000")
        #expect(event.name == "Command Complete")
        #expect(event.fields["command"] == .text("Set Powered"))
        #expect(event.fields["status"] == .text("success"))
        #expect(event.fields["settings"] == .list([.text("powered")]))
        #expect(note(.controlCommand, "02000000 5a00").name == "Cancel Transmit Mesh Packet")
        #expect(note(.controlCommand, "02000000 5b00").name == "0x005b")
        #expect(note(.controlEvent, "02000000 3200").name == "Mesh Packet Transmit Complete")
        let open = note(.controlOpen, "09000000 0200 01 1600 01000000 04 62740000")
        #expect(open.fields["version"] == .text("1.22"))
        #expect(open.fields["program"] == .text("bt"))
        #expect(note(.userLogging, "06 03 626c00 6869 00").fields["text"] == .text("hi"))
        let cut = note(.newIndex, "01")
        #expect(cut.problem == "New Index: bus at octet 1 needs 1 octet, 0 left")
        #expect(note(.closeIndex, "").fields == [:])
    }
}

/// With 600 peers, the attributes of the latest one are kept.
@Test func latestPeerAttributesAreKeptAmongManyPeers() {
    var dissector = Dissector()
    var last: DecodedPacket?
    for peer in 0..<600 as Range<UInt16> {
        let connected: [UInt8] =
            [4, 0x3e, 0x13, 1, 0, 0x40, 0, 0, 0, UInt8(peer & 0xff), UInt8(peer >> 8), 3, 4, 5, 6]
            + [0x18, 0, 0, 0, 0xf4, 1, 0]
        let steps: [(Record.Direction, [UInt8])] = [
            (.controllerToHost, connected),
            (.hostToController, octets("02 4000 0900 0500 0400 04 0300 0300")),
            (.controllerToHost, octets("02 4020 0a00 0600 0400 05 01 0300 002a")),
            (.hostToController, octets("02 4000 0700 0300 0400 0a 0300")),
        ]
        for (direction, bytes) in steps {
            last = dissector.dissect(
                Record(time: RecordingTime(microseconds: 0), content: .packet(direction, bytes)))
        }
        #expect(last?.attribute?.uuid == 0x2a00)
    }
}
