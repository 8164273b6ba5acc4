import BLECore
import HCI
import Testing
import VirtualController

/// The commands of 7.8.47 to 7.8.49, and LE PHY Update Complete.
@Suite struct PHYTests {
    static func updates(_ events: [HCIEvent]) -> [LEPHYUpdateComplete] {
        events.compactMap { if case .leMeta(.phyUpdateComplete(let event)) = $0 { event } else { nil } }
    }

    @Test func bothSidesCanUpdatePHY() throws {
        for asksCentral in [true, false] {
            var (bench, central, peripheral, one, two) = try Bench.extendedPair()
            let (asking, asked) = asksCentral ? (central, peripheral) : (peripheral, central)
            let (handle, other) = asksCentral ? (one, two) : (two, one)
            bench.perform(
                LESetPHY(connection: handle, preference: PHYPreference(transmit: .le2M, receive: .leCoded)),
                on: asking)
            #expect(
                Self.updates(bench.events(asking)) == [
                    LEPHYUpdateComplete(connection: handle, transmit: .le2M, receive: .leCoded)
                ])
            #expect(
                Self.updates(bench.events(asked)) == [
                    LEPHYUpdateComplete(connection: other, transmit: .leCoded, receive: .le2M)
                ])
            #expect(
                try bench.ask(LEReadPHY(connection: other), on: asked)
                    == LEReadPHY.ReturnParameters(connection: other, transmit: .leCoded, receive: .le2M))
            // An update without a change is reported only to the host that requested it.
            bench.perform(
                LESetPHY(connection: handle, preference: PHYPreference(transmit: .le2M, receive: .leCoded)),
                on: asking)
            #expect(Self.updates(bench.events(asking)).count == 1)
            #expect(bench.events(asked).isEmpty)
        }
    }

    @Test func peerPreferenceKeepsCurrentPHY() throws {
        var (bench, central, peripheral, one, two) = try Bench.extendedPair()
        bench.perform(
            LESetPHY(connection: two, preference: PHYPreference(transmit: .le1M, receive: .le1M)),
            on: peripheral)
        _ = (bench.events(central), bench.events(peripheral))
        bench.perform(
            LESetPHY(connection: one, preference: PHYPreference(transmit: .le2M, receive: .le2M)), on: central
        )
        #expect(
            Self.updates(bench.events(central)) == [
                LEPHYUpdateComplete(connection: one, transmit: .le1M, receive: .le1M)
            ])
        #expect(bench.events(peripheral).isEmpty)
    }

    @Test func pendingPHYUpdateFailsWithConnectionTimeout() throws {
        var (bench, central, peripheral, one, _) = try Bench.extendedPair()
        bench.setRSSI(nil, between: central, and: peripheral)
        let command = LESetPHY(
            connection: one, preference: PHYPreference(transmit: .le2M, receive: .le2M))
        bench.perform(command, on: central)
        #expect(bench.status(command, on: central) == .commandDisallowed)
        bench.run(for: .seconds(1))
        #expect(Self.updates(bench.events(central)).map(\.status) == [.connectionTimeout])
    }

    /// The fields `All_PHYs`, `TX_PHYs` and `RX_PHYs`, and the status.
    @Test(
        arguments: [
            (0, 7, 7, .success), (3, 0, 0, .success), (1, 0, 2, .success), (2, 4, 0xff, .success),
            (0, 0, 1, .invalidCommandParameters), (0, 1, 0, .invalidCommandParameters),
            (1, 0, 0, .invalidCommandParameters), (4, 1, 1, .invalidCommandParameters),
            (0, 8, 1, .unsupportedFeatureOrParameterValue), (0, 1, 0x81, .unsupportedFeatureOrParameterValue),
        ] as [(UInt8, UInt8, UInt8, HCIStatus)])
    func phyPreferencesAreValidated(_ all: UInt8, _ transmit: UInt8, _ receive: UInt8, _ expected: HCIStatus)
        throws
    {
        var (bench, central, _, one, _) = try Bench.extendedPair()
        let preference = [all, transmit, receive]
        let general = HCICommandPacket(opcode: .leSetDefaultPHY, parameters: preference)
        #expect(bench.answer(general, on: central).status == expected)
        let handle = [UInt8(truncatingIfNeeded: one.rawValue), 0]
        let special = HCICommandPacket(opcode: .leSetPHY, parameters: handle + preference + [0, 0])
        #expect(bench.answer(special, on: central).status == expected)
        let unknown = HCICommandPacket(opcode: .leSetPHY, parameters: [9, 0] + preference + [0, 0])
        #expect(bench.answer(unknown, on: central).status == .unknownConnectionIdentifier)
        #expect(
            bench.answer(HCICommandPacket(opcode: .leReadPHY, parameters: [9, 0]), on: central).status
                == .unknownConnectionIdentifier)
    }

    @Test func defaultPHYPreferenceAppliesToNewLinks() throws {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.perform(
            LESetDefaultPHY(preference: PHYPreference(transmit: .le1M, receive: .le1M)), on: peripheral)
        bench.make(Bench.parameters(0, .connectable), on: peripheral)
        bench.enable(on: peripheral)
        bench.perform(bench.extendedCreation(to: peripheral), on: central)
        bench.run(for: .milliseconds(300))
        let handle = try #require(bench.air.controller(central)?.connections.first)
        bench.perform(
            LESetPHY(connection: handle, preference: PHYPreference(transmit: nil, receive: nil)), on: central)
        #expect(
            Self.updates(bench.events(central)) == [
                LEPHYUpdateComplete(connection: handle, transmit: .le1M, receive: .le1M)
            ])
    }
}
