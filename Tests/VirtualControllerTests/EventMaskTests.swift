import BLECore
import HCI
import Testing
import VirtualController

@Suite struct EventMaskTests {
    @Test func leEventsAreMaskedByDefault() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.air.add())
        bench.perform(LESetRandomAddress(address: bench.address(scanner)), on: scanner)
        bench.advertise(on: advertiser)
        bench.scan(on: scanner)
        bench.run(for: .seconds(1))
        #expect(bench.packets(scanner).isEmpty)
        bench.perform(SetEventMask(mask: [.leMeta]), on: scanner)
        bench.run(for: .seconds(1))
        #expect(!bench.reports(scanner).isEmpty, "the LE mask lets reports pass from the beginning")
        bench.perform(LESetEventMask(mask: [.connectionComplete]), on: scanner)
        bench.run(for: .seconds(1))
        #expect(bench.packets(scanner).isEmpty)
        bench.perform(SetEventMaskPage2(mask: HCIEventMaskPage2(rawValue: 0)), on: scanner)
    }

    @Test func enhancedConnectionCompleteReplacesPlainEvent() {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(
            LESetEventMask(mask: [.connectionComplete, .enhancedConnectionComplete]), on: central)
        bench.perform(LESetEventMask(mask: [.advertisingReport]), on: peripheral)
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.perform(LECreateConnectionCancel(), on: central)
        bench.advertise(on: peripheral)
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.run(for: .milliseconds(200))
        let events = bench.events(central).compactMap {
            if case .leMeta(.enhancedConnectionComplete(let event)) = $0 { event } else { nil }
        }
        #expect(events.map(\.status) == [.unknownConnectionIdentifier, .success])
        #expect(events.last?.peer == HCIAddress(bench.address(peripheral)))
        #expect(events.last?.localResolvable.value == 0)
        #expect(bench.events(peripheral).isEmpty, "it wants neither")
    }

    @Test func maskedEventsAreNotSent() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        bench.perform(SetEventMask(mask: []), on: peripheral)
        bench.perform(SetEventMask(mask: [.disconnectionComplete]), on: central)
        bench.perform(ReadRemoteVersionInformation(connection: one), on: central)
        #expect(bench.events(central).isEmpty)
        // Completed packets and answers to commands cannot be masked.
        bench.perform(SetEventMask(mask: []), on: central)
        bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
        #expect(bench.events(central) == [DataTests.completed(one, 1)])
        bench.perform(Disconnect(connection: one), on: central)
        #expect(bench.events(central).isEmpty)
        #expect(bench.events(peripheral).isEmpty)
        #expect(bench.data(peripheral).count == 1)
    }
}
