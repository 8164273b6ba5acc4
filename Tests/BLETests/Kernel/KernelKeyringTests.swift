import BLECore
import HCISocket
import SMP
import Testing

@testable import BLE

private let local = DeviceAddress(0x0001, type: .public)
private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let start = Instant(nanoseconds: 0)
private let unresolvable = DeviceAddress(0x0922_11cc_bbaa, type: .random)
private let private1 = DeviceAddress(0x4422_11cc_bbaa, type: .random)

private func key(
    _ kind: Management.LongTermKey.Kind, _ value: UInt128, isForCentral: Bool = false, ediv: UInt16 = 0
) -> Management.LongTermKey {
    Management.LongTermKey(
        peer: lamp, kind: kind, isForCentral: isForCentral, ediv: ediv, random: UInt64(ediv) * 3, value: value
    )
}

private func identity(_ value: UInt128) -> ManagementEvent {
    .newIdentityKey(Management.IdentityKey(peer: lamp, value: value), resolved: private1, isKept: true)
}

private func signing(isLocal: Bool, _ value: UInt128) -> ManagementEvent {
    .newSigningKey(
        Management.SigningKey(peer: lamp, isLocal: isLocal, isAuthenticated: true, value: value), isKept: true
    )
}

extension KernelKeyring {
    /// Returns the pairing that the last of some events produces. Checks that no earlier event produces one.
    fileprivate mutating func last(of events: [ManagementEvent]) -> Pairing? {
        for event in events.dropLast() { #expect(take(event, as: local, with: [private1], at: start) == nil) }
        return events.last.flatMap { take($0, as: local, with: [private1], at: start) }
    }
}

struct KernelKeyringTests {
    @Test("LE Secure Connections yield one key for both roles, with the earlier keys of the pairing")
    func secureConnectionsYieldOneKeyForBothRoles() {
        var keyring = KernelKeyring()
        let made = keyring.last(of: [
            identity(1), signing(isLocal: false, 2), signing(isLocal: true, 3),
            .newLongTermKey(key(.authenticatedP256, 4), isKept: true),
        ])
        var bond = Bond(
            with: lamp, as: local, PairingStrength(isAuthenticated: true, isSecureConnections: true))
        bond.centralKey = LongTermKey(4)
        bond.peripheralKey = LongTermKey(4)
        (bond.peerIdentityKey, bond.peerSigningKey, bond.localSigningKey) = (1, 2, 3)
        #expect(made == KernelKeyring.Pairing(bond: bond, isKept: true, link: private1))
        #expect(bond.kernelKeys == [key(.authenticatedP256, 4)])
        #expect(bond.kernelIdentityKey == Management.IdentityKey(peer: lamp, value: 1))
    }

    @Test("LE legacy pairing yields a key for each role, and the second completes the bond")
    func legacyPairingYieldsKeyForEachRole() {
        var keyring = KernelKeyring()
        let first = key(.unauthenticated, 5, isForCentral: true, ediv: 7)
        let second = key(.unauthenticated, 6, ediv: 8)
        var bond = Bond(
            with: lamp, as: local, PairingStrength(isAuthenticated: false, isSecureConnections: false))
        bond.centralKey = LongTermKey(5, ediv: 7, random: 21)
        #expect(keyring.last(of: [.newLongTermKey(first, isKept: true)])?.bond == bond)
        bond.peripheralKey = LongTermKey(6, ediv: 8, random: 24)
        #expect(keyring.last(of: [.newLongTermKey(second, isKept: true)])?.bond == bond)
        #expect(bond.kernelKeys == [first, second])
        #expect(bond.kernelIdentityKey == nil)
    }

    @Test("a second pairing on the same link or on the next starts without keys")
    func laterPairingStartsWithoutKeys() {
        var keyring = KernelKeyring()
        _ = keyring.last(of: [
            identity(1), signing(isLocal: true, 3), .newLongTermKey(key(.authenticatedP256, 4), isKept: true),
        ])
        let second = keyring.last(of: [
            signing(isLocal: true, 9), .newLongTermKey(key(.unauthenticatedP256, 10), isKept: false),
        ])
        #expect(second?.bond.peerIdentityKey == nil)
        #expect(second?.bond.localSigningKey == 9)
        #expect(second?.bond.centralKey == LongTermKey(10))
        #expect(second?.bond.strength.isAuthenticated == false)
        #expect(second?.isKept == false)
        let third = keyring.last(of: [
            .disconnected(lamp, reason: 1), .newLongTermKey(key(.unauthenticatedP256, 11), isKept: true),
        ])
        #expect(third?.bond.localSigningKey == nil)
    }

    /// Returns the link to which a pairing is attributed. Its device sends its identity, but its address cannot
    /// be resolved.
    private func link(
        after events: [(second: Int, ManagementEvent)]
    ) -> DeviceAddress? {
        var keyring = KernelKeyring()
        let all =
            events + [
                (
                    120,
                    .newIdentityKey(Management.IdentityKey(peer: lamp, value: 1), resolved: nil, isKept: true)
                ),
                (120, .newLongTermKey(key(.authenticatedP256, 4), isKept: true)),
            ]
        var made: KernelKeyring.Pairing?
        for (second, event) in all {
            made = keyring.take(
                event, as: local, with: [private1, lamp, unresolvable],
                at: start.advanced(by: .seconds(second)))
        }
        return made?.link
    }

    private func asks(_ peer: DeviceAddress) -> ManagementEvent {
        .confirmationRequest(peer, isPlain: true, value: 0)
    }

    @Test("a pairing is attributed to a link only if no other link can be the device")
    func onlyCandidateLinkIsPairing() {
        #expect(link(after: [(110, asks(lamp))]) == lamp)
        #expect(link(after: [(110, asks(unresolvable))]) == unresolvable)
        #expect(link(after: [(110, asks(lamp)), (111, asks(private1))]) == lamp)
        #expect(link(after: [(110, asks(lamp)), (111, asks(unresolvable))]) == nil)
        #expect(link(after: []) == nil)
        // A link whose pairing has failed or timed out, or which has ended, is no candidate.
        let failed = ManagementEvent.authenticationFailed(unresolvable, .authenticationFailed)
        #expect(link(after: [(110, asks(unresolvable)), (110, failed), (111, asks(lamp))]) == lamp)
        let gone = ManagementEvent.disconnected(unresolvable, reason: 1)
        #expect(link(after: [(110, asks(unresolvable)), (110, gone), (111, asks(lamp))]) == lamp)
        #expect(link(after: [(0, asks(unresolvable)), (111, asks(lamp))]) == lamp)
        // A device that has sent its identity before pairs under that identity.
        let before = ManagementEvent.newIdentityKey(
            Management.IdentityKey(peer: lamp, value: 1), resolved: private1, isKept: true)
        #expect(link(after: [(110, before), (111, asks(lamp))]) == lamp)
    }

    @Test("keys without an identity key belong to their own link")
    func keysWithoutIdentityBelongToTheirLink() {
        var keyring = KernelKeyring()
        let made = keyring.last(of: [.newLongTermKey(key(.authenticatedP256, 4), isKept: true)])
        #expect(made?.link == lamp)
    }

    @Test(
        "an identity without an encryption key is not attributed to the next pairing"
    )
    func identityWithoutKeyIsNotAttributed() {
        let isLater: [ManagementEvent] = [
            asks(lamp), .newLongTermKey(key(.authenticatedP256, 4), isKept: true),
        ]
        var keyring = KernelKeyring()
        let asked = keyring.last(of: [identity(1)] + isLater)
        #expect(asked?.link == lamp)
        #expect(asked?.bond.peerIdentityKey == nil)
        // An out-of-band pairing causes no question.
        keyring = KernelKeyring()
        #expect(keyring.last(of: [identity(1)]) == nil)
        let made = keyring.take(isLater[1], as: local, with: [], at: start.advanced(by: .seconds(5)))
        #expect(made?.link == lamp)
        #expect(made?.bond.peerIdentityKey == nil)
    }

    @Test("keys of an ambiguous device end no other pairing")
    func ambiguousKeysEndNoPairing() {
        var keyring = KernelKeyring()
        let reported = ManagementEvent.newIdentityKey(
            Management.IdentityKey(peer: lamp, value: 1), resolved: nil, isKept: true)
        let made = keyring.last(of: [
            asks(unresolvable), asks(lamp), reported,
            .newLongTermKey(key(.unauthenticatedP256, 4), isKept: true),
        ])
        #expect(made?.link == nil)
        #expect(keyring.isPairing(lamp, at: start))
        #expect(keyring.isPairing(unresolvable, at: start))
    }

    @Test("a device that has sent its identity is identified as long as its link exists")
    func identityLastsAsLongAsLink() {
        var keyring = KernelKeyring()
        #expect(keyring.last(of: [identity(1), .disconnected(lamp, reason: 1)]) == nil)
        #expect(keyring.identity(of: private1) == lamp)
        keyring.forget(private1)
        #expect(keyring.identity(of: private1) == private1)
        // The identities of other programs' links are not kept, because their ends are not noted here.
        _ = keyring.take(identity(1), as: local, with: [], at: start)
        #expect(keyring.identity(of: private1) == private1)
    }

    @Test("an encrypted pairing has 30 s for its keys and ends with a debug key")
    func encryptedPairingHas30SecondsForKeys() {
        var keyring = KernelKeyring()
        #expect(keyring.last(of: [asks(lamp)]) == nil)
        #expect(keyring.quiet(after: start) == start.advanced(by: .seconds(120)))
        keyring.encrypted(lamp, at: start.advanced(by: .seconds(1)))
        #expect(keyring.quiet(after: start) == start.advanced(by: .seconds(31)))
        #expect(keyring.last(of: [.newLongTermKey(key(.debugP256, 4), isKept: false)]) == nil)
        #expect(keyring.quiet(after: start) == nil)
    }

    @Test("a debug key makes no bond")
    func debugKeyMakesNoBond() {
        var keyring = KernelKeyring()
        #expect(keyring.last(of: [.newLongTermKey(key(.debugP256, 4), isKept: true)]) == nil)
    }

    @Test("a bond that the kernel would refuse has no keys to load")
    func unloadableBondHasNoKernelKeys() {
        let strength = PairingStrength(isAuthenticated: false, isSecureConnections: true)
        var changing = Bond(with: private1, as: local, strength)
        changing.centralKey = LongTermKey(1)
        changing.peerIdentityKey = 2
        #expect(changing.kernelKeys == [])
        #expect(changing.kernelIdentityKey == nil)
        var short = Bond(with: lamp, as: local, strength)
        short.centralKey = LongTermKey(1, size: 6)
        #expect(short.kernelKeys == [])
        short.peripheralKey = LongTermKey(1, size: 7)
        #expect(short.kernelKeys == [])
        short.centralKey = nil
        #expect(short.kernelKeys.map(\.size) == [7])
    }
}
