import BLECore
import HCI
import Recordings
import TestSupport
import Testing

/// Returns a pcap file of H4 packets without directions, one packet per microsecond.
private func pcap(_ packets: [[UInt8]]) -> [UInt8] {
    var file = words(0xa1b2_c3d4) + [2, 0, 4, 0] + words(0, 0, 0xffff, 187)
    for (index, packet) in packets.enumerated() {
        file += words(0, index, packet.count, packet.count) + packet
    }
    return file
}

private func dissected(_ packets: [String]) throws -> [DecodedPacket] {
    var dissector = Dissector()
    return try items(pcap(packets.map { octets($0) })).compactMap { item in
        if case .record(let record) = item { dissector.dissect(record) } else { nil }
    }
}

struct GuessedDirectionTests {
    @Test func continuationFollowsStartedFrame() throws {
        let packets = try dissected([
            "02 4000 0600 0700 0400 1203", "02 4010 0500 0001020304",
            "02 4020 0600 0700 0400 1b03", "02 4010 0500 0001020304",
            // No frame has begun on the other connection.
            "02 4110 0500 0001020304",
        ])
        let (host, controller) = (Record.Direction.hostToController, Record.Direction.controllerToHost)
        #expect(packets.map(\.direction) == [host, host, controller, controller, controller])
        #expect(packets.dropLast().allSatisfy { $0.outer.problem == nil })
        #expect(packets.map(\.top.name)[1] == "Write Request")
        #expect(packets.map(\.top.name)[3] == "Handle Value Notification")
        #expect(packets[4].outer.problem == "a continuation of 5 octets without a start")
    }

    /// If both sides have begun a frame, a continuation that is too long for one belongs to the other.
    /// Otherwise, it has the direction of the data packet before it.
    @Test func ambiguousContinuationIsAssignedByLengthAndOrder() throws {
        let packets = try dissected([
            "02 4000 0600 0700 0400 1203", "02 4020 0600 0400 0400 1b03",
            "02 4010 0500 0001020304", "02 4010 0200 0063",
            "02 4020 0600 0700 0400 1b03", "02 4000 0600 0700 0400 1203",
            "02 4010 0500 0001020304", "02 4010 0500 0001020304",
        ])
        let (host, controller) = (Record.Direction.hostToController, Record.Direction.controllerToHost)
        #expect(
            packets.map(\.direction) == [
                host, controller, host, controller, controller, host, host, controller,
            ])
        #expect(packets.allSatisfy { $0.outer.problem == nil })
    }

    /// A direction in the file is used even if it cannot be right.
    @Test func recordedDirectionIsNotGuessed() {
        var dissector = Dissector()
        let steps: [(Record.Direction, String)] = [
            (.hostToController, "02 4000 0600 0700 0400 1203"),
            (.controllerToHost, "02 4010 0500 0001020304"),
        ]
        let packets = steps.map { direction, hex in
            dissector.dissect(
                Record(
                    time: RecordingTime(microseconds: 0), content: .packet(direction, octets(hex))))
        }
        #expect(packets[1].direction == .controllerToHost)
        #expect(packets[1].outer.problem == "a continuation of 5 octets without a start")
    }
}
