import Foundation
import ProgramTesting
import Testing

/// The two sides of the tour, and the state that is restored after a restart.
@Suite(.timeLimit(.minutes(10))) struct TourTests {
    private let air: TemporaryAir

    init() async throws { air = try await TemporaryAir() }

    private func start(_ words: String...) throws -> RunningProgram {
        try RunningProgram(["tour"] + words, in: air.folder)
    }

    @Test func tourPrintsExpectedLines() async throws {
        let peripheral = try start("virtual:peripheral", "peripheral")
        let onAir = await peripheral.line()
        #expect(onAir == "on air: 7 and 12 octets, name scanResponse 12, name shortened 20")
        try Self.otherPeripheral.write(
            to: air.folder.appending(path: "other.yaml"), atomically: true, encoding: .utf8)
        let serve = ["bletool", "serve", "other.yaml", "--adapter", "virtual:other"]
        let other = try RunningProgram(serve, in: air.folder)
        let central = try start("virtual:central", "central", "state", "2")
        for line in Self.central { #expect(await central.line() == line) }
        #expect(central.status() == 0)
        for line in Self.peripheral { #expect(await peripheral.line() == line) }
        for program in [peripheral, other] { program.end(by: SIGKILL) }
    }

    @Test func bondedDevicesRecognizeEachOtherAtAnyAddress() async throws {
        let first = try start("virtual:hiding", "hiding", "peripheral")
        #expect(await first.line()?.hasSuffix(", broadcasting: false") == true)
        let central = try start("virtual:recognizing", "recognizing", "central")
        for line in Self.recognizing { #expect(await central.line() == line) }
        #expect(central.status() == 0)
        // The bond is reported when it is on the disk, which may be after the subscription.
        var lines: Set<String?> = []
        for _ in 1...3 { lines.insert(await first.line()) }
        #expect(lines == ["a central is bonded", "a central is subscribed", "broadcasting: true"])
        first.end(by: SIGKILL)
        let second = try start("virtual:hiding", "hiding", "peripheral")
        #expect(await second.line()?.hasSuffix(", broadcasting: true") == true)
        let again = try start("virtual:recognizing", "recognizing", "central")
        #expect(await again.line() == "recognized by the bond")
        #expect(await again.line() == "still subscribed: true")
        #expect(again.status() == 0)
        #expect(await second.line() == "a central is subscribed")
        second.end(by: SIGKILL)
    }

    @Test func writtenValueSurvivesPeripheralRestart() async throws {
        let first = try start("virtual:returning", "returning", "state")
        #expect(await first.line() == "came back: 0 on air, setting ")
        let write = ["gatt", "name:Returning", "write", "fff9", "6b657074", "--adapter", "virtual:central"]
        #expect(try RunningProgram(["bletool"] + write, in: air.folder).status() == 0)
        #expect(await first.line() == "setting kept")
        first.end(by: SIGKILL)
        let second = try start("virtual:returning", "returning", "state")
        #expect(await second.line() == "came back: 1 on air, setting kept")
        let read = ["gatt", "name:Returning", "read", "fff9", "--adapter", "virtual:central", "--json"]
        let value = try RunningProgram(["bletool"] + read, in: air.folder)
        #expect(await value.line { $0.contains("6b657074") } != nil)
        second.end(by: SIGKILL)
    }

    @Test func scanIsRestoredAfterCentralRestart() async throws {
        let peripheral = try start("virtual:peripheral", "peripheral")
        #expect(await peripheral.line()?.hasPrefix("on air: ") == true)
        // The first run starts two scans. The second run restores both, and ends one of them.
        for scans in [0, 2, 1] {
            let central = try start("virtual:listener", "listening", "state")
            #expect(await central.line() == "came back: \(scans) scans, 0 devices")
            #expect(await central.line() == "receives Grand tour")
            central.end(by: SIGKILL)
        }
        peripheral.end(by: SIGKILL)
    }

    private static let recognizing = [
        "found one whose identifier is lasting: false",
        "found one with another identifier, which is lasting: false",
        "bonded: true; its identifier is lasting: true",
        "alarm: fire",
        #"broadcast by the bonded device: true, ["21"]"#,
    ]

    /// The device that the chain finds in addition to the peripheral of the tour.
    private static let otherPeripheral = """
        name: Grander
        services:
          - uuid: 180f
            characteristics: [{uuid: 2a19, properties: [read], value: {u8: 90}}]
        """

    private static let central = [
        "found Grand tour with [fff0], connectable",
        "its identifier is lasting: true, public or static: true",
        "its overflow area has the bit of fff0: true",
        "a second connect has joined the first, and is connected without it",
        "events: connected, disconnected",
        "suspended: of 4 events one came, disconnected; the next is connected",
        "a connect without limit: connecting, cancelled, disconnected",
        "a connect with a limit: no link, failed",
        #"retrieved by identifier: ["connected"]"#,
        "connected: 1 with fff0, 0 with fffa",
        "linked by this process: true",
        "known from before: 1",
        "signal strength: -127 to 20 dBm, or unknown: true",
        "longest write: 512 octets, without response the MTU less 3: true",
        "services: [180f, fff0]",
        "included in fff0: [180f]",
        "characteristics of fff0: [fff1, fff2, fff3, fff4, fff5, fff6, fff7, fff8, fffd]",
        "descriptor of fff2: it is called Answers",
        "descriptor of fff2: it is text",
        "descriptor of fff2: no client has subscribed",
        "descriptor of fff4: it is written reliably",
        "heart rate: 72 a minute",
        "battery: 80 %",
        "made by Examples, model Tour",
        "greet: welcome",
        "slower: latency 2",
        "faster: latency 0",
        "a flood came whole",
        "without response: full true, then ready true, all counted true",
        "slow: worth waiting for",
        "left and right are written",
        "guests after add: 1",
        "guests after remove: 0",
        "no alarm without pairing: true",
        "alarm by notification: fire; the link is encrypted",
        "alarm by indication: fire; the link is encrypted",
        "signed: by me; the link is open",
        "chain: battery 80 % by scan, connect, read",
        "each: [80, 90] %",
        "chain to an absent device: scan failed, as channel absent reports",
        "states: poweredOn, poweredOff; the adapter was closed",
    ]

    private static let peripheral = [
        "heart rate: room for 512 octets",
        "greet: welcome",
        "slower: latency 2",
        "faster: latency 0",
        "flood: full, then ready",
        "slow: asked from octet 0, in packets of 517 octets",
        "slow: answered later",
        "together: fff4 [1], fff5 [2]",
        "add: a guest came",
        "remove: the guest left",
        "alarm: notifications for a link that is encrypted",
        "alarm: indications for a link that is encrypted",
        "signed: by me by a link that is open",
    ]
}
