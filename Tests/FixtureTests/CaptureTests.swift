import HCI
import Recordings
import Testing

/// Recordings of real phones and devices, outside the package. The tests are skipped if they are missing.
@Suite(.enabled(if: RecordedFile.Folder.captures.isThere))
struct CaptureTests {
    @Test(arguments: RecordedFile.Folder.captures.files, [1000, 65_536])
    func everyRecordRoundTrips(file: RecordedFile, size: Int) throws {
        try RecordingChecks.everyRecordIsWrittenAsItWas(file, chunks: size)
    }

    @Test(arguments: RecordedFile.Folder.captures.files)
    func everyLayerRoundTrips(file: RecordedFile) throws {
        try RecordingChecks.everyLayerEncodesAsItWas(file)
    }

    @Test(arguments: RecordedFile.Folder.captures.files)
    func everyReturnedValueRoundTrips(file: RecordedFile) throws {
        try RecordingChecks.everyReturnedValueEncodesAsItWas(file)
    }

    @Test func treadmillCaptureMatchesReadme() throws {
        let packets = try RecordedFile.capture("horizon74at_ftms").packets
        #expect(packets.count == 2572)
        let reports = packets.map(\.top).filter { $0.name == "LE Advertising Report" }
        #expect(reports.count == 412)
        let advertisers = Set(
            reports.compactMap { layer -> FieldValue? in
                guard case .list(let reports)? = layer.fields["reports"],
                    case .fields(let report)? = reports.first
                else { return nil }
                return report["address"]
            })
        #expect(advertisers.count == 36)
        let names = Self.attNames(packets)
        #expect(names.values.reduce(0, +) == 1659)
        #expect(names["Write Request"] == 261)
        #expect(names["Handle Value Notification"] == 1047)
        #expect(packets.filter { $0.connection != nil }.allSatisfy { $0.peer != nil })
    }

    @Test func robotCaptureMatchesReadme() throws {
        let packets = try RecordedFile.capture("pongbot").packets
        #expect(packets.count == 1741)
        // The README counts ATT PDUs together with the ten packets of LE signaling.
        #expect(packets.compactMap(\.inner.last).count == 397)
        let names = Self.attNames(packets)
        #expect(names.values.reduce(0, +) == 387)
        for name in [
            "Exchange MTU Request", "Find By Type Value Response", "Prepare Write Response",
            "Execute Write Response", "Handle Value Indication", "Handle Value Confirmation",
        ] {
            #expect(names[name, default: 0] > 0, "\(name)")
        }
        #expect(packets.contains { $0.top.name == "Connection Parameter Update Request" })
        // ACL packets without inner layers are fragments before the last one of a frame. Events about a
        // connection have no inner layers either.
        #expect(packets.filter { $0.outer.name == "ACL Data" && $0.inner.isEmpty }.count == 5)
    }

    @Test func startUpCaptureMatchesReadme() throws {
        let packets = try RecordedFile.capture("btsnoop-extcap").packets
        #expect(packets.count == 222)
        #expect(packets.first?.top.name == "Reset")
        #expect(packets.map(\.top).filter { $0.name == "LE Extended Advertising Report" }.count == 12)
        let commands = packets.filter { $0.direction == .hostToController }.count
        #expect(commands == 105)
        #expect(packets.map(\.top).filter { $0.name == "Command Complete" }.count == commands)
    }

    private static func attNames(_ packets: [DecodedPacket]) -> [String: Int] {
        packets.map(\.top).filter { $0.layer == .att }.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }
}
