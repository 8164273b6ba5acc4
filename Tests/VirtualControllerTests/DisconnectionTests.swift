import BLECore
import HCI
import Testing
import VirtualController

@Suite struct DisconnectionTests {
    static func ended(_ handle: ConnectionHandle, _ reason: HCIStatus) -> HCIEvent {
        .disconnectionComplete(DisconnectionComplete(connection: handle, reason: reason))
    }

    @Test(arguments: [0x05, 0x13, 0x14, 0x15, 0x1a, 0x29, 0x3b] as [UInt8], [true, false])
    func disconnectReportsReasonToBothSides(_ reason: UInt8, _ isByCentral: Bool) throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        let reason = HCIStatus(rawValue: reason)
        let (near, far) =
            isByCentral ? ((central, one), (peripheral, other)) : ((peripheral, other), (central, one))
        bench.perform(Disconnect(connection: near.1, reason: reason), on: near.0)
        #expect(bench.events(near.0) == [Self.ended(near.1, .connectionTerminatedByLocalHost)])
        #expect(bench.events(far.0) == [Self.ended(far.1, reason)])
        #expect(
            bench.status(Disconnect(connection: near.1), on: near.0) == .unknownConnectionIdentifier)
        #expect(bench.air.deadline == nil)
    }

    @Test(arguments: [0x00, 0x08, 0x16, 0x3e, 0xff] as [UInt8])
    func invalidDisconnectReasonsAreRefused(_ reason: UInt8) throws {
        var (bench, central, _, one, _) = try Bench.pair()
        #expect(
            bench.status(Disconnect(connection: one, reason: HCIStatus(rawValue: reason)), on: central)
                == .invalidCommandParameters)
    }

    /// The peer of a removed controller disconnects after the supervision timeout, 420 ms here.
    @Test func removedControllerCausesConnectionTimeout() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        bench.remove(peripheral)
        #expect(bench.air.controllers == [central])
        bench.run(for: .milliseconds(419))
        #expect(bench.events(central).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(central) == [Self.ended(one, .connectionTimeout)])
        bench.remove(peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.packets(central).isEmpty)
    }

    @Test func terminationOfRemovedControllerArrives() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.air.conditions = .init(delay: .milliseconds(20))
        bench.perform(Disconnect(connection: one), on: central)
        bench.remove(central)
        bench.run(for: .milliseconds(19))
        #expect(bench.events(peripheral).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(peripheral) == [Self.ended(other, .remoteUserTerminatedConnection)])
    }

    /// A lost packet is not sent again, because its sender is removed before the next connection event.
    @Test func removedControllerSendsNothingAgain() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var (bench, central, peripheral, one, _) = try Bench.pair(seed: seed)
            bench.setRSSI(-80, between: central, and: peripheral)
            bench.air.conditions = .init(loss: 0.5, delay: .milliseconds(5))
            bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
            bench.remove(central)
            bench.run(for: .milliseconds(5))
            _ = bench.packets(peripheral)
            bench.run(for: .milliseconds(400))
            #expect(bench.packets(peripheral).isEmpty)
        }
    }

    @Test func resetCausesConnectionTimeoutAtPeer() throws {
        var (bench, central, peripheral, _, other) = try Bench.pair()
        bench.perform(Reset(), on: central)
        #expect(bench.packets(central).isEmpty)
        bench.run(for: .milliseconds(420))
        #expect(bench.events(peripheral) == [Self.ended(other, .connectionTimeout)])
        #expect(bench.packets(central).isEmpty)
    }

    @Test func connectionUpdateChangesSupervisionTimeout() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        var parameters = Bench.parameters
        parameters.supervisionTimeout = Centiseconds(rawValue: 200)
        bench.perform(LEConnectionUpdate(connection: one, parameters: parameters), on: central)
        _ = bench.events(peripheral)
        bench.remove(central)
        bench.run(for: .milliseconds(1999))
        #expect(bench.events(peripheral).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(peripheral) == [Self.ended(other, .connectionTimeout)])
    }

    @Test func linkSurvivesShortLossOfRange() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        bench.setRSSI(nil, between: central, and: peripheral)
        bench.perform(LEReadRemoteFeatures(connection: one), on: central)
        #expect(bench.status(LEReadRemoteFeatures(connection: one), on: central) == .commandDisallowed)
        bench.run(for: .milliseconds(400))
        #expect(bench.events(central).isEmpty)
        bench.setRSSI(-60, between: central, and: peripheral)
        #expect(bench.events(central).count == 1, "the features, now")
        bench.run(for: .seconds(10))
        #expect(bench.packets(central).isEmpty && bench.packets(peripheral).isEmpty)
    }

    /// The events of pending procedures have the status of the disconnection, and precede its event.
    @Test func pendingProceduresFailBeforeConnectionTimeout() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.setRSSI(nil, between: central, and: peripheral)
        bench.perform(LEReadRemoteFeatures(connection: one), on: central)
        bench.perform(ReadRemoteVersionInformation(connection: one), on: central)
        bench.perform(LEConnectionUpdate(connection: one, parameters: Bench.parameters), on: central)
        bench.run(for: .milliseconds(420))
        let events = bench.events(central)
        #expect(events.count == 4)
        #expect(events.last == Self.ended(one, .connectionTimeout))
        guard case .leMeta(.readRemoteFeaturesComplete(let features))? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(features.status == .connectionTimeout)
        #expect(bench.events(peripheral) == [Self.ended(other, .connectionTimeout)])
    }

    /// Until the peer is in range, Disconnect does not complete and further commands for the link are refused.
    @Test func disconnectWaitsUntilPeerIsInRange() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.setRSSI(nil, between: central, and: peripheral)
        bench.perform(Disconnect(connection: one), on: central)
        #expect(bench.status(Disconnect(connection: one), on: central) == .commandDisallowed)
        #expect(bench.status(LEReadRemoteFeatures(connection: one), on: central) == .commandDisallowed)
        #expect(bench.events(central).isEmpty)
        bench.setRSSI(-60, between: central, and: peripheral)
        #expect(bench.events(central) == [Self.ended(one, .connectionTerminatedByLocalHost)])
        #expect(bench.events(peripheral) == [Self.ended(other, .remoteUserTerminatedConnection)])
    }

    @Test func resetRestoresInitialState() throws {
        var (bench, central, peripheral, _, _) = try Bench.pair()
        bench.scan(on: central)
        bench.advertise(on: peripheral)
        bench.run(for: .seconds(1))
        bench.perform(
            LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(peripheral))), on: central)
        bench.perform(Reset(), on: central)
        #expect(bench.air.controller(central)?.isActive == false)
        bench.run(for: .seconds(1))
        #expect(
            bench.packets(central).filter { $0.answer(to: .reset) == nil }.isEmpty == false,
            "reports from before")
        #expect(
            bench.status(
                LESetScanParameters(
                    type: .passive, interval: Slots(rawValue: 16), window: Slots(rawValue: 16),
                    ownAddressType: .random), on: central) == .success)
        #expect(
            bench.status(LESetScanEnable(enable: true), on: central) == .invalidCommandParameters,
            "the random address is gone")
        // The event masks are reset, too: LE events are disabled.
        bench.perform(LESetRandomAddress(address: bench.address(central)), on: central)
        bench.perform(LESetScanEnable(enable: true), on: central)
        bench.run(for: .seconds(1))
        #expect(bench.packets(central).isEmpty)
    }

    @Test func resetDropsEventsButKeepsCommandAnswers() {
        var bench = Bench()
        let (scanner, advertiser) = (bench.join(), bench.join())
        bench.scan(on: scanner)
        bench.withoutReceiver = [scanner]
        bench.advertise(on: advertiser)
        bench.run(for: .seconds(1))
        for command in [LERand().packet, Reset().packet] {
            bench.air.receive(HCIPacket.command(command).encoded.span, from: scanner, at: bench.now)
        }
        bench.withoutReceiver = []
        bench.drain()
        let packets = bench.packets(scanner)
        #expect(packets.count == 2)
        #expect(packets.first?.answer(to: .leRand) != nil)
        #expect(packets.last?.answer(to: .reset) != nil)
    }
}
