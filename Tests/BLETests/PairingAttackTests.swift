import BLECore
import GATTServer
import HCI
import HCISocket
import SMP
import Testing
import VirtualController

@testable import BLE

/// Devices that impersonate other devices.
@Suite(.timeLimit(.minutes(10))) struct PairingAttackTests {
    /// Creates a bond between another device, `peer`, and `server`.
    private func bond(of peer: DeviceAddress, with server: DeviceAddress) -> Bond {
        var bond = Bond(
            with: peer, as: server, PairingStrength(isAuthenticated: true, isSecureConnections: false))
        bond.peripheralKey = LongTermKey(0xabcd, ediv: 0x1234, random: 0x5678)
        bond.peerIdentityKey = 0x77
        return bond
    }

    @Test("encryption with the key of a failed pairing grants no security and disconnects")
    func failedPairingKeyGrantsNoSecurity() async throws {
        try await VirtualTestbed.run { bed in
            let store = BondStore()
            var security = SecurityOptions()
            security.bonds = store
            let ports = [
                ControlledPort(await bed.port(), on: bed.loop),
                ControlledPort(await bed.port(), on: bed.loop),
            ]
            let server = try await bed.host("server", on: ports[0], security: security)
            let attacker = try await bed.host("attacker", on: ports[1])
            try await server.serve()
            let events = PeripheralManager(server).events()
            let victim = bond(of: DeviceAddress(0xc0aa_0000_0001, type: .random), with: await server.address)
            try store.insert(victim)
            // The attacker's controller accepts the command to encrypt, and does not execute it.
            ports[1].play { command in
                command.opcode == .leEnableEncryption
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            let device = try await attacker.connect(to: server)
            let pairing = Task(executorPreference: bed.loop) { try await device.pair() }
            await bed.wait(.seconds(5))
            let handle = LinkedHosts.handle
            func requested(_ ediv: UInt16, _ random: UInt64) async -> HCIOpcode? {
                ports[0].forget()
                ports[0].emit(
                    LELongTermKeyRequest(connection: handle, random: random, diversifier: ediv).packet)
                await bed.wait(.seconds(1))
                return ports[0].opcodes.first
            }
            // EDIV and Rand of the victim's key, which are sent unencrypted, and those of the pairing's key.
            #expect(await requested(0x1234, 0x5678) == .leLongTermKeyRequestNegativeReply)
            #expect(await requested(0, 0) == .leLongTermKeyRequestReply)
            await bed.wait(.seconds(31))
            _ = await pairing.result
            ports[0].forget()
            ports[0].emit(EncryptionChange(connection: handle, mode: .on).packet)
            await bed.wait(.seconds(1))
            #expect(ports[0].opcodes.contains(.disconnect))
            var reported: [LinkSecurity] = []
            for try await event in events {
                if case .security(_, let security) = event { reported.append(security) }
                if case .disconnected = event { break }
            }
            #expect(reported == [])
            #expect(store.records(at: await server.address).map(\.bond) == [victim])
        }
    }

    @Test("a peer whose bond key is requested is identified only when that key encrypts the link")
    func namedKeyIdentifiesPeerOnceEncrypted() async throws {
        try await VirtualTestbed.run { bed in
            let store = BondStore()
            var security = SecurityOptions()
            security.bonds = store
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let server = try await bed.host("server", on: port, security: security)
            let other = try await bed.host("other")
            try await server.serve()
            try store.insert(
                bond(of: DeviceAddress(0xc0aa_0000_0001, type: .random), with: await server.address))
            _ = try await other.connect(to: server)
            let handle = LinkedHosts.handle
            port.emit(LELongTermKeyRequest(connection: handle, random: 0x5678, diversifier: 0x1234).packet)
            await bed.wait(.seconds(1))
            #expect(await server.bondsOfLinks == [nil])
            port.emit(EncryptionChange(connection: handle, mode: .on).packet)
            await bed.wait(.seconds(1))
            #expect(await server.bondsOfLinks == [0x77])
            #expect(
                await server.securityOfLinks == [LinkSecurity(level: .authenticated, isBonded: true)])
        }
    }

    @Test(
        "a device that claims a bonded identity replaces the bond only with the user's consent",
        arguments: [false, true])
    func claimedIdentityNeedsConsent(isWanted: Bool) async throws {
        let hidden = PairedHosts.Radio(
            isExtended: true, privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(900)))
        let store = BondStore()
        try await PairedHosts.run(serverRadio: .init(isExtended: true), clientRadio: hidden) { server, _ in
            server.bonds = store
            if isWanted { server.delegate = Willing() }
        } _: { hosts in
            var victim = bond(of: await hosts.client.address, with: hosts.address)
            victim.strength = PairingStrength(isAuthenticated: false, isSecureConnections: false)
            try store.insert(victim)
            let device = try await hosts.connect()
            _ = try await device.pair()
            _ = await hosts.server.loop.sleep(for: .seconds(1))
            let kept = store.records(at: hosts.address).map(\.bond)
            #expect((kept == [victim]) == !isWanted)
            #expect(kept.count == 1)
            if !isWanted {
                #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize", "authorize again"])
            }
            #expect(await hosts.server.securityOfLinks.map(\.isBonded) == [isWanted])
        }
    }

    @Test("an identity claim that the user does not answer leaves the bond unchanged")
    func unansweredClaimKeepsBond() async throws {
        let hidden = PairedHosts.Radio(
            isExtended: true, privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(900)))
        let store = BondStore()
        try await PairedHosts.run(serverRadio: .init(isExtended: true), clientRadio: hidden) { server, _ in
            server.bonds = store
            server.delegate = Hesitant()
        } _: { hosts in
            var victim = bond(of: await hosts.client.address, with: hosts.address)
            victim.strength = PairingStrength(isAuthenticated: false, isSecureConnections: false)
            try store.insert(victim)
            let device = try await hosts.connect()
            _ = try await device.pair()
            // Meanwhile the client pairs once more, which ends its earlier claim.
            _ = await hosts.server.loop.sleep(for: .seconds(1))
            _ = try? await device.pair()
            #expect(await hosts.server.securityOfLinks.map(\.isBonded) == [false])
            _ = await hosts.server.loop.sleep(for: .seconds(31))
            #expect(store.records(at: hosts.address).map(\.bond) == [victim])
            #expect(await hosts.server.securityOfLinks.map(\.isBonded) == [false])
            #expect(await hosts.server.claims == [])
        }
    }

    @Test("encryption with the key of a bond that was just removed makes no bonded link")
    func keyOfRemovedBondMakesNoBondedLink() async throws {
        try await VirtualTestbed.run { bed in
            let store = BondStore()
            var security = SecurityOptions()
            security.bonds = store
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let server = try await bed.host("server", on: port, security: security)
            let other = try await bed.host("other")
            try await server.serve()
            let victim = bond(of: DeviceAddress(0xc0aa_0000_0001, type: .random), with: await server.address)
            try store.insert(victim)
            _ = try await other.connect(to: server)
            let handle = LinkedHosts.handle
            port.emit(LELongTermKeyRequest(connection: handle, random: 0x5678, diversifier: 0x1234).packet)
            await bed.wait(.seconds(1))
            #expect(try await server.removeBond(with: victim.peer))
            port.emit(EncryptionChange(connection: handle, mode: .on).packet)
            await bed.wait(.seconds(1))
            #expect(await server.bondsOfLinks == [nil])
            #expect(await server.securityOfLinks.map(\.isBonded) == [false])
        }
    }

    @Test("a signing key is removed with its bond") func signingKeyIsRemovedWithBond() async throws {
        try await PairedHosts.run { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            let noted = try #require(try await first.discover().characteristics(0xaa04).first)
            await first.disconnect()
            var options = ConnectionOptions()
            options.encryptsIfBonded = false
            let device = try await hosts.connect(options)
            try await device.writeSigned([1], to: noted.valueHandle)
            #expect(try await device.read(noted.valueHandle) == [1])
            try await hosts.server.removeBond(with: hosts.client.address)
            try await device.writeSigned([2], to: noted.valueHandle)
            #expect(try await device.read(noted.valueHandle) == [1])
        }
    }
}

/// A delegate that authorizes every device, also to replace a bonded one.
private struct Willing: PairingDelegate {
    func authorizePairing(with peer: DeviceAddress, isBonded: Bool) async -> Bool { true }
}

/// A delegate that authorizes new devices, and does not answer for those that would replace a bonded one.
private struct Hesitant: PairingDelegate {
    func authorizePairing(with peer: DeviceAddress, isBonded: Bool) async -> Bool {
        guard isBonded else { return true }
        // The stream ends only when the task is cancelled.
        let (never, continuation) = AsyncStream<Void>.makeStream()
        for await _ in never {}
        continuation.finish()
        return true
    }
}

extension Adapter {
    fileprivate var claims: [Bond] { links.compactMap(\.protection.claim) }

    /// The security of each link, oldest first.
    var securityOfLinks: [LinkSecurity] {
        links.map(\.security)
    }

    fileprivate var bondsOfLinks: [UInt128?] { links.map { $0.protection.bond?.peerIdentityKey } }
}
