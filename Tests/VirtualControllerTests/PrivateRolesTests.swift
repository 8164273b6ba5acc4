import BLECore
import HCI
import Testing
import VirtualController

/// The use of private addresses in each role (Core Specification 5.4, Vol 6, Part B, 6).
@Suite struct PrivateRolesTests {
    private static func enhanced(_ events: [HCIEvent]) -> LEEnhancedConnectionComplete? {
        events.lazy.compactMap {
            if case .leMeta(.enhancedConnectionComplete(let event)) = $0 { event } else { nil }
        }.first
    }

    /// Own address type 2: the public address is the identity of the private one, and replaces it towards peers
    /// without a key.
    @Test func resolvableOrPublicUsesPublicAddressWithoutKey() throws {
        var bench = Bench()
        let identity = DeviceAddress(0x11_2233_4455, type: .public)
        let advertiser = bench.joinExtended { $0.publicAddress = identity }
        let (friend, stranger) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(friend, to: advertiser)
        bench.perform(
            LEAddDeviceToResolvingList(
                peer: HCIAddress(identity), peerKey: Bench.key(advertiser), localKey: 0), on: friend)
        bench.resolve(on: friend)
        bench.scanExtended(on: friend)
        bench.scanExtended(on: stranger)
        for (number, peer) in [(0, friend), (1, stranger)] as [(UInt8, ID)] {
            var parameters = Bench.parameters(number, [], target: bench.address(peer), sid: number)
            parameters.ownAddressType = .resolvableOrPublic
            bench.perform(parameters, on: advertiser)
            bench.enable(number, on: advertiser)
        }
        bench.run(for: .milliseconds(50))
        let known = bench.extendedReports(friend)
        #expect(
            known.filter { $0.sid == 0 }.map(\.address) == [HCIAddress(identity.value, type: .publicIdentity)]
        )
        #expect(known.filter { $0.sid == 1 }.isEmpty, "who has a key must hide from who has it")
        let seen = bench.extendedReports(stranger)
        #expect(seen.filter { $0.sid == 1 }.map(\.address) == [HCIAddress(identity)])
        let hidden = try #require(seen.first { $0.sid == 0 }?.address)
        #expect(hidden.type == .random)
        #expect(hidden.deviceAddress?.isResolved(by: AES128(key: Bench.key(advertiser))) == true)
    }

    /// A scanner changes its private address after each timeout.
    @Test func scannerRotatesPrivateAddress() throws {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(advertiser, to: scanner)
        bench.perform(LESetResolvablePrivateAddressTimeout(seconds: 2), on: scanner)
        var parameters = Bench.parameters(0, [.legacy, .scannable])
        parameters.notifiesScanRequests = true
        bench.make(parameters, on: advertiser, response: [2, 1, 6])
        bench.enable(on: advertiser)
        let scanning = LESetExtendedScanParameters.Scanning(
            type: .active, interval: Slots(rawValue: 16), window: Slots(rawValue: 16))
        bench.perform(
            LESetExtendedScanParameters(ownAddressType: .resolvableOrRandom, phys: PerPHY(.le1M, scanning)),
            on: scanner)
        bench.perform(LESetExtendedScanEnable(enable: true), on: scanner)
        bench.run(for: .milliseconds(5900))
        let scanners = bench.events(advertiser).compactMap {
            if case .leMeta(.scanRequestReceived(let event)) = $0 { event.scanner } else { nil }
        }
        #expect(scanners.count > 40)
        #expect(Set(scanners).count == 3, "one for each two seconds")
        let cipher = AES128(key: Bench.key(scanner))
        #expect(scanners.allSatisfy { $0.deviceAddress?.isResolved(by: cipher) == true })
    }

    /// An initiator that waits longer than the timeout connects with its current private address.
    @Test func initiatorUsesCurrentPrivateAddress() throws {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(peripheral, to: central, peerKey: 0)
        bench.introduce(central, to: peripheral, localKey: 0)
        bench.resolve(on: peripheral)
        bench.perform(LESetResolvablePrivateAddressTimeout(seconds: 1), on: central)
        let question = LEReadLocalResolvableAddress(peer: HCIAddress(bench.address(peripheral)))
        let before = try bench.ask(question, on: central).address
        var creation = bench.extendedCreation(to: peripheral)
        creation.ownAddressType = .resolvableOrRandom
        bench.perform(creation, on: central)
        bench.run(for: .seconds(10))
        bench.make(Bench.parameters(0, .connectable), on: peripheral)
        bench.enable(on: peripheral)
        bench.run(for: .milliseconds(300))
        let one = try #require(Self.enhanced(bench.events(central)))
        let other = try #require(Self.enhanced(bench.events(peripheral)))
        #expect(one.localResolvable != before)
        #expect(one.localResolvable.isResolved(by: AES128(key: Bench.key(central))))
        #expect(other.peerResolvable == one.localResolvable)
        #expect(other.peer == bench.resolved(central))
    }

    /// A peer that has a key and uses its identity address can connect in device privacy mode only.
    @Test(arguments: [LESetPrivacyMode.Mode.network, .device])
    func onlyDevicePrivacyModeAdmitsIdentityAddress(_ mode: LESetPrivacyMode.Mode) throws {
        var bench = Bench()
        let (central, peripheral) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(central, to: peripheral, mode: mode)
        bench.resolve(on: peripheral)
        bench.make(Bench.parameters(0, .connectable), on: peripheral)
        bench.enable(on: peripheral)
        bench.perform(bench.extendedCreation(to: peripheral), on: central)
        bench.run(for: .milliseconds(300))
        let event = Self.enhanced(bench.events(peripheral))
        #expect((event == nil) == (mode == .network))
        if mode == .device { #expect(event?.peer == HCIAddress(bench.address(central))) }
    }

    /// A key of zeros is no key. As a local key it generates no private address, and as a peer's key it
    /// requires none.
    @Test func zeroKeyDisablesPrivateAddresses() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(advertiser, to: scanner, peerKey: 0)
        bench.introduce(scanner, to: advertiser, localKey: 0)
        bench.resolve(on: scanner)
        bench.scanExtended(on: scanner)
        bench.advertisePrivately(on: advertiser, towards: scanner, [])
        bench.run(for: .milliseconds(50))
        #expect(bench.extendedReports(scanner).map(\.address) == [HCIAddress(bench.address(advertiser))])
    }
}
