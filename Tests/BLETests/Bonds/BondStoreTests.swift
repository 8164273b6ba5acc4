import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import HCISocket
import SMP
import Testing

struct BondStoreTests {
    let store = BondStore { SampleBonds.noon }

    @Test("a bond is found by the peer's identity and has its creation time")
    func findsBondByIdentity() throws {
        try store.insert(SampleBonds.bond(), name: "Phone")
        let record = try #require(store.record(SampleBonds.id))
        #expect(record.bond == SampleBonds.bond())
        #expect(record.name == "Phone")
        #expect(record.created == SampleBonds.noon && record.lastUsed == SampleBonds.noon)
        #expect(store.records().map(\.id) == [SampleBonds.id])
        // The same bits with the other address type are another device. Another identity of this host has no bond.
        let twin = DeviceAddress(SampleBonds.peer.value, type: .public)
        #expect(store.record(BondID(twin, at: SampleBonds.local)) == nil)
        #expect(store.record(BondID(SampleBonds.peer, at: twin)) == nil)
        #expect(store.records(at: twin).isEmpty)
    }

    // Core Specification 5.4, Vol 3, Part H, D.7: ah of 708194 under this key is 0dfbaa.
    private static let key: UInt128 = 0xec02_34a3_57c8_ad05_3410_10a6_0a39_7d9b
    private static let address = DeviceAddress(0x7081_940d_fbaa, type: .random)

    @Test("a bond is found by a resolvable address while its identity key is stored")
    func findsBondByResolvableAddress() throws {
        #expect(store.record(behind: Self.address, at: SampleBonds.local) == nil)
        for bond in SampleBonds.many(20) { try store.insert(bond) }
        // A lookup that finds nothing is remembered until a key is added.
        #expect(store.record(behind: Self.address, at: SampleBonds.local) == nil)
        #expect(store.record(behind: Self.address, at: SampleBonds.local) == nil)
        var bond = SampleBonds.bond()
        bond.peerIdentityKey = Self.key
        try store.insert(bond)
        for _ in 1...2 {
            #expect(store.record(behind: Self.address, at: SampleBonds.local)?.id == SampleBonds.id)
        }
        #expect(store.record(behind: SampleBonds.peer, at: SampleBonds.local)?.id == SampleBonds.id)
        let other = DeviceAddress(0x7081_940d_fbab, type: .random)
        #expect(store.record(behind: other, at: SampleBonds.local) == nil)
        // The same bits as a public address are no resolvable address.
        let twin = DeviceAddress(Self.address.value, type: .public)
        #expect(store.record(behind: twin, at: SampleBonds.local) == nil)
        store.remove(SampleBonds.id)
        #expect(store.record(behind: Self.address, at: SampleBonds.local) == nil)
    }

    @Test("an identity key of zero resolves no address")
    func zeroKeyResolvesNoAddress() throws {
        var bond = SampleBonds.bond()
        bond.peerIdentityKey = 0
        try store.insert(bond)
        let address = DeviceAddress.resolvable(0x12_3456, key: AES128(key: 0))
        #expect(store.record(behind: address, at: SampleBonds.local) == nil)
    }

    @Test("each of many peers is found by its address, even after half of them are removed")
    func findsEachOfManyKeys() throws {
        let bonds = SampleBonds.many(200)
        for bond in bonds { try store.insert(bond) }
        func found(_ bond: Bond) -> DeviceAddress? {
            let key = AES128(key: bond.peerIdentityKey ?? 0)
            let address = DeviceAddress.resolvable(UInt32(truncatingIfNeeded: bond.peer.value), key: key)
            return store.record(behind: address, at: SampleBonds.local)?.bond.peer
        }
        for bond in bonds { #expect(found(bond) == bond.peer) }
        for (index, bond) in bonds.enumerated() where index.isMultiple(of: 2) { store.remove(bond.id) }
        for (index, bond) in bonds.enumerated() {
            #expect(found(bond) == (index.isMultiple(of: 2) ? nil : bond.peer))
        }
    }

    @Test("a legacy pairing key is found by its EDIV and random number; Secure Connections keys have none")
    func findsLegacyKeyByEDIVAndRandom() {
        var table = BondTable()
        table.put(BondRecord(SampleBonds.bond(key: 5), created: SampleBonds.noon))
        let found = table.record(ediv: 5, random: 99, at: SampleBonds.local)
        #expect(found?.bond.peripheralKey?.value == UInt128(5) << 64 | 0xf)
        // The key of the peer's own peripheral role is not found.
        let peers = table.record(ediv: 0x1234, random: 0x0102_0304_0506_0708, at: SampleBonds.local)
        #expect(peers == nil)
        #expect(table.record(ediv: 5, random: 98, at: SampleBonds.local) == nil)
        // A new pairing has another EDIV.
        table.put(BondRecord(SampleBonds.bond(key: 6), created: SampleBonds.noon))
        #expect(table.record(ediv: 5, random: 99, at: SampleBonds.local) == nil)
        #expect(table.record(ediv: 6, random: 99, at: SampleBonds.local) != nil)

        var secure = SampleBonds.bond(with: .randomStatic(7))
        secure.peripheralKey = LongTermKey(7)
        table.put(BondRecord(secure, created: SampleBonds.noon))
        #expect(table.record(ediv: 0, random: 0, at: SampleBonds.local) == nil)
    }

    @Test("a new pairing drops subscriptions and the database, and keeps the name")
    func newPairingResetsBondData() async throws {
        try store.insert(SampleBonds.bond(), name: "Phone")
        store.update(SampleBonds.id) { $0.client = SampleBonds.client }
        store.keep(CachedDatabase(SampleBonds.database), of: SampleBonds.id)
        try store.insert(SampleBonds.bond(key: 2))
        #expect(try await store.database(of: SampleBonds.id) == nil)
        let record = try #require(store.record(SampleBonds.id))
        #expect(record.bond == SampleBonds.bond(key: 2))
        #expect(record.name == "Phone")
        #expect(record.client.configurations.isEmpty)
        #expect(record.client.signCounter == 0)
    }

    @Test("further keys of the same pairing change nothing else")
    func furtherKeysKeepBondData() async throws {
        let clock = Lock(SampleBonds.noon)
        let store = BondStore { clock.withLock { $0 } }
        var bond = SampleBonds.bond()
        bond.peerIdentityKey = nil
        bond.localSigningKey = nil
        try store.insert(bond, name: "Phone")
        store.update(SampleBonds.id) { $0.client = SampleBonds.client }
        clock.withLock { $0.milliseconds += 1000 }
        try store.insert(SampleBonds.bond())
        let record = try #require(store.record(SampleBonds.id))
        #expect(record.bond == SampleBonds.bond())
        #expect(record.created == SampleBonds.noon && record.name == "Phone")
        #expect(record.client == SampleBonds.client)
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 0)
        // Without such keys, a bond does not show that it is of the same pairing.
        let strength = PairingStrength(isAuthenticated: false, isSecureConnections: false)
        let bare = Bond(with: SampleBonds.peer, as: SampleBonds.local, strength)
        try store.insert(bare)
        store.update(SampleBonds.id) { $0.client = SampleBonds.client }
        try store.insert(bare)
        #expect(store.record(SampleBonds.id)?.client.configurations.isEmpty == true)
    }

    @Test("an unchanged signing key keeps its counters")
    func sameSigningKeyKeepsCounters() async throws {
        try store.insert(SampleBonds.bond())
        store.update(SampleBonds.id) { $0.client.signCounter = 7 }
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 0)
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 1)
        var bond = SampleBonds.bond()
        bond.centralKey = LongTermKey(42)
        try store.insert(bond)
        #expect(store.record(SampleBonds.id)?.client.signCounter == 7)
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 2)
        // Another key begins at zero.
        bond.localSigningKey = 43
        try store.insert(bond)
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 0)
    }

    @Test("no counter is returned twice to concurrent callers, and none without a bond")
    func countersAreUnique() async throws {
        try store.insert(SampleBonds.bond())
        let taken = await withTaskGroup(of: [UInt32].self) { group in
            for _ in 1...4 {
                group.addTask { [store] in
                    var taken: [UInt32] = []
                    for _ in 1...100 {
                        if let next = try? await store.takeSignCounter(of: SampleBonds.id) {
                            taken.append(next)
                        }
                    }
                    return taken
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.sorted() == Array(0..<400))
        store.remove(SampleBonds.id)
        let problem = await failure { () throws(BLEError) in
            _ = try await store.takeSignCounter(of: SampleBonds.id)
        }
        #expect(problem == .notFound(.bond(SampleBonds.id)))
    }

    @Test("changes are reported, and removing a bond removes all its data")
    func changesAreReported() async throws {
        var changes = store.changes().makeAsyncIterator()
        try store.insert(SampleBonds.bond())
        #expect(try await changes.next() == BondChange(added: [SampleBonds.id]))
        store.keep(CachedDatabase(SampleBonds.database, isBonded: true), of: SampleBonds.id)
        #expect(try await store.database(of: SampleBonds.id)?.database == SampleBonds.database)
        // A change that is not about keys is not reported.
        store.noteUse(SampleBonds.id)
        #expect(store.remove(SampleBonds.id))
        #expect(try await changes.next() == BondChange(removed: [SampleBonds.id]))
        #expect(!store.remove(SampleBonds.id))
        #expect(store.record(SampleBonds.id) == nil)
        #expect(try await store.database(of: SampleBonds.id) == nil)
        #expect(!store.update(SampleBonds.id) { $0.name = "absent" })
        store.keep(CachedDatabase(SampleBonds.database), of: SampleBonds.id)
        #expect(try await store.database(of: SampleBonds.id) == nil)
    }

    @Test("a follower is notified of each change at its identity, and takes them together")
    func followerTakesChanges() throws {
        let notifications = Lock(0)
        let bonds = SampleBonds.many(3)
        let (first, second, third) = (bonds[0], bonds[1], bonds[2])
        try store.insert(first)
        let follower = BondFollower(store, at: SampleBonds.local) { notifications.withLock { $0 += 1 } }
        let other = BondFollower(store, at: SampleBonds.peer) { Issue.record("another identity") }
        defer { withExtendedLifetime(other) {} }
        #expect(follower.takeChanges().map(\.record?.bond) == [first] && other.takeChanges().isEmpty)
        #expect(notifications.withLock { $0 } == 0)
        try store.insert(third)
        try store.insert(second)
        store.update(third.id) { $0.name = "third" }
        store.remove(first.id)
        #expect(notifications.withLock { $0 } == 4)
        let changes = follower.takeChanges()
        #expect(changes.map(\.id) == [first, second, third].map(\.id).sorted())
        #expect(changes.filter(\.wasRemoved).map(\.id) == [first.id])
        #expect(changes.first { $0.id == first.id }?.record == nil)
        #expect(changes.first { $0.id == third.id }?.record?.name == "third")
        #expect(follower.takeChanges().isEmpty)
        #expect(!store.remove(first.id) && store.update(second.id) { _ in })
        #expect(notifications.withLock { $0 } == 4, "nothing has changed")
        store.remove(second.id)
        try store.insert(second)
        let again = follower.takeChanges()
        #expect(again.map(\.record?.bond) == [second] && again.map(\.wasRemoved) == [true])
    }

    @Test("a watcher that consumes nothing overflows, and the store continues")
    func slowWatcherOverflows() async throws {
        let lazy = store.changes()
        for bond in SampleBonds.many(1025) { try store.insert(bond) }
        #expect(store.records().count == 1025)
        let problem = await failure { () throws(BLEError) in for try await _ in lazy {} }
        #expect(problem == .overflow(.values(1024)))
    }

    @Test("a full store refuses new bonds but allows replacing one")
    func storeLimitAllowsReplacement() throws {
        for bond in SampleBonds.many(BondStore.limit) { try store.insert(bond) }
        #expect(throws: BLEError.limit(.bonds, maximum: 16_384, value: 16_385)) {
            try store.insert(SampleBonds.bond())
        }
        #expect(store.record(SampleBonds.id) == nil && !store.hasRoom)
        try store.insert(SampleBonds.bond(with: .randomStatic(1), key: 77))
    }

    /// Any device in range can make such bonds, with ever new addresses.
    @Test("a full store removes the newest bond without authentication that was never used again")
    func fullStoreRemovesBondOfStranger() throws {
        let time = Lock(SampleBonds.noon)
        func advance(milliseconds: Int64) { time.withLock { $0.milliseconds += milliseconds } }
        let store = BondStore(clock: { time.withLock { $0 } })
        var bonds = SampleBonds.many(BondStore.limit)
        for index in 0..<3 {
            bonds[index].strength.isAuthenticated = false
            advance(milliseconds: 1)
        }
        for bond in bonds { try store.insert(bond) }
        store.update(bonds[0].id) { $0.lastUsed.milliseconds += 60_000 }
        #expect(!store.hasRoom, "the links that made the bonds may still exist")
        advance(milliseconds: 600_001)
        #expect(store.hasRoom)
        try store.insert(SampleBonds.bond())
        #expect(store.record(bonds[2].id) == nil)
        #expect(store.record(bonds[0].id) != nil && store.record(bonds[1].id) != nil)
        #expect(store.record(SampleBonds.id) != nil && store.records().count == BondStore.limit)
    }

    @Test("an identity is created once for each address")
    func identityIsCreatedOncePerAddress() async throws {
        #expect(store.knownIdentity(at: SampleBonds.local) == nil)
        let made = try await store.identity(at: SampleBonds.local)
        #expect(made.address == SampleBonds.local && made.identityKey != 0)
        #expect(try await store.identity(at: SampleBonds.local) == made)
        #expect(store.knownIdentity(at: SampleBonds.local) == made)
        #expect(try await store.identity(at: SampleBonds.peer).identityKey != made.identityKey)
        let address = try await store.staticAddress(of: "serial:/dev/ttyACM0")
        #expect(address.kind == .static)
        #expect(try await store.staticAddress(of: "serial:/dev/ttyACM0") == address)
        #expect(try await store.staticAddress(of: "serial:/dev/ttyACM1") != address)
    }
}

struct BondExportTests {
    @Test("an import keeps the later of two pairings and an existing identity")
    func importKeepsLaterPairing() async throws {
        let early = BondStore { SampleBonds.noon }
        let late = BondStore { Timestamp(milliseconds: SampleBonds.noon.milliseconds + 1) }
        try early.insert(SampleBonds.bond(key: 1))
        try late.insert(SampleBonds.bond(key: 2))
        try early.insert(SampleBonds.many(1)[0])
        let (mine, theirs) = (
            try await early.identity(at: SampleBonds.local), try await late.identity(at: SampleBonds.local)
        )
        #expect(mine != theirs)
        let old = early.export(early.records())
        let result = try await late.takeIn(old)
        #expect(result.imported == [SampleBonds.many(1)[0].id])
        #expect(result.older == [SampleBonds.id])
        #expect(result.identities.isEmpty && result.otherIdentities == [SampleBonds.local])
        #expect(late.record(SampleBonds.id)?.bond == SampleBonds.bond(key: 2))
        #expect(late.knownIdentity(at: SampleBonds.local) == theirs)

        let new = late.export(late.records())
        #expect(try await early.takeIn(new).imported.count == 2)
        #expect(early.records().map(\.bond) == late.records().map(\.bond))
    }

    @Test("importing an export of the same pairing keeps data stored since then")
    func importOfSamePairingKeepsNewerData() async throws {
        let store = BondStore { SampleBonds.noon }
        try store.insert(SampleBonds.bond(key: 1))
        let old = store.export(store.records())
        store.update(SampleBonds.id) {
            $0.client.configurations[AttributeHandle(rawValue: 0x0012)] = .notify
            $0.name = "Lamp"
        }
        let kept = store.records()
        #expect(try await store.takeIn(old).imported == [SampleBonds.id])
        #expect(store.records() == kept)
    }

    @Test("an import of a removed bond uses no sign counter twice")
    func importSkipsSignCounters() async throws {
        let store = BondStore { SampleBonds.noon }
        var bond = SampleBonds.bond(key: 1)
        bond.localSigningKey = 7
        try store.insert(bond)
        let first = try await store.takeSignCounter(of: bond.id)
        let export = store.export(store.records())
        var used = [first]
        for _ in 0..<200 { used.append(try await store.takeSignCounter(of: bond.id)) }
        store.remove(bond.id)
        #expect(try await store.takeIn(export).imported == [bond.id])
        let next = try await store.takeSignCounter(of: bond.id)
        #expect(used.allSatisfy { $0 < next })
    }

    @Test("an import that is truncated at any octet fails")
    func truncatedImportFails() async throws {
        let store = BondStore { SampleBonds.noon }
        for bond in SampleBonds.many(2) { try store.insert(bond) }
        let whole = store.export(store.records())
        let first = store.export([store.records()[0]]).count
        let target = BondStore()
        for count in whole.indices where count != 0 && count != first {
            let problem = await failure { () throws(BLEError) in
                _ = try await target.takeIn(Array(whole[..<count]))
            }
            guard case .bonds(.damaged) = problem else {
                Issue.record("\(count): \(String(describing: problem))")
                return
            }
            #expect(target.records().isEmpty)
        }
        #expect(try await target.takeIn(whole).imported.count == 2)
    }
}

struct BondUseTests {
    @Test("the last use is stored to the minute, also when the clock is set back")
    func lastUseIsKeptToMinute() throws {
        let clock = Lock(SampleBonds.noon)
        let store = BondStore { clock.withLock { $0 } }
        try store.insert(SampleBonds.bond())
        for (seconds, stored) in [(59, 0), (60, 60), (119, 60), (120, 120), (61, 120), (60, 60), (0, 0)]
            as [(Int64, Int64)]
        {
            clock.withLock { $0.milliseconds = SampleBonds.noon.milliseconds + seconds * 1000 }
            store.noteUse(SampleBonds.id)
            let used = store.record(SampleBonds.id)?.lastUsed.milliseconds
            #expect(used == SampleBonds.noon.milliseconds + stored * 1000)
        }
    }
}
