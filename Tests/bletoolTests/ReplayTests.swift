import BLECore
import GATTServer
import HCI
import Recordings
import Testing

@testable import bletool

/// A client that reads a battery level twice. The second response has two fragments.
private let steps: [(Record.Direction, String)] = [
    (.controllerToHost, "043e1301004000000006050403020118000000f40100"),
    (.controllerToHost, "0240200700030004000a0300"), (.hostToController, "0240000600020004000b63"),
    (.controllerToHost, "0240200700030004000a0300"), (.hostToController, "0240000500020004000b"),
    (.hostToController, "024010010063"),
]

private var records: [Record] { recording(of: steps) }

/// Returns the records of a connection that consists of one request and its response.
private func recording(_ request: String, _ response: String) -> [Record] {
    let pdus = [(Record.Direction.controllerToHost, request), (.hostToController, response)].map { step in
        let octets = [UInt8](hex: step.1) ?? []
        let count = UInt8(octets.count)
        return (step.0, ([2, 0x40, 0, count + 4, 0, count, 0, 4, 0] + octets))
    }
    return recording(of: Array(steps.prefix(1)))
        + pdus.enumerated().map { index, step in
            Record(
                time: RecordingTime(microseconds: Int64(index + 1) * 1000), content: .packet(step.0, step.1))
        }
}

private func recording(of steps: [(Record.Direction, String)]) -> [Record] {
    steps.enumerated().map { index, step in
        Record(
            time: RecordingTime(microseconds: Int64(index) * 1000),
            content: .packet(step.0, [UInt8](hex: step.1) ?? []))
    }
}

private func session(_ yaml: String) throws -> RecordedSession {
    let context = ConfigurationContext(
        names: Names.uuid, contents: { _, _ in throw BadInput("no file") }, isProgram: { _ in true })
    return RecordedSession(configuration: try ServeConfiguration(Array(yaml.utf8), context), name: "a.yaml")
}

private func battery(_ value: String) -> String {
    """
    standardServices: false
    services:
      - {uuid: 180f, handle: 1, characteristics: [{uuid: 2a19, properties: [read], \(value)}]}
    """
}

private func dialogue(_ records: [Record]) throws -> RecordedDialogue {
    var dissector = Dissector()
    return try #require(RecordedDialogue.all(in: records.map { dissector.dissect($0) }).first)
}

struct ReplayTests {
    @Test func equalAnswersAreNotDifferences() throws {
        let (replay, differences) = try session(battery("value: {u8: 99}")).play(dialogue(records))
        #expect(replay.answers == 2 && differences.isEmpty)
    }

    @Test func differencesAreReportedAndUpdateRecording() throws {
        let other = try session(battery("value: {hex: \"6464\"}"))
        let (_, differences) = try other.play(dialogue(records))
        let changed = [UInt8](hex: "0b6464") ?? []
        #expect(differences.map(\.frame) == [3, 6])
        #expect(differences.map(\.ours) == [changed, changed])
        let events = ReplayEvent.differences(differences, try dialogue(records), of: records)
        #expect(
            events[0].lines(colored: false) == [
                "frame 3  Read Request handle=0x0003", "- Read Response value=63",
                "+ Read Response value=6464",
            ])
        let updated = RecordingUpdate.records(records, differences)
        // A response of two packets is replaced by one of one packet.
        #expect(updated.count == records.count - 1)
        #expect(try other.play(dialogue(updated)).1.isEmpty)
        #expect(try session(battery("value: {u8: 99}")).play(dialogue(updated)).1.count == 2)
    }

    @Test("an exchange of which a part was not recorded is not compared")
    func cutExchangesAreNotCompared() throws {
        func cut(_ index: Int, to count: Int) -> [Record] {
            var records = records
            guard case .packet(let direction, let octets) = records[index].content else { return records }
            records[index].content = .packet(direction, Array(octets.prefix(count)))
            records[index].missing = octets.count - count
            return records
        }
        let other = try session(battery("value: {hex: \"6464\"}"))
        // Without its request, the first response is not compared; without its response, the request is unanswered.
        for (records, answers, unanswered) in [
            (cut(1, to: 11), 1, 0), (cut(2, to: 10), 1, 1), (cut(3, to: 10), 1, 0), (cut(4, to: 9), 1, 1),
        ] {
            let dialogue = try dialogue(records)
            let (replay, differences) = try other.play(dialogue)
            #expect(replay.answers == answers && differences.count == answers)
            #expect(replay.unanswered == unanswered)
        }
    }

    @Test func onlyBTSnoopFilesCanBeUpdated() throws {
        let pcap: [UInt8] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]
        let writer = RecordingWriter(.h4)
        for (octets, isTaken) in [(pcap, false), (Array("btsnoo".utf8), false), (writer.header, true)] {
            try withTemporaryPath { path in
                try File.replace(path, with: octets)
                let result = Result { try RecordedSession.refuseUpdate(of: path) }
                if case .failure = result { #expect(!isTaken) } else { #expect(isTaken) }
            }
        }
        #expect(throws: Failure.self) { try RecordedSession.refuseUpdate(of: "-") }
    }

    @Test func programValuesAreTreatedAsEqual() throws {
        let program = try session(battery("read: {exec: \"cat level\"}"))
        #expect(try program.play(dialogue(records)).1.isEmpty)
        // The read failed in the recording.
        var failing = records
        failing[2].content = .packet(.hostToController, [UInt8](hex: "024000090005000400010a03000e") ?? [])
        #expect(try program.play(dialogue(failing)).1.isEmpty)
        #expect(try session(battery("value: {u8: 99}")).play(dialogue(failing)).1.count == 1)
        // The configuration requires encryption to run the program. The recorded program ran without it.
        let closed = try session(battery("permissions: {read: encrypted}, read: {exec: \"cat level\"}"))
        #expect(try closed.play(dialogue(failing)).1.count == 2)
        failing[2].content = .packet(.hostToController, [UInt8](hex: "024000090005000400010a030002") ?? [])
        #expect(try program.play(dialogue(failing)).1.count == 1)
    }

    @Test(
        "values of read: and of lines: in notify: count as equal in all responses",
        arguments: [
            // Read, Read Multiple, Read Multiple Variable Length, and Read By Type with one and two values
            ("0a0300", "0b0200"), ("0e03000700", "0f0907"), ("2003000700", "21010009010007"),
            ("080100ffff192a", "09040300010207000304"), ("080100ffff192a", "0903030009"),
        ])
    func providedValuesAreTreatedAsEqual(request: String, response: String) throws {
        let pair = try session(
            """
            standardServices: false
            services:
              - uuid: 180f
                handle: 1
                characteristics:
                  - {uuid: 2a19, properties: [read, notify], notify: {lines: date, format: u8}}
                  - {uuid: 2a19, handle: 6, properties: [read], read: {exec: date}}
            """)
        let dialogue = try dialogue(recording(request, response))
        #expect(try pair.play(dialogue).1.isEmpty)
        #expect(try session(battery("value: {u8: 99}")).play(dialogue).1.count == 1)
    }

    @Test(
        "other values are compared beside those of read:",
        arguments: [
            ("2003000500", "21010009010007", 0), ("2003000500", "21010009010008", 1),
            ("080500ffff192a", "0903050008", 1), ("080100ffff192a", "0108030011", 1),
            ("080100ffff192a", "010805000e", 1), ("080100ffff192a", "010803000e", 0),
        ])
    func otherValuesAreCompared(request: String, response: String, differences: Int) throws {
        let pair = try session(
            """
            standardServices: false
            services:
              - uuid: 180f
                handle: 1
                characteristics:
                  - {uuid: 2a19, properties: [read], read: {exec: date}}
                  - {uuid: 2a19, properties: [read], value: {u8: 7}}
            """)
        #expect(try pair.play(dialogue(recording(request, response))).1.count == differences)
    }

    /// A server sends no notifications to a client that has not subscribed, or of attributes that it does not
    /// have.
    @Test(arguments: ["1b030063", "1b200063", "1d030063"])
    func unexpectedNotificationIsADifference(unsolicited: String) throws {
        let octets = [UInt8](hex: unsolicited) ?? []
        let count = UInt8(octets.count)
        let sent = Record(
            time: RecordingTime(microseconds: 9000),
            content: .packet(.hostToController, [2, 0x40, 0, count + 4, 0, count, 0, 4, 0] + octets))
        let (replay, differences) = try session(battery("value: {u8: 99}")).play(dialogue(records + [sent]))
        #expect(replay.notifications == 1)
        #expect(differences.map(\.frame) == [7])
        #expect(differences.first?.recorded == octets && differences.first?.ours == [])
        let updated = RecordingUpdate.records(records + [sent], differences)
        #expect(updated == records)
    }

    /// Notified values come from the recording, if `notify:` can provide a value of this length.
    @Test(arguments: [
        ("", true), ("notify: {every: 1s, counter: u16}", false),
        ("length: {max: 1}, notify: {lines: date}", true), ("length: {max: 2}, notify: {lines: date}", false),
        ("notify: {every: 1s, counter: u32}", true),
        ("notify: {every: 1s, exec: date}", false), ("notify: {every: 1s, exec: date, format: u8}", false),
        ("notify: {every: 1s, exec: date, format: i32}", true), ("notify: {lines: date}", false),
        ("notify: {lines: date, format: float}", true), ("notify: {file: level}", false),
        ("notify: {file: level, format: u16}", false), ("notify: {file: level, format: f32}", true),
    ])
    func notifiedValuesRequireASource(notify: String, isDifferent: Bool) throws {
        // The client subscribes and receives one value of two octets.
        var records = recording("1204000100", "13")
        let octets = [UInt8](hex: "1b03006300") ?? []
        records.append(
            Record(
                time: RecordingTime(microseconds: 9000),
                content: .packet(.hostToController, [2, 0x40, 0, 9, 0, 5, 0, 4, 0] + octets)))
        let separator = notify.isEmpty ? "" : ", "
        let served = try session(
            """
            standardServices: false
            services:
              - {uuid: 180f, handle: 1, characteristics: [{uuid: 2a19, properties: [notify]\(separator)\(notify)}]}
            """)
        let (replay, differences) = try served.play(dialogue(records))
        #expect(replay.answers == 1 && replay.notifications == 1)
        #expect(differences.map(\.frame) == (isDifferent ? [4] : []))
        #expect(differences.allSatisfy { $0.recorded == octets && $0.ours == [] })
    }
}
