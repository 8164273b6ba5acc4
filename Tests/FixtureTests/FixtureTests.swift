import BLEAdvertising
import BLECore
import HCI
import Recordings
import Testing

/// The recordings of the project.
struct FixtureTests {
    @Test(arguments: FixtureContents.all, [1000, 65_536])
    func everyRecordRoundTrips(fixture: FixtureContents, size: Int) throws {
        try RecordingChecks.everyRecordIsWrittenAsItWas(fixture.file, chunks: size)
    }

    @Test(arguments: FixtureContents.all)
    func everyLayerRoundTrips(fixture: FixtureContents) throws {
        try RecordingChecks.everyLayerEncodesAsItWas(fixture.file)
    }

    @Test(arguments: FixtureContents.all)
    func everyReturnedValueRoundTrips(fixture: FixtureContents) throws {
        try RecordingChecks.everyReturnedValueEncodesAsItWas(fixture.file)
    }

    @Test(arguments: FixtureContents.all)
    func fixtureContainsExpectedMessages(fixture: FixtureContents) throws {
        let packets = try fixture.file.packets
        #expect(packets.count == fixture.records)
        let counts = packets.reduce(into: [:]) { $0[$1.top.name, default: 0] += 1 }
        for (name, count) in fixture.messages { #expect(counts[name] == count, "\(name)") }
        #expect(names(advertisedIn: packets) == fixture.names)
        #expect(packets.allSatisfy { $0.connection == nil || $0.peer != nil })
    }

    @Test func everyFixtureIsSmallAndListed() throws {
        let files = RecordedFile.Folder.fixtures.files
        #expect(Set(files) == Set(FixtureContents.all.map(\.file)))
        for file in files { #expect(try file.bytes.count < 30_000, "\(file.name)") }
    }

    /// Returns the names of the advertisers.
    private func names(advertisedIn packets: [DecodedPacket]) -> Set<String> {
        var names: Set<String> = []
        for packet in packets {
            guard case .event(let event)? = packet.outer.message as? HCIPacket, event.code == .leMeta else {
                continue
            }
            try? AdvertisingReport.forEach(in: event.parameters.span) { report in
                if let name = AdvertisingData(report.data).localName { names.insert(name.text) }
            }
        }
        return names
    }
}
