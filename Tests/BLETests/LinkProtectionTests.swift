import BLECore
import GATTServer
import SMP
import Testing

@testable import BLE

/// Tests of the protection of a link in every order of changes to its encryption, its pairings and its bond.
struct LinkProtectionTests {
    /// Plays every sequence of at most `depth` steps, and calls `look` after each step. A sequence ends when a fault is
    /// found.
    private func everySequence<Play: ProtectionPlay>(
        of depth: Int, _ played: Play, _ steps: [Play.Step] = [], _ look: (Play, [Play.Step]) -> Void
    ) {
        look(played, steps)
        guard depth > 0, played.faults.isEmpty else { return }
        for step in Play.Step.allCases {
            var next = played
            guard next.take(step) || !next.faults.isEmpty else { continue }
            everySequence(of: depth - 1, next, steps + [step], look)
        }
    }

    @Test(
        "in every order of steps a link's security is that of its key, and bonds keep their device",
        arguments: [LinkRole.central, .peripheral], [false, true])
    func securityHoldsInEveryOrder(_ role: LinkRole, _ isBonded: Bool) {
        let beginnings: [[PlayedProtection.Step]] = [
            [], [.pair, .offer, .usePairing, .on], [.pair, .offer, .usePairing, .on, .claims],
            isBonded ? [role == .central ? .useBond : .usePairing, .on] : [],
        ]
        var count = 0
        var failures: [(steps: [PlayedProtection.Step], faults: [String])] = []
        for (beginning, storeRefuses) in beginnings.flatMap({ [($0, false), ($0, true)] }) {
            var played = PlayedProtection(as: role, isBonded: isBonded, storeRefuses: storeRefuses)
            for step in beginning {
                let isTaken = played.take(step)
                #expect(isTaken, "\(step) of \(beginning)")
            }
            everySequence(of: 6, played, beginning) { played, steps in
                count += 1
                if !played.faults.isEmpty { failures.append((steps, played.faults)) }
            }
        }
        #expect(count > 20_000, "\(count)")
        let shortest = failures.min { $0.steps.count < $1.steps.count }
        #expect(shortest == nil, "and \(failures.count) more")
    }

    @Test(
        "in every order of kernel events a link is bonded only with a bond's key",
        arguments: [LinkRole.central, .peripheral], [false, true])
    func kernelSecurityHoldsInEveryOrder(_ role: LinkRole, _ isBonded: Bool) {
        var count = 0
        var failures: [(steps: [PlayedKernelProtection.Step], faults: [String])] = []
        for storeRefuses in [false, true] {
            let played = PlayedKernelProtection(as: role, isBonded: isBonded, storeRefuses: storeRefuses)
            everySequence(of: 6, played) { played, steps in
                count += 1
                if !played.faults.isEmpty { failures.append((steps, played.faults)) }
            }
        }
        #expect(count > 20_000, "\(count)")
        let shortest = failures.min { $0.steps.count < $1.steps.count }
        #expect(shortest == nil, "and \(failures.count) more")
    }
}

extension LinkProtectionTests {
    @Test(
        "a failed kernel pairing removes a link's bond only if it encrypted the link",
        arguments: [false, true])
    func failedKernelPairingKeepsBondUnlessEncrypted(isEncrypted: Bool) {
        var protection = LinkProtection(as: .peripheral, isKernel: true, bond: PlayedProtection.bond(key: 1))
        protection.kernelPairs()
        #expect(!protection.isBonded)
        if isEncrypted { protection.found(LinkSecurity(level: .encrypted)) }
        protection.kernelPairingFailed()
        #expect(protection.isBonded == !isEncrypted)
    }
}

extension LinkProtectionTests {
    @Test("a peer that has only claimed its identity does not get the bond of that identity's owner")
    func claimedIdentityStaysClaimed() {
        let address = DeviceAddress(0x4000_0000_0005, type: .random)
        var known = PlayedProtection.bond(key: 1)
        (known.peerIdentityKey, known.isIdentityClaimed) = (9, true)
        var protection = LinkProtection(as: .peripheral, isKernel: false, bond: known)
        // It distributes no identity this time.
        protection.paired(PlayedProtection.bond(with: address, key: 2), isBonding: true) {
            !$0.isIdentityClaimed
        }
        var kept: [Bond] = []
        while let event = protection.nextEvent() {
            if case .keep(let bond) = event { kept.append(bond) }
        }
        #expect(kept.map(\.id) == [known.id])
    }

    @Test("a peer that distributes no identity keeps the one of its bond, and without a bond is not bonded")
    func pairingWithoutIdentityKeepsBondOfKnownPeer() {
        let address = DeviceAddress(0x4000_0000_0005, type: .random)
        for isBonded in [true, false] {
            var known = PlayedProtection.bond(key: 1)
            known.peerIdentityKey = 9
            var protection = LinkProtection(as: .central, isKernel: false, bond: isBonded ? known : nil)
            let made = PlayedProtection.bond(with: address, key: 2)
            protection.paired(made, isBonding: true, isTaken: { _ in false })
            var kept: [Bond] = []
            while let event = protection.nextEvent() {
                if case .keep(let bond) = event { kept.append(bond) }
            }
            var expected = made
            (expected.peer, expected.peerIdentityKey) = (known.peer, 9)
            #expect(kept == (isBonded ? [expected] : []))
            // A central names its key of LE legacy pairing, whatever its address is.
            var served = LinkProtection(as: .peripheral, isKernel: false, bond: nil)
            var legacy = made
            legacy.strength.isSecureConnections = false
            for bond in [made, legacy] { served.paired(bond, isBonding: true, isTaken: { _ in false }) }
            while let event = served.nextEvent() {
                if case .keep(let bond) = event { #expect(bond == legacy) }
            }
        }
    }
}

/// A simulation that takes steps and finds faults.
private protocol ProtectionPlay {
    associatedtype Step: CaseIterable

    var faults: [String] { get }

    mutating func take(_ step: Step) -> Bool
}

extension PlayedProtection: ProtectionPlay {}
extension PlayedKernelProtection: ProtectionPlay {}
