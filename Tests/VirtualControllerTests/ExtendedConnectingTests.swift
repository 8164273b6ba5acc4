import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

/// LE Extended Create Connection (7.8.66) and the connections that it creates.
@Suite struct ExtendedConnectingTests {
    /// The properties of the set, its primary and secondary PHY, the PHYs of the initiator, and whether it
    /// connects.
    @Test(
        arguments: [
            (.connectable, .le1M, .le1M, .le1M, true), (.connectable, .le1M, .le2M, .le1M, true),
            (.connectable, .leCoded, .leCoded, [.le1M, .leCoded], true),
            (.connectable, .leCoded, .le1M, .le1M, false),
            ([.legacy, .connectable, .scannable], .le1M, .le1M, .le1M, true),
            ([.legacy, .connectable, .scannable], .le1M, .le1M, .leCoded, false),
            ([], .le1M, .le1M, .le1M, false),
        ] as [(Bench.SetParameters.Properties, PHY, PHY, PHYSet, Bool)])
    func initiatorConnectsOnMatchingPHYs(
        _ properties: Bench.SetParameters.Properties, _ primary: PHY, _ secondary: PHY, _ phys: PHYSet,
        _ connects: Bool
    ) throws {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.perform(bench.extendedCreation(to: peripheral, phys: phys), on: central)
        bench.make(
            Bench.parameters(4, properties, primary: primary, secondary: secondary), on: peripheral)
        bench.enable(4, on: peripheral)
        bench.run(for: .milliseconds(300))
        guard connects else {
            #expect(bench.events(central).isEmpty)
            return
        }
        let handle = ConnectionHandle(0x0040)
        func expected(_ role: ConnectionRole, _ peer: ID) -> [HCIEvent] {
            [
                .leMeta(
                    .enhancedConnectionComplete(
                        LEEnhancedConnectionComplete(
                            connection: handle, role: role, peer: HCIAddress(bench.address(peer)),
                            interval: ConnectionInterval(rawValue: 24), latency: 0,
                            supervisionTimeout: Centiseconds(rawValue: 42)))),
                .leMeta(
                    .channelSelectionAlgorithm(LEChannelSelectionAlgorithm(connection: handle, algorithm: 1))),
            ]
        }
        #expect(bench.events(central) == expected(.central, peripheral))
        #expect(
            bench.events(peripheral)
                == expected(.peripheral, central) + [
                    .leMeta(
                        .advertisingSetTerminated(
                            LEAdvertisingSetTerminated(
                                status: .success, set: Bench.set(4), connection: handle, completedEvents: 1)))
                ])
        let phy = properties.contains(.legacy) ? PHY.le1M : secondary
        #expect(
            try bench.ask(LEReadPHY(connection: handle), on: central)
                == LEReadPHY.ReturnParameters(connection: handle, transmit: phy, receive: phy))
    }

    @Test func otherSetsKeepAdvertisingAfterConnection() {
        var bench = Bench()
        let (central, peripheral, scanner) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        bench.scanExtended(on: scanner)
        bench.make(Bench.parameters(0, .connectable, sid: 0), on: peripheral)
        bench.make(Bench.parameters(1, [], sid: 1), on: peripheral)
        bench.enable(0, on: peripheral)
        bench.enable(1, on: peripheral)
        bench.perform(bench.extendedCreation(to: peripheral), on: central)
        bench.run(for: .milliseconds(300))
        #expect(bench.terminations(peripheral).map(\.set) == [Bench.set(0)])
        _ = bench.events(scanner)
        bench.run(for: .seconds(1))
        #expect(Set(bench.extendedReports(scanner).map(\.sid)) == [1])
    }

    /// A host with the legacy commands and one with the extended commands connect by legacy packets.
    @Test func legacyAndExtendedHostsConnect() throws {
        for isCentralOld in [true, false] {
            var bench = Bench()
            let (old, new) = (bench.join(), bench.joinExtended())
            if isCentralOld {
                bench.make(Bench.parameters(0, [.legacy, .connectable, .scannable]), on: new)
                bench.enable(on: new)
                bench.perform(bench.creation(to: new), on: old)
            } else {
                bench.advertise(on: old)
                bench.perform(bench.extendedCreation(to: old), on: new)
            }
            bench.run(for: .milliseconds(300))
            #expect(bench.connections(old).map(\.status) == [.success])
            let handle = try #require(bench.air.controller(new)?.connections.first)
            let algorithms = bench.events(new).compactMap {
                if case .leMeta(.channelSelectionAlgorithm(let event)) = $0 { event.algorithm } else { nil }
            }
            #expect(algorithms == [0], "the other knows the first only")
            // The legacy controller supports LE 1M only.
            bench.perform(
                LESetPHY(connection: handle, preference: PHYPreference(transmit: .le2M, receive: .le2M)),
                on: new)
            #expect(
                bench.events(new) == [
                    .leMeta(
                        .phyUpdateComplete(
                            LEPHYUpdateComplete(
                                status: .unsupportedRemoteFeature, connection: handle, transmit: .le1M,
                                receive: .le1M)))
                ])
        }
    }

    @Test func cancelledConnectionReportsUnknownIdentifier() {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.perform(bench.extendedCreation(to: peripheral), on: central)
        #expect(bench.status(bench.extendedCreation(to: peripheral), on: central) == .commandDisallowed)
        bench.perform(LECreateConnectionCancel(), on: central)
        let events = bench.events(central).compactMap {
            if case .leMeta(.enhancedConnectionComplete(let event)) = $0 { event.status } else { nil }
        }
        #expect(events == [.unknownConnectionIdentifier])
    }

    @Test func initiatorConnectsByAcceptList() {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.perform(
            LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(peripheral))), on: central)
        bench.perform(bench.extendedCreation(to: central, filter: .acceptList), on: central)
        #expect(bench.status(LEClearFilterAcceptList(), on: central) == .commandDisallowed)
        bench.make(Bench.parameters(0, .connectable), on: peripheral)
        bench.enable(on: peripheral)
        bench.run(for: .milliseconds(300))
        #expect(bench.air.controller(central)?.connections.count == 1)
    }

    /// Filter policy, own address type, peer and PHYs; the number of PHYs with parameters; and the status.
    @Test(
        arguments: [
            ("00 01 01 0200000000c0 01", 1, .success), ("01 01 07 0200000000c0 07", 3, .success),
            ("02 01 01 0200000000c0 01", 1, .invalidCommandParameters),
            ("00 04 01 0200000000c0 01", 1, .invalidCommandParameters),
            ("00 00 01 0200000000c0 01", 1, .invalidCommandParameters),
            ("00 02 01 0200000000c0 01", 1, .unsupportedFeatureOrParameterValue),
            ("00 01 04 0200000000c0 01", 1, .invalidCommandParameters),
            ("00 01 02 0200000000c0 01", 1, .unsupportedFeatureOrParameterValue),
            ("00 01 01 0200000000c0 00", 0, .invalidCommandParameters),
            ("00 01 01 0200000000c0 02", 1, .invalidCommandParameters),
            ("00 01 01 0200000000c0 08", 1, .unsupportedFeatureOrParameterValue),
            ("00 01 01 0200000000c0 03", 1, .invalidCommandParameters),
        ] as [(String, Int, HCIStatus)])
    func createConnectionParametersAreValidated(_ hex: String, _ phys: Int, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended { $0.resolvingListSize = 0 }
        let one: [UInt8] = [16, 0, 16, 0, 24, 0, 40, 0, 0, 0, 42, 0, 0, 0, 0, 0]
        let octets =
            octets(hex) + (0..<phys).flatMap { _ in one }
        let packet = HCICommandPacket(opcode: .leExtendedCreateConnection, parameters: octets)
        #expect(bench.answer(packet, on: id).status == expected)
    }

    @Test func invalidInitiatingParametersAreRefused() throws {
        var (bench, central, peripheral, _, _) = try Bench.extendedPair()
        let other = bench.joinExtended()
        #expect(
            bench.status(bench.extendedCreation(to: peripheral), on: central) == .connectionAlreadyExists)
        for change: (inout LEExtendedCreateConnection.Initiating) -> Void in [
            { $0.scanInterval = Slots(rawValue: 3) }, { $0.scanWindow = Slots(rawValue: 17) },
            { $0.parameters.latency = 500 },
        ] {
            var initiating = LEExtendedCreateConnection.Initiating(
                scanInterval: Slots(rawValue: 16), scanWindow: Slots(rawValue: 16),
                parameters: Bench.parameters)
            change(&initiating)
            let command = LEExtendedCreateConnection(
                ownAddressType: .random, peer: HCIAddress(bench.address(other)),
                phys: PerPHY(.le1M, initiating))
            #expect(bench.status(command, on: central) == .invalidCommandParameters)
        }
    }
}
