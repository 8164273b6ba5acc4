import BLECore
import HCI
import Testing
import VirtualController

/// The commands of 7.8.38 to 7.8.45 and 7.8.77.
@Suite struct ResolvingListTests {
    let peer = HCIAddress(0xc000_0000_0077, type: .random)

    func adding(_ peer: HCIAddress, _ peerKey: UInt128 = 1, _ localKey: UInt128 = 2)
        -> LEAddDeviceToResolvingList
    {
        LEAddDeviceToResolvingList(peer: peer, peerKey: peerKey, localKey: localKey)
    }

    @Test func resolvingListIsBoundedWithUniquePeersAndKeys() throws {
        var bench = Bench()
        let id = bench.joinExtended { $0.resolvingListSize = 3 }
        let other = HCIAddress(0x77, type: .public)
        #expect(try bench.ask(LEReadResolvingListSize(), on: id).value == 3)
        bench.perform(adding(peer), on: id)
        bench.perform(adding(peer), on: id)
        #expect(bench.status(adding(peer, 1, 3), on: id) == .invalidCommandParameters, "it is there")
        #expect(bench.status(adding(other, 1), on: id) == .invalidCommandParameters, "another device's key")
        bench.perform(adding(other, 0), on: id)
        bench.perform(adding(HCIAddress(0x78, type: .public), 0), on: id)
        #expect(
            bench.status(adding(HCIAddress(0x79, type: .public), 9), on: id) == .memoryCapacityExceeded)
        bench.perform(LERemoveDeviceFromResolvingList(peer: other), on: id)
        #expect(
            bench.status(LERemoveDeviceFromResolvingList(peer: other), on: id) == .unknownConnectionIdentifier
        )
        bench.perform(adding(HCIAddress(0x79, type: .public), 9), on: id)
        bench.perform(LEClearResolvingList(), on: id)
        #expect(
            bench.status(LERemoveDeviceFromResolvingList(peer: peer), on: id) == .unknownConnectionIdentifier)
    }

    /// An identity is a public address or a random static one.
    @Test(
        arguments: [
            (HCIAddress(0x77, type: .public), .success),
            (HCIAddress(0xc000_0000_0077, type: .random), .success),
            (HCIAddress(0x4000_0000_0077, type: .random), .invalidCommandParameters),
            (HCIAddress(0x77, type: .random), .invalidCommandParameters),
            (HCIAddress(0x77, type: .publicIdentity), .invalidCommandParameters),
            (HCIAddress(0x77, type: .anonymous), .invalidCommandParameters),
        ] as [(HCIAddress, HCIStatus)])
    func onlyIdentityAddressesAreAccepted(_ peer: HCIAddress, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended()
        #expect(bench.status(adding(peer), on: id) == expected)
        let unknown: HCIStatus = expected == .success ? .success : .invalidCommandParameters
        #expect(bench.status(LESetPrivacyMode(peer: peer, mode: .device), on: id) == unknown)
    }

    @Test func localResolvableAddressRotates() throws {
        var bench = Bench()
        let id = bench.joinExtended()
        let (local, remote) = (
            LEReadLocalResolvableAddress(peer: peer), LEReadPeerResolvableAddress(peer: peer)
        )
        #expect(bench.status(local, on: id) == .unknownConnectionIdentifier)
        #expect(bench.status(remote, on: id) == .unknownConnectionIdentifier)
        bench.perform(adding(peer, 1, 0), on: id)
        #expect(bench.status(local, on: id) == .unknownConnectionIdentifier, "no key")
        #expect(bench.status(remote, on: id) == .unknownConnectionIdentifier, "never seen")
        bench.perform(LERemoveDeviceFromResolvingList(peer: peer), on: id)
        bench.perform(adding(peer, 1, 2), on: id)
        let first = try bench.ask(local, on: id).address
        #expect(first.isResolved(by: AES128(key: 2)))
        bench.run(for: .seconds(899))
        #expect(try bench.ask(local, on: id).address == first)
        bench.run(for: .seconds(1))
        let second = try bench.ask(local, on: id).address
        #expect(second != first && second.isResolved(by: AES128(key: 2)))
        bench.perform(LESetResolvablePrivateAddressTimeout(seconds: 5), on: id)
        bench.run(for: .seconds(5))
        #expect(try bench.ask(local, on: id).address != second)
    }

    @Test func privacyParametersAreValidated() {
        var bench = Bench()
        let id = bench.joinExtended()
        for (seconds, expected): (UInt16, HCIStatus) in [
            (0, .invalidCommandParameters), (1, .success), (3600, .success),
            (3601, .invalidCommandParameters),
        ] {
            #expect(
                bench.status(LESetResolvablePrivateAddressTimeout(seconds: seconds), on: id) == expected)
        }
        #expect(
            bench.status(LESetAddressResolutionEnable(enable: HCIFlag(rawValue: 2)), on: id)
                == .invalidCommandParameters)
        bench.perform(adding(peer), on: id)
        #expect(
            bench.status(LESetPrivacyMode(peer: peer, mode: .init(rawValue: 2)), on: id)
                == .invalidCommandParameters)
        bench.perform(LESetPrivacyMode(peer: peer, mode: .device), on: id)
        bench.perform(LEClearResolvingList(), on: id)
        #expect(
            bench.status(LESetPrivacyMode(peer: peer, mode: .device), on: id) == .unknownConnectionIdentifier)
    }

    /// The list cannot change while it is used. Address resolution cannot be enabled or disabled while the
    /// controller advertises, scans or initiates.
    @Test func resolvingListCannotChangeWhileInUse() {
        var bench = Bench()
        let (id, other) = (bench.joinExtended(), bench.joinExtended())
        func statuses() -> [HCIStatus] {
            [
                bench.status(adding(peer), on: id),
                bench.status(LESetPrivacyMode(peer: peer, mode: .network), on: id),
                bench.status(LERemoveDeviceFromResolvingList(peer: peer), on: id),
                bench.status(LEClearResolvingList(), on: id),
            ]
        }
        let refused = [HCIStatus](repeating: .commandDisallowed, count: 4)
        let allowed = [HCIStatus](repeating: .success, count: 4)
        #expect(statuses() == allowed)
        bench.make(Bench.parameters(0, []), on: id)
        for isResolving in [false, true] {
            bench.resolve(on: id, HCIFlag(rawValue: isResolving ? 1 : 0))
            #expect(statuses() == allowed)
            let expected = isResolving ? refused : allowed

            bench.enable(on: id)
            #expect(statuses() == expected)
            #expect(bench.status(LESetAddressResolutionEnable(enable: true), on: id) == .commandDisallowed)
            bench.perform(LESetExtendedAdvertisingEnable(enable: false), on: id)

            bench.scanExtended(on: id)
            #expect(statuses() == expected)
            #expect(bench.status(LESetAddressResolutionEnable(enable: false), on: id) == .commandDisallowed)
            bench.perform(LESetExtendedScanEnable(enable: false), on: id)

            bench.perform(bench.extendedCreation(to: other), on: id)
            #expect(statuses() == expected)
            #expect(bench.status(LESetAddressResolutionEnable(enable: true), on: id) == .commandDisallowed)
            bench.perform(LECreateConnectionCancel(), on: id)
            #expect(statuses() == allowed)
        }
    }

    @Test func privacyCanBeUnsupported() throws {
        var bench = Bench()
        for id in [bench.join(), bench.joinExtended { $0.resolvingListSize = 0 }] {
            #expect(bench.status(LEReadResolvingListSize(), on: id) == .unknownCommand)
            #expect(bench.status(LEClearResolvingList(), on: id) == .unknownCommand)
            #expect(bench.status(LESetAddressResolutionEnable(enable: false), on: id) == .unknownCommand)
            let features = try bench.ask(LEReadLocalSupportedFeatures(), on: id).value
            #expect(features.isDisjoint(with: [.privacy, .extendedScanningFilterPolicies]))
        }
        var configuration = VirtualController.Configuration()
        configuration.resolvingListSize = 2
        let old = bench.join(configuration)
        #expect(try bench.ask(LEReadResolvingListSize(), on: old).value == 2, "Core Specification 4.2 has it")
        #expect(try bench.ask(LEReadLocalSupportedFeatures(), on: old).value.contains(.privacy))
    }
}
