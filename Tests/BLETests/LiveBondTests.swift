import BLE
import BLECore
import GATTServer
import SMP
import Testing

extension Adapter {
    /// Runs `change` and returns whether a peer is bonded for this adapter then, in the same turn of its loop.
    fileprivate func isBonded(with peer: DeviceAddress, after change: @Sendable () throws -> Void) rethrows
        -> Bool
    {
        try change()
        return isBonded(with: peer)
    }
}

/// Tests of bonds that other processes change while links to their peers are up.
struct LiveBondTests {
    /// Options for links that are not encrypted when they are made.
    private static var plain: ConnectionOptions {
        var options = ConnectionOptions()
        options.encryptsIfBonded = false
        return options
    }

    @Test func removedBondIsUnusableOnOpenLink() async throws {
        let bonds = BondStore()
        try await PairedHosts.run { server, _ in
            server.bonds = bonds
        } _: { hosts in
            let first = try await hosts.connect()
            try await first.pair()
            await first.disconnect()
            let second = try await hosts.connect(Self.plain)
            #expect(bonds.remove(try #require(bonds.records().first).id))
            _ = await hosts.server.loop.sleep(for: .seconds(1))
            let lost = await failure { () throws(BLEError) in _ = try await second.pair() }
            #expect(lost == .bondLost(hosts.address))
        }
    }

    @Test("changes of the store count from the next turn of the adapter's loop")
    func changesCountFromNextTurn() async throws {
        let bonds = BondStore()
        try await PairedHosts.run { server, _ in
            server.bonds = bonds
        } _: { hosts in
            let (server, peer) = (hosts.server, await hosts.client.address)
            let bond = Bond.sample(with: peer, as: hosts.address)
            let isBonded = try await server.isBonded(with: peer) { try bonds.insert(bond) }
            #expect(!isBonded)
            #expect(await server.isBonded(with: peer))
            #expect(await server.isBonded(with: peer) { bonds.remove(bond.id) })
            #expect(await !server.isBonded(with: peer))
        }
    }

    @Test func insertedBondIsUsedOnOpenLink() async throws {
        let stores = (BondStore(), BondStore())
        try await PairedHosts.run { server, client in
            (server.bonds, client.bonds) = stores
        } _: { hosts in
            let device = try await hosts.connect(Self.plain)
            // Neither side has an input or a display, so only a bond can provide this level of security.
            let (here, there) = (await hosts.client.address, hosts.address)
            try stores.0.insert(.sample(with: here, as: there))
            try stores.1.insert(.sample(with: there, as: here))
            _ = await hosts.server.loop.sleep(for: .seconds(1))
            #expect(
                try await device.pair(.secureConnections)
                    == LinkSecurity(level: .secureConnections, isBonded: true))
            #expect(try await hosts.read(0xaa03, of: device) == [3])
        }
    }

    /// A key of LE legacy pairing has an identifier (EDIV and Rand), which identifies a central whose address does not.
    @Test func centralIsIdentifiedByItsLegacyKey() async throws {
        let stores = (BondStore(), BondStore())
        try await PairedHosts.run { server, client in
            (server.bonds, client.bonds) = stores
        } _: { hosts in
            let (here, there) = (await hosts.client.address, hosts.address)
            let elsewhere = DeviceAddress(0xc0ff_ee00_0001, type: .random)
            var theirs = Bond.sample(with: there, as: here)
            theirs.centralKey = LongTermKey(7, ediv: 0x1234, random: 0x5678)
            var ours = Bond.sample(with: elsewhere, as: there)
            ours.peripheralKey = theirs.centralKey
            try stores.0.insert(ours)
            try stores.1.insert(theirs)
            let events = PeripheralManager(hosts.server).events()
            let device = try await hosts.connect()
            #expect(try await device.security == LinkSecurity(level: .secureConnections, isBonded: true))
            for try await event in events {
                guard case .security(let central, let security) = event else { continue }
                #expect(central.address == here)
                #expect(security == LinkSecurity(level: .secureConnections, isBonded: true))
                break
            }
        }
    }

    /// A third device can send packets on a link that is not encrypted yet.
    @Test func valueBeforeEncryptionIsNotDelivered() async throws {
        let stores = (BondStore(), BondStore())
        try await PairedHosts.run { server, client in
            (server.bonds, client.bonds) = stores
        } _: { hosts in
            let (here, there) = (await hosts.client.address, hosts.address)
            try stores.0.insert(.sample(with: here, as: there))
            try stores.1.insert(.sample(with: there, as: here))
            let port = hosts.clientPort
            // Values of all attributes that the server may have.
            let notify: @Sendable (UInt8) -> Void = { value in
                for handle: UInt8 in 1...30 {
                    let frame = L2CAPFrame(.att, [0x1b, handle, 0, value])
                    port.emit(
                        .acl(
                            ACLPacket(
                                handle: LinkedHosts.handle, boundary: .firstFlushable, data: frame.encoded)))
                }
            }
            port.play { command in
                if command.opcode == .leEnableEncryption { notify(1) }
                return nil
            }
            let device = try await hosts.connect()
            #expect(try await device.security.isBonded)
            notify(2)
            let found = try #require(try await device.discover().characteristics(0xaa00).first)
            var values = try await device.values(of: found).makeAsyncIterator()
            #expect(try await values.next()?.value == [2])
        }
    }

    /// A stranger that has paired behind a private address can have claimed the address of another device.
    @Test(arguments: [false, true]) func claimedIdentityDoesNotBlockOwnerOfAddress(isOnServer: Bool)
        async throws
    {
        let stores = (BondStore(), BondStore())
        try await PairedHosts.run { server, client in
            (server.bonds, client.bonds) = stores
        } _: { hosts in
            let (here, there) = (await hosts.client.address, hosts.address)
            let (store, peer, local) = isOnServer ? (stores.0, here, there) : (stores.1, there, here)
            // The owner's bond has to be as strong as the one that has claimed the address.
            var claimed = Bond.sample(with: peer, as: local, isAuthenticated: false)
            claimed.isIdentityClaimed = true
            claimed.peerIdentityKey = 7
            try store.insert(claimed)
            if !isOnServer {
                // The user may mean the device that has claimed the address, so nothing is sent without the key.
                await #expect(throws: BLEError.bondLost(there)) { try await hosts.connect() }
            }
            let device = try await hosts.connect(Self.plain)
            #expect(try await device.pair().isBonded)
            #expect(store.record(claimed.id)?.bond == claimed)
            #expect(store.record(BondID(peer, at: local)) != nil)
            await device.disconnect()
            // The device is recognized by its own bond from now on.
            #expect(try await hosts.connect().security.isBonded)
        }
    }

    @Test func linkToBondedPeerThatCannotEncryptIsUsedOnRequestOnly() async throws {
        let bonds = BondStore()
        try await PairedHosts.run(serverRadio: .init(encrypts: false)) { _, client in
            client.bonds = bonds
        } _: { hosts in
            try bonds.insert(.sample(with: hosts.address, as: await hosts.client.address))
            await #expect(throws: BLEError.encryption(.unsupportedRemoteFeature)) {
                try await hosts.connect()
            }
            var plain = ConnectionOptions()
            plain.encryptsIfBonded = false
            let device = try await hosts.connect(to: nil, plain)
            #expect(try await device.security == .none)
            #expect(try await hosts.read(0xaa00, of: device) == [0])
            let refused = await failure { () throws(BLEError) in _ = try await device.pair() }
            #expect(refused == .encryption(.unsupportedRemoteFeature))
        }
    }
}

extension Bond {
    /// A bond of LE Secure Connections whose key is 9, with a passkey.
    fileprivate static func sample(
        with peer: DeviceAddress, as local: DeviceAddress, isAuthenticated: Bool = true
    ) -> Bond {
        let strength = PairingStrength(isAuthenticated: isAuthenticated, isSecureConnections: true)
        var bond = Bond(with: peer, as: local, strength)
        bond.centralKey = LongTermKey(9)
        bond.peripheralKey = LongTermKey(9)
        return bond
    }
}
