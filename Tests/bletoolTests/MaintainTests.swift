import BLE
import BLECore
import GATTServer
import HCI
import Testing

@testable import bletool

/// The output of `maintain`, and the environment of its program.
struct MaintainEventTests {
    private static let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
    private static let time = Timestamp.now
    private static let lost = DisconnectReason.status(.connectionTimeout)

    @Test func maintainEventsHaveJSON() {
        let events: [(MaintenanceEvent, String)] = [
            (
                .connected(session: 1, LinkSecurity(level: .authenticated, isBonded: true)),
                #"{"event":"connected","address":"C1:02:03:04:05:06","addressType":"random","session":1,"#
                    + #""level":"high","keySize":16,"bonded":true,"time":"\#(Self.time)"}"#
            ),
            (
                .disconnected(session: 1, Self.lost, pause: .milliseconds(500)),
                #"{"event":"disconnected","address":"C1:02:03:04:05:06","addressType":"random","session":1,"#
                    + #""reason":8,"reasonText":"\#(Self.lost)","pause":500,"time":"\#(Self.time)"}"#
            ),
            (
                .failed(.busy(Self.lamp), pause: .seconds(2)),
                #"{"event":"failed","address":"C1:02:03:04:05:06","addressType":"random","#
                    + #""message":"\#(BLEError.busy(Self.lamp))","pause":2000,"time":"\#(Self.time)"}"#
            ),
        ]
        for (what, text) in events {
            #expect("\(MaintainEvent(device: Self.lamp, what: what, time: Self.time).json)" == text)
        }
    }

    @Test func connectedEventShowsSecurity() {
        let bonded = LinkSecurity(level: .authenticated, keySize: 7, isBonded: true)
        let secure = MaintainEvent(device: Self.lamp, what: .connected(session: 2, bonded))
        #expect(
            secure.lines(colored: false) == [
                "C1:02:03:04:05:06 connected  link 2  high  key of 7 octets  bonded"
            ])
        #expect(secure.environment?["BLETOOL_SECURITY"] == "high")
        let open = MaintainEvent(device: Self.lamp, what: .connected(session: 2, .none))
        #expect(open.lines(colored: false) == ["C1:02:03:04:05:06 connected  link 2"])
        #expect(open.environment?["BLETOOL_SECURITY"] == "low")
    }

    @Test func eventEnvironmentDescribesDisconnection() {
        let ended = MaintainEvent(
            device: Self.lamp, what: .disconnected(session: 3, Self.lost, pause: .zero))
        #expect(
            ended.environment == [
                "BLETOOL_EVENT": "disconnected", "BLETOOL_SESSION": "3", "BLETOOL_REASON": "\(Self.lost)",
                "BLETOOL_ADDRESS": "C1:02:03:04:05:06", "BLETOOL_ADDRESS_TYPE": "random",
            ])
        let failed = MaintainEvent(device: Self.lamp, what: .failed(.cancelled, pause: .zero))
        #expect(failed.environment == nil)
    }

    @Test func programInheritsAndExtendsEnvironment() async throws {
        // The time limit is longer than usual, because a shell can take seconds to start while other tests
        // run.
        let printed = try await ProgramRunner(timeLimit: .seconds(600)).run(
            .shell("echo $BLETOOL_EVENT; test -n \"$PATH\""), environment: ["BLETOOL_EVENT": "connected"])
        #expect(String(decoding: printed, as: UTF8.self) == "connected")
    }

    @Test("a time limit without any link is reported", .timeLimit(.minutes(10)))
    func timeLimitWithoutLinkIsReported() async throws {
        let (status, output) = try await Shell().run(
            "bletool maintain name:Nope --adapter virtual --timeout 500ms")
        #expect(status == 2)
        #expect(output == "bletool: maintain: no link was established in 500ms\n")
    }

    @Test(
        "a time limit counts only links that ended before it", .timeLimit(.minutes(10)))
    func timeLimitReportsEndedLinks() async throws {
        let (status, output) = try await Shell().run(
            """
            bletool advertise --adapter virtual:lamp --name Lamp >advertise & peer=$!
            bletool maintain name:Lamp --adapter virtual:phone --count 1 --timeout 3s 2>&1; status=$?
            kill $peer
            exit $status
            """)
        #expect(status == 2)
        #expect(output.contains("bletool: maintain: 0 of 1 links ended in 3s"), "\(output)")
    }
}
