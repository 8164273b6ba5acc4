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
    /// What the last of some events makes; nothing before it may make anything.
    fileprivate mutating func last(of events: [ManagementEvent]) -> Pairing? {
        for event in events.dropLast() { #expect(take(event, as: local, at: start) == nil) }
        return events.last.flatMap { take($0, as: local, at: start) }
    }
}

struct KernelKeyringTests {
    @Test("LE Secure Connections: one key for both roles, and all that came before it")
    func secureConnections() {
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

    @Test("LE legacy pairing: a key for each role, the second completes the bond")
    func legacy() {
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

    @Test("a second pairing on the same link, and one on the next, begin with no keys")
    func again() {
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

    /// How a pairing ends whose device tells who it is, though nothing resolves its address.
    private func link(
        after events: [(second: Int, ManagementEvent)], isAsking: Bool = true, links: [DeviceAddress] = [],
    ) -> DeviceAddress? {
        var keyring = KernelKeyring()
        keyring.isAsking = isAsking
        let all =
            events + [
                (
                    60,
                    .newIdentityKey(Management.IdentityKey(peer: lamp, value: 1), resolved: nil, isKept: true)
                ),
                (60, .newLongTermKey(key(.authenticatedP256, 4), isKept: true)),
            ]
        var made: KernelKeyring.Pairing?
        for (second, event) in all {
            made = keyring.take(
                event, as: local, with: links, at: start.advanced(by: .seconds(second)))
        }
        return made?.link
    }

    private func asks(_ peer: DeviceAddress) -> ManagementEvent {
        .confirmationRequest(peer, isPlain: true, value: 0)
    }

    @Test("the link that pairs as a device is the only one that can be that and is pairing")
    func certainLink() {
        #expect(link(after: [(50, asks(lamp))]) == lamp)
        #expect(link(after: [(50, asks(unresolvable))]) == unresolvable)
        #expect(link(after: [(50, asks(lamp)), (51, asks(private1))]) == lamp)
        #expect(link(after: [(50, asks(lamp)), (51, asks(unresolvable))]) == nil)
        #expect(link(after: []) == nil)
        // What has ended is no candidate.
        let failed = ManagementEvent.authenticationFailed(unresolvable, .authenticationFailed)
        #expect(link(after: [(50, asks(unresolvable)), (50, failed), (51, asks(lamp))]) == lamp)
        let gone = ManagementEvent.disconnected(unresolvable, reason: 1)
        #expect(link(after: [(50, asks(unresolvable)), (50, gone), (51, asks(lamp))]) == lamp)
        #expect(link(after: [(0, asks(unresolvable)), (51, asks(lamp))]) == lamp)
        // One that has said so before.
        let before = ManagementEvent.newIdentityKey(
            Management.IdentityKey(peer: lamp, value: 1), resolved: private1, isKept: true)
        #expect(link(after: [(50, before), (51, asks(lamp))]) == lamp)
    }

    @Test("where the kernel asks nothing, a pairing is on the link to that device, unless another can be it")
    func unaskedLink() {
        #expect(link(after: [], isAsking: false, links: [private1, lamp]) == lamp)
        #expect(link(after: [], isAsking: false, links: [unresolvable, lamp]) == nil)
        #expect(link(after: [], isAsking: false, links: [unresolvable]) == nil)
    }

    @Test("keys without an identity key have the name of their own link")
    func withoutIdentity() {
        var keyring = KernelKeyring()
        keyring.isAsking = true
        let made = keyring.last(of: [.newLongTermKey(key(.authenticatedP256, 4), isKept: true)])
        #expect(made?.link == lamp)
    }

    @Test("a debug key makes no bond")
    func debug() {
        var keyring = KernelKeyring()
        #expect(keyring.last(of: [.newLongTermKey(key(.debugP256, 4), isKept: true)]) == nil)
    }

    @Test("a bond that the kernel would refuse, and with it all others, is not loaded")
    func unloadable() {
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
