import BLECore
import HCI
import Testing
import VirtualController

/// Private addresses on air (Core Specification 5.4, Vol 6, Part B, 6).
@Suite struct PrivacyTests {
    @Test func reportsContainResolvedIdentity() throws {
        var bench = Bench()
        let (advertiser, friend, stranger) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        bench.introduce(friend, to: advertiser)
        bench.introduce(advertiser, to: friend)
        bench.resolve(on: friend)
        bench.scanExtended(on: friend, duplicates: .on)
        bench.scanExtended(on: stranger)
        bench.perform(LESetResolvablePrivateAddressTimeout(seconds: 1), on: advertiser)
        bench.advertisePrivately(on: advertiser, towards: friend, [], data: [1])
        bench.run(for: .milliseconds(3600))
        #expect(bench.extendedReports(friend).map(\.address) == [bench.resolved(advertiser)], "one device")
        let seen = bench.extendedReports(stranger).map(\.address)
        #expect(seen.count > 25 && Set(seen).count == 4, "another address each second")
        #expect(
            seen.allSatisfy {
                $0.type == .random
                    && $0.deviceAddress?.isResolved(by: AES128(key: Bench.key(advertiser))) == true
            })
        let current = try bench.ask(
            LEReadPeerResolvableAddress(peer: HCIAddress(bench.address(advertiser))), on: friend
        ).address
        #expect(seen.last == HCIAddress(current))
    }

    @Test func randomAddressIsUsedWithoutLocalKey() {
        var bench = Bench()
        let (advertiser, friend) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: friend)
        bench.introduce(friend, to: advertiser, localKey: 0)
        bench.advertisePrivately(on: advertiser, towards: friend, [])
        bench.run(for: .milliseconds(50))
        #expect(bench.extendedReports(friend).map(\.address) == [HCIAddress(bench.address(advertiser))])
        // With neither a local key nor a public address, there is no address for the advertising.
        var own = Bench.parameters(1, [])
        own.ownAddressType = .resolvableOrPublic
        bench.perform(own, on: advertiser)
        #expect(bench.status(Bench.enabling(1), on: advertiser) == .invalidCommandParameters)
    }

    /// In network privacy mode, a peer that has a key must use a private address. In device privacy mode, it need
    /// not.
    @Test(arguments: [LESetPrivacyMode.Mode.network, .device])
    func onlyDevicePrivacyModeAcceptsIdentityAddress(_ mode: LESetPrivacyMode.Mode) {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(advertiser, to: scanner, mode: mode)
        bench.make(Bench.parameters(0, .connectable), on: advertiser)
        bench.enable(on: advertiser)
        bench.scanExtended(on: scanner)
        bench.run(for: .milliseconds(500))
        #expect(bench.extendedReports(scanner).count > 3, "nothing is resolved yet")
        bench.perform(LESetExtendedScanEnable(enable: false), on: scanner)
        bench.resolve(on: scanner)
        bench.scanExtended(on: scanner)
        bench.run(for: .milliseconds(500))
        let reports = bench.extendedReports(scanner)
        #expect(reports.isEmpty == (mode == .network))
        #expect(reports.allSatisfy { $0.address == HCIAddress(bench.address(advertiser)) })
    }

    @Test func acceptListMatchesResolvedIdentities() {
        var bench = Bench()
        let (advertiser, friend, stranger) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        for (one, other) in [(advertiser, friend), (friend, advertiser)] {
            bench.introduce(one, to: other)
            bench.resolve(on: other)
            bench.perform(LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(one))), on: other)
        }
        bench.advertisePrivately(on: advertiser, towards: friend, filter: .filterConnections)
        bench.scanExtended(on: friend, filter: .acceptListOnly)
        bench.run(for: .milliseconds(500))
        #expect(bench.extendedReports(friend).map(\.address).allSatisfy { $0 == bench.resolved(advertiser) })
        bench.perform(LESetExtendedScanEnable(enable: false), on: friend)

        // The stranger is not on the accept list. The friend is, although it uses a private address.
        bench.scanExtended(on: stranger)
        bench.run(for: .milliseconds(200))
        guard let shown = bench.extendedReports(stranger).last?.address else {
            Issue.record("nothing was received")
            return
        }
        var creation = bench.extendedCreation(to: advertiser)
        creation.peer = shown
        bench.perform(creation, on: stranger)
        bench.run(for: .seconds(1))
        #expect(bench.air.controller(advertiser)?.connections.isEmpty == true)
        creation = bench.extendedCreation(to: friend, filter: .acceptList)
        creation.ownAddressType = .resolvableOrRandom
        bench.perform(creation, on: friend)
        bench.run(for: .seconds(1))
        #expect(bench.air.controller(advertiser)?.connections.count == 1)
        #expect(bench.air.controller(friend)?.connections.count == 1)
    }

    /// Whether the central uses a private address, and whether the peripheral does.
    @Test(arguments: [(true, true), (true, false), (false, true)])
    func connectionReportsResolvedAddresses(_ centralHides: Bool, _ peripheralHides: Bool) throws {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(peripheral, to: central, peerKey: peripheralHides ? nil : 0)
        bench.introduce(central, to: peripheral, peerKey: centralHides ? nil : 0)
        bench.resolve(on: central)
        bench.resolve(on: peripheral)
        if peripheralHides {
            bench.advertisePrivately(on: peripheral, towards: central)
        } else {
            bench.make(Bench.parameters(0, .connectable), on: peripheral)
            bench.enable(on: peripheral)
        }
        var creation = bench.extendedCreation(to: peripheral)
        if centralHides { creation.ownAddressType = .resolvableOrRandom }
        bench.perform(creation, on: central)
        bench.run(for: .milliseconds(300))
        func complete(_ id: ID) -> LEEnhancedConnectionComplete? {
            bench.events(id).lazy.compactMap {
                if case .leMeta(.enhancedConnectionComplete(let event)) = $0 { event } else { nil }
            }.first
        }
        let (one, other) = (try #require(complete(central)), try #require(complete(peripheral)))
        #expect(
            one.peer == (peripheralHides ? bench.resolved(peripheral) : HCIAddress(bench.address(peripheral)))
        )
        #expect(other.peer == (centralHides ? bench.resolved(central) : HCIAddress(bench.address(central))))
        let (mine, theirs) = (AES128(key: Bench.key(central)), AES128(key: Bench.key(peripheral)))
        #expect(one.localResolvable.isResolved(by: mine) == centralHides)
        #expect(one.peerResolvable.isResolved(by: theirs) == peripheralHides)
        #expect(other.localResolvable == one.peerResolvable)
        #expect(other.peerResolvable == one.localResolvable)
        #expect(centralHides || one.localResolvable.value == 0)
        #expect(peripheralHides || one.peerResolvable.value == 0)
        // The identity address and the private address belong to the same peer.
        #expect(
            bench.status(bench.extendedCreation(to: peripheral), on: central) == .connectionAlreadyExists)
    }

    /// The event of Core Specification 4.0 has no field for an identity.
    @Test func plainConnectionCompleteHasOnAirAddress() throws {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.perform(LESetEventMask(mask: [.connectionComplete]), on: central)
        bench.introduce(peripheral, to: central)
        bench.introduce(central, to: peripheral)
        bench.resolve(on: central)
        bench.advertisePrivately(on: peripheral, towards: central)
        bench.perform(bench.extendedCreation(to: peripheral), on: central)
        bench.run(for: .milliseconds(300))
        let peer = try #require(bench.connections(central).first?.peer)
        #expect(peer.type == .random)
        #expect(peer.deviceAddress?.isResolved(by: AES128(key: Bench.key(peripheral))) == true)
    }

    /// Advertising directed at a peer that has a key carries a private target address that only the peer resolves.
    @Test func directedAdvertisingUsesPrivateTargetAddress() throws {
        var bench = Bench()
        let (advertiser, target, stranger, curious) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        bench.introduce(target, to: advertiser)
        bench.introduce(advertiser, to: target)
        bench.resolve(on: advertiser)
        bench.resolve(on: target)
        bench.scanExtended(on: target)
        bench.scanExtended(on: stranger)
        bench.scanExtended(on: curious, filter: .unresolvedDirected)
        bench.advertisePrivately(on: advertiser, towards: target, [.connectable, .directed])
        bench.run(for: .milliseconds(50))
        let found = try #require(bench.extendedReports(target).first)
        #expect(found.type == [.connectable, .directed])
        #expect(found.address == bench.resolved(advertiser))
        #expect(found.direct == bench.resolved(target))
        #expect(bench.extendedReports(stranger).isEmpty)
        let guess = try #require(bench.extendedReports(curious).first)
        #expect(guess.direct.type == .unresolved)
        #expect(guess.direct.deviceAddress?.isResolved(by: AES128(key: Bench.key(target))) == true)
        #expect(guess.address.type == .random)

        // The target connects, with a private address.
        var creation = bench.extendedCreation(to: advertiser)
        creation.ownAddressType = .resolvableOrRandom
        bench.perform(creation, on: target)
        bench.run(for: .milliseconds(300))
        #expect(bench.air.controller(advertiser)?.connections.count == 1)
        #expect(bench.air.controller(target)?.connections.count == 1)
    }

    @Test func legacyScannerReportsUnresolvedDirectedAdvertising() throws {
        var configuration = VirtualController.Configuration()
        configuration.resolvingListSize = 4
        var bench = Bench()
        let (advertiser, curious) = (bench.join(configuration), bench.join(configuration))
        let target = HCIAddress(0xc000_0000_0077, type: .random)
        bench.perform(LESetEventMask(mask: LEEventMask(rawValue: 0x7ff)), on: curious)
        bench.perform(LEAddDeviceToResolvingList(peer: target, peerKey: 7, localKey: 0), on: advertiser)
        bench.scan(on: curious, filter: .unresolvedDirected)
        bench.advertise(on: advertiser, .directedLowDutyCycle, at: target.deviceAddress)
        bench.run(for: .milliseconds(50))
        let reports = bench.events(curious).flatMap { event -> [LEDirectedAdvertisingReports.Report] in
            if case .leMeta(.directedAdvertisingReports(let reports)) = event { reports.reports } else { [] }
        }
        #expect(reports.map(\.type) == [.directed])
        #expect(reports.first?.address == HCIAddress(bench.address(advertiser)))
        #expect(reports.first?.direct.deviceAddress?.isResolved(by: AES128(key: 7)) == true)
    }

    @Test func scanRequestsUsePrivateAddresses() throws {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(scanner, to: advertiser)
        bench.introduce(advertiser, to: scanner)
        bench.resolve(on: advertiser)
        bench.resolve(on: scanner)
        var parameters = Bench.parameters(0, .scannable, target: bench.address(scanner))
        parameters.ownAddressType = .resolvableOrRandom
        parameters.notifiesScanRequests = true
        bench.make(parameters, on: advertiser, response: [1, 2])
        let scanning = LESetExtendedScanParameters.Scanning(
            type: .active, interval: Slots(rawValue: 16), window: Slots(rawValue: 16))
        bench.perform(
            LESetExtendedScanParameters(ownAddressType: .resolvableOrRandom, phys: PerPHY(.le1M, scanning)),
            on: scanner)
        bench.perform(LESetExtendedScanEnable(enable: true), on: scanner)
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(50))
        let requests = bench.events(advertiser).compactMap {
            if case .leMeta(.scanRequestReceived(let event)) = $0 { event.scanner } else { nil }
        }
        #expect(requests == [bench.resolved(scanner)])
        let reports = bench.extendedReports(scanner)
        #expect(reports.map(\.data) == [[], [1, 2]])
        #expect(reports.allSatisfy { $0.address == bench.resolved(advertiser) })
        // The address on air was a private one.
        #expect(
            try bench.ask(
                LEReadPeerResolvableAddress(peer: HCIAddress(bench.address(scanner))), on: advertiser
            ).address.isResolved(by: AES128(key: Bench.key(scanner))))
    }
}
