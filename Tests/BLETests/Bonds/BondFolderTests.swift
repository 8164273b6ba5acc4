import BLECore
import Foundation
import GATTClient
import Glibc
import HCISocket
import SMP
import SystemPackage
import Testing

@testable import BLE

struct BondFolderTests {
    let folder: StateFolder
    init() throws { folder = try StateFolder() }

    private static let name = "C0:11:22:33:44:55-random"

    private func open() async throws(BLEError) -> BondStore {
        try await BondStore.open(folder.path, on: nil) { SampleBonds.noon }
    }

    /// A peer that pairs behind a private address can claim any identity address.
    @Test("a bond whose identity was only claimed exists beside that of the device with the address")
    func claimedIdentityHasBondOfItsOwn() async throws {
        var claimed = SampleBonds.bond(key: 2)
        claimed.isIdentityClaimed = true
        let hidden = DeviceAddress.resolvable(7, key: SecurityManager.aes128(key: 2 << 64 | 1))
        do {
            let store = try await open()
            try store.insert(claimed)
            #expect(store.record(behind: SampleBonds.peer, at: SampleBonds.local)?.bond == claimed)
            try store.insert(SampleBonds.bond())
            try await store.flush()
        }
        let store = try await open()
        #expect(store.records().map(\.bond) == [SampleBonds.bond(), claimed])
        var table = BondTable()
        for record in store.records() { table.put(record) }
        #expect(table.recordsByAddress(at: SampleBonds.local).map(\.bond) == [SampleBonds.bond()])
        #expect(store.record(behind: SampleBonds.peer, at: SampleBonds.local)?.bond == SampleBonds.bond())
        #expect(store.record(behind: hidden, at: SampleBonds.local)?.bond == claimed)
        #expect(store.remove(SampleBonds.id))
        #expect(store.record(behind: SampleBonds.peer, at: SampleBonds.local)?.bond == claimed)
    }

    @Test("a follower is not notified when the disk has what it knows")
    func flushChangesNothing() async throws {
        let store = try await open()
        let notifications = Lock(0)
        let follower = BondFollower(store, at: SampleBonds.local) { notifications.withLock { $0 += 1 } }
        try store.insert(SampleBonds.bond())
        try await store.flush()
        #expect(notifications.withLock { $0 } == 1 && follower.takeChanges().count == 1)
    }

    @Test("the next process reads what was flushed, and only the owner has access")
    func flushedBondsAreReadByNextProcess() async throws {
        let store = try await open()
        #expect(store.records().isEmpty && store.problems.isEmpty)
        try store.insert(SampleBonds.bond(), name: "Phone")
        store.update(SampleBonds.id) { $0.client = SampleBonds.client }
        store.keep(CachedDatabase(SampleBonds.database, isBonded: true), of: SampleBonds.id)
        let identity = try await store.identity(at: SampleBonds.local)
        try await store.flush()

        let next = try await open()
        #expect(next.records() == store.records())
        #expect(next.record(SampleBonds.id)?.client == SampleBonds.client)
        #expect(next.record(SampleBonds.id)?.name == "Phone")
        #expect(try await next.database(of: SampleBonds.id)?.database == SampleBonds.database)
        #expect(next.knownIdentity(at: SampleBonds.local) == identity)
        #expect(try folder.names() == ["\(Self.name).bond", "\(Self.name).database", "identity"])
        for name in try folder.names() { #expect(try folder.mode(folder.file(name)) == 0o600) }
        for path in [folder.file(""), "\(folder.path)/bonds"] { #expect(try folder.mode(path) == 0o700) }

        next.remove(SampleBonds.id)
        try await next.flush()
        #expect(try folder.names() == ["identity"])
        #expect(try await open().records().isEmpty)
    }

    @Test("failures with a fixed passkey are kept, with the largest number that a process has counted")
    func passkeyFailuresAreKept() async throws {
        let (passkey, local) = (Passkey(lowestDigitsOf: 12_345), SampleBonds.local)
        let (first, second) = (try await open(), try await open())
        first.addFailures(2, with: passkey, at: local)
        try await first.flush()
        #expect(try folder.names() == ["passkey"])
        #expect(try folder.mode(folder.file("passkey")) == 0o600)
        second.addFailures(1, with: passkey, at: local)
        try await second.flush()
        #expect(second.failures(with: passkey, at: local) == 2)
        let next = try await open()
        #expect(next.failures(with: passkey, at: local) == 2 && next.passkeyFailures == [local: 2])
        #expect(next.failures(with: Passkey(lowestDigitsOf: 0), at: local) == 0)
        next.addFailures(1, with: Passkey(lowestDigitsOf: 0), at: local)
        try await next.flush()
        #expect(try await open().passkeyFailures == [local: 1])
        try await next.clearPasskeyFailures()
        #expect(try folder.names() == [])
        #expect(try await open().passkeyFailures == [:])
    }

    @Test("failures with a fixed passkey that another process clears no longer count")
    func clearedPasskeyFailuresAreNoticed() async throws {
        let (passkey, local) = (Passkey(lowestDigitsOf: 12_345), SampleBonds.local)
        let other = try await open()
        other.addFailures(3, with: passkey, at: local)
        try await other.flush()
        let loop = try EventLoop(name: "watch")
        defer { loop.stop() }
        let bonds = try BondFolder(state: folder.path)
        let watch = try await bonds.watch(on: loop)
        let number = try watch.add(folder.file(""))
        #expect(try await bonds.localsWithFailures([.changed(folder: number, name: "passkey")]) == [local])
        #expect(try await bonds.localsWithFailures([.lost]) == [local])
        #expect(try await bonds.localsWithFailures([.changed(folder: number, name: "identity")]) == [])
        #expect(try await bonds.records([], failuresAt: [local]).failures[local]??.count == 3)
        try await other.clearPasskeyFailures()
        #expect(try await bonds.records([], failuresAt: [local]).failures == [local: nil])
    }

    @Test("a damaged file is set aside and reported; the others are read")
    func damagedFileIsSetAside() async throws {
        let store = try await open()
        for bond in SampleBonds.many(3) { try store.insert(bond) }
        try store.insert(SampleBonds.bond())
        try await store.flush()
        var octets = try #require(folder.contents("\(Self.name).bond"))
        octets[40] ^= 1
        try folder.write(octets, to: "\(Self.name).bond")

        let next = try await open()
        #expect(next.records().map(\.bond) == SampleBonds.many(3))
        let path = folder.file("\(Self.name).bond")
        #expect(next.problems == [.damaged(path: path, line: 16, .checksum)])
        #expect(folder.contents("\(Self.name).bond.damaged") == octets)
        // The damage is reported once, and a second damaged file does not replace the first.
        #expect(try await open().problems.isEmpty)
        try folder.write([], to: "\(Self.name).bond")
        #expect(
            try await open().problems == [
                .damaged(path: path, line: 1, .empty)
            ])
        #expect(folder.contents("\(Self.name).bond.damaged") == octets)
        #expect(folder.contents("\(Self.name).bond.damaged-2") == [])
        // A new pairing is not affected by the damaged files.
        try next.insert(SampleBonds.bond(key: 9))
        try await next.flush()
        #expect(try await open().record(SampleBonds.id)?.bond == SampleBonds.bond(key: 9))
    }

    @Test("a bond in use survives damage to its file", arguments: [false, true])
    func bondInUseSurvivesDamagedFile(isCounter: Bool) async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        try folder.write([1, 2, 3], to: "\(Self.name).bond")
        if isCounter {
            _ = try await store.takeSignCounter(of: SampleBonds.id)
        } else {
            store.update(SampleBonds.id) { $0.name = "Phone" }
            try await store.flush()
        }
        #expect(store.record(SampleBonds.id)?.bond == SampleBonds.bond())
        #expect(folder.contents("\(Self.name).bond.damaged") == [1, 2, 3])
        #expect(try await open().record(SampleBonds.id)?.bond == SampleBonds.bond())
    }

    @Test("a file under the name of another bond is not read as that bond")
    func misplacedFileIsIgnored() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        let octets = try #require(folder.contents("\(Self.name).bond"))
        try folder.write(octets, to: "C0:11:22:33:44:56-random.bond")
        // Files whose names are not those of bonds are ignored.
        for name in ["c0:11:22:33:44:55-random.bond", "notes.bond", "\(Self.name).bond~"] {
            try folder.write(octets, to: name)
        }
        let next = try await open()
        #expect(next.records().map(\.id) == [SampleBonds.id])
        #expect(next.problems.count == 1)
    }

    @Test("a file of a later release is preserved and does not prevent a new pairing")
    func newerFileIsPreserved() async throws {
        try await open().insert(SampleBonds.bond())
        _ = try await open().identity(at: SampleBonds.local)
        let octets = Array("bletool bond 2\n".utf8)
        try folder.write(octets, to: "\(Self.name).bond")
        let store = try await open()
        let path = folder.file("\(Self.name).bond")
        #expect(store.problems == [.newer(path: path, version: 2)])
        #expect(folder.contents("\(Self.name).bond") == octets)
        try store.insert(SampleBonds.bond())
        try await store.flush()
        #expect(folder.contents("\(Self.name).bond.version-2") == octets)
        #expect(try await open().record(SampleBonds.id)?.bond == SampleBonds.bond())
    }

    @Test("a folder with access for others is restricted to its owner")
    func openFolderIsRestrictedToOwner() async throws {
        let path = "\(folder.path)/bonds"
        try #require(mkdir(path, 0o755) == 0)
        _ = try await open()
        #expect(try folder.mode(path) == 0o700)
        // Folders above it keep their permissions. A file in the place of a folder is an error.
        let file = "\(folder.path)/file"
        close(creat(file, 0o600))
        let problem = await failure { () throws(BLEError) in _ = try await BondStore.open(file, on: nil) }
        #expect(problem == .bonds(.system(.notDirectory, during: "open \(file)")))
    }

    @Test("a link in place of the folder of bonds or of its files is not followed", arguments: [false, true])
    func linkIsNotFollowed(isRestoration: Bool) async throws {
        let (name, target) = (isRestoration ? "restoring" : "bonds", "\(folder.path)/target")
        let link = "\(folder.path)/\(name)"
        try #require(mkdir(target, 0o755) == 0 && symlink(target, link) == 0)
        let expected = StateError.folder(.notFolder(path: link))
        if isRestoration {
            let problem = await failure { () throws(BLEError) in
                _ = try await KeptState<CentralState>.open("x.central", in: link, for: .shared)
            }
            #expect(problem == .restoration(.state(expected)))
        } else {
            #expect(await failure { () throws(BLEError) in _ = try await open() } == .bonds(expected))
            #expect(
                await failure { () throws(BLEError) in _ = try await BondStore.copy(of: folder.path) }
                    == .bonds(expected))
        }
        #expect(try folder.mode(target) == 0o755)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }

    @Test("a link in place of the folder of an identity, or of a bond, is not followed")
    func linkBelowBondsIsNotFollowed() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        let (bond, away) = (folder.file("\(Self.name).bond"), "\(folder.path)/away")
        try #require(rename(bond, away) == 0 && symlink(away, bond) == 0)
        let next = try await open()
        #expect(next.records().isEmpty)
        #expect(next.problems == [.system(.tooManySymbolicLinkLevels, during: "open \(bond)")])
        // A new bond replaces the link, not its target.
        let octets = folder.contents(at: away)
        try next.insert(SampleBonds.bond(key: 9))
        let refused = await failure { () throws(BLEError) in try await next.flush() }
        #expect(refused == .bonds(.system(.tooManySymbolicLinkLevels, during: "open \(bond)")))
        #expect(folder.contents(at: away) == octets)

        let local = String(folder.file("").dropLast())
        try #require(rename(local, "\(away)-local") == 0 && symlink("\(away)-local", local) == 0)
        let last = try await open()
        #expect(last.records().isEmpty && last.problems == [.folder(.notFolder(path: local))])
    }

    @Test("a folder of an identity that cannot be opened is reported, and the other bonds are read")
    func badFolderOfIdentityIsReported() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        let other = "\(folder.path)/bonds/00:1B:DC:07:31:89-public"
        try #require(symlink("/etc", other) == 0)
        for copies in [false, true] {
            let next = copies ? try await BondStore.copy(of: folder.path) : try await open()
            #expect(next.records().map(\.bond) == [SampleBonds.bond()])
            #expect(next.problems == [.folder(.notFolder(path: other))])
        }
    }

    @Test("a folder that is removed and made again is opened again")
    func removedFolderIsOpenedAgain() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        try FileManager.default.removeItem(atPath: "\(folder.path)/bonds")
        let other = try await open()
        store.update(SampleBonds.id) { $0.name = "Phone" }
        try store.insert(SampleBonds.bond(key: 7))
        try await store.flush()
        #expect(try await open().record(SampleBonds.id)?.bond == SampleBonds.bond(key: 7))
        #expect(other.records().isEmpty)
    }

    @Test(
        "a pipe, a folder and a hard link in place of a temporary file or a bond neither block nor are written to"
    )
    func plantedFilesAreHarmless() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        let (new, away) = (folder.file("\(Self.name).bond.new"), "\(folder.path)/away")
        try folder.write([1, 2, 3], at: away)
        for plant in 0..<2 {
            try #require(plant == 0 ? mkfifo(new, 0o600) == 0 : link(away, new) == 0)
            store.update(SampleBonds.id) { $0.name = "Phone \(plant)" }
            try await store.flush()
            #expect(try await open().record(SampleBonds.id)?.name == "Phone \(plant)")
        }
        #expect(folder.contents(at: away) == [1, 2, 3])
        let bond = folder.file("\(Self.name).bond")
        unlink(bond)
        try #require(mkfifo(bond, 0o600) == 0)
        #expect(
            try await open().problems
                == [.system(.invalidArgument, during: "open \(bond), which is no file")])
    }

    @Test("no folder or link above the bonds may belong to a user who could replace it")
    func replaceableParentIsRefused() async throws {
        let (open, closed) = ("\(folder.path)/open", "\(folder.path)/open/closed")
        try #require(mkdir(open, 0o700) == 0 && chmod(open, 0o777) == 0 && mkdir(closed, 0o700) == 0)
        for path in [open, closed] {
            let problem = await failure { () throws(BLEError) in
                _ = try await BondStore.open(path, on: nil)
            }
            #expect(problem == .bonds(.folder(.writable(path: open, mode: 0o777))))
        }
        chmod(open, 0o1777)
        _ = try await BondStore.open(closed, on: nil)
        // As systemd links the folder of a service.
        let link = "\(folder.path)/link"
        try #require(symlink("open/../open/closed", link) == 0)
        #expect(try await BondStore.open(link, on: nil).records().isEmpty)
        guard geteuid() == 0 else { return }
        try #require(lchown(link, 65534, 65534) == 0)
        let problem = await failure { () throws(BLEError) in _ = try await BondStore.open(link, on: nil) }
        #expect(problem == .bonds(.folder(.owner(path: link, user: 65534))))
        #expect(try await BondStore.copy(of: link).records().isEmpty)
        try #require(chown(closed, 65534, 65534) == 0)
        let other = await failure { () throws(BLEError) in _ = try await BondStore.open(closed, on: nil) }
        #expect(other == .bonds(.folder(.owner(path: closed, user: 65534))))
    }

    @Test("a store keeps the folder that it has opened when another folder gets its path")
    func openFolderIsKept() async throws {
        let store = try await open()
        let (path, away) = ("\(folder.path)/bonds", "\(folder.path)/away")
        try #require(rename(path, away) == 0 && mkdir("\(folder.path)/target", 0o755) == 0)
        try #require(symlink("\(folder.path)/target", path) == 0)
        try store.insert(SampleBonds.bond())
        try await store.flush()
        #expect(
            folder.contents(at: "\(away)/00:1B:DC:07:31:88-public/\(Self.name).bond") != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/target").isEmpty)
    }

    @Test("a folder of another user, or one that all can write to, is refused and stays as it is")
    func foreignFolderIsRefused() async throws {
        let path = "\(folder.path)/bonds"
        try #require(mkdir(path, 0o700) == 0 && chmod(path, 0o707) == 0)
        #expect(
            await failure { () throws(BLEError) in _ = try await open() }
                == .bonds(.folder(.writable(path: path, mode: 0o707))))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        // Only root can give a folder to another user.
        guard geteuid() == 0 else { return }
        try #require(chmod(path, 0o755) == 0 && chown(path, 65534, 65534) == 0)
        #expect(
            await failure { () throws(BLEError) in _ = try await open() }
                == .bonds(.folder(.owner(path: path, user: 65534))))
        #expect(try folder.mode(path) == 0o755)
        // Root can read what other users have.
        #expect(try await BondStore.copy(of: folder.path).records().isEmpty)
        #expect(try folder.mode(path) == 0o755)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test("a copy has the bonds of the folder, and changes nothing in it")
    func copyChangesNothing() async throws {
        #expect(try await BondStore.copy(of: folder.path).records().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let store = try await open()
        for bond in SampleBonds.many(3) { try store.insert(bond) }
        let identity = try await store.identity(at: SampleBonds.local)
        try await store.flush()
        try folder.write([1, 2, 3], to: "\(Self.name).bond")
        try #require(chmod("\(folder.path)/bonds", 0o755) == 0)
        unlink("\(folder.path)/bonds/lock")
        let names = try folder.names()

        let copy = try await BondStore.copy(of: folder.path)
        #expect(copy.records().map(\.bond) == SampleBonds.many(3))
        #expect(copy.knownIdentity(at: SampleBonds.local) == identity)
        #expect(copy.problems.count == 1)
        copy.remove(SampleBonds.many(3)[0].id)
        try await copy.flush()
        #expect(try folder.names() == names)
        #expect(try folder.mode("\(folder.path)/bonds") == 0o755)
        #expect(access("\(folder.path)/bonds/lock", F_OK) != 0)
        #expect(try await open().records().count == 3)
    }

    @Test("a temporary file left by a killed process is harmless")
    func leftoverTemporaryFileIsHarmless() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        try await store.flush()
        try folder.write([1, 2, 3], to: "\(Self.name).bond.new")
        let next = try await open()
        #expect(next.records() == store.records() && next.problems.isEmpty)
        next.update(SampleBonds.id) { $0.name = "Tablet" }
        try await next.flush()
        #expect(try folder.names() == ["\(Self.name).bond"])
    }

    @Test("counters continue after the block that the last process reserved")
    func countersContinueBeyondReservation() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        for counter in 0..<UInt32(70) {
            #expect(try await store.takeSignCounter(of: SampleBonds.id) == counter)
        }
        let next = try await open()
        #expect(try await next.takeSignCounter(of: SampleBonds.id) == 128)
        // The first store still exists. It continues with its own block, and then reserves the next free one.
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 70)
        for _ in 71..<128 { _ = try await store.takeSignCounter(of: SampleBonds.id) }
        #expect(try await store.takeSignCounter(of: SampleBonds.id) == 192)
        // Storing another change does not reset the counter.
        next.update(SampleBonds.id) { $0.name = "Phone" }
        try await next.flush()
        #expect(try await open().takeSignCounter(of: SampleBonds.id) == 256)
    }

    @Test("after the last counter the key is exhausted")
    func lastCounterExhaustsKey() async throws {
        let store = try await open()
        try store.insert(SampleBonds.bond())
        store.update(SampleBonds.id) { $0.signCounter = .max - 2 }
        try await store.flush()
        let next = try await open()
        #expect(try await next.takeSignCounter(of: SampleBonds.id) == .max - 2)
        #expect(try await next.takeSignCounter(of: SampleBonds.id) == .max - 1)
        let problem = await failure { () throws(BLEError) in
            _ = try await next.takeSignCounter(of: SampleBonds.id)
        }
        #expect(problem == .countersUsedUp(SampleBonds.id))
    }

    @Test("changes of two processes to the same bond are merged")
    func concurrentChangesOfBondAreMerged() async throws {
        let one = try await open()
        try one.insert(SampleBonds.bond())
        try await one.flush()
        let other = try await open()
        // Each process pairs with a different peer.
        let bonds = SampleBonds.many(2)
        try one.insert(bonds[0])
        try other.insert(bonds[1])
        // One process stores the counter of a signed write, the other a name.
        one.update(SampleBonds.id) { $0.client.signCounter = 40 }
        try await one.flush()
        other.update(SampleBonds.id) { $0.name = "Phone" }
        try await other.flush()
        let third = try await open()
        #expect(Set(third.records().map(\.bond)) == Set(bonds + [SampleBonds.bond()]))
        #expect(third.record(SampleBonds.id)?.name == "Phone")
        #expect(third.record(SampleBonds.id)?.client.signCounter == 40)

        // One process pairs again: a change by the other does not restore data of the old pairing.
        try one.insert(SampleBonds.bond(key: 2))
        try await one.flush()
        var changes = other.changes().makeAsyncIterator()
        other.update(SampleBonds.id) { $0.client = SampleBonds.client }
        try await other.flush()
        #expect(other.record(SampleBonds.id)?.bond == SampleBonds.bond(key: 2))
        #expect(other.record(SampleBonds.id)?.client.configurations.isEmpty == true)
        #expect(try await changes.next() == BondChange(added: [SampleBonds.id]))

        // One process removes the bond: a later change by the other does not restore it.
        one.remove(SampleBonds.id)
        try await one.flush()
        other.update(SampleBonds.id) { $0.name = "Tablet" }
        try await other.flush()
        #expect(other.record(SampleBonds.id) == nil)
        #expect(try await changes.next() == BondChange(removed: [SampleBonds.id]))
        #expect(try await open().record(SampleBonds.id) == nil)
        let problem = await failure { () throws(BLEError) in
            _ = try await other.takeSignCounter(of: SampleBonds.id)
        }
        #expect(problem == .notFound(.bond(SampleBonds.id)))
    }

    @Test("two processes that create an identity get the same one")
    func processesShareIdentity() async throws {
        let (one, other) = (try await open(), try await open())
        let made = try await one.identity(at: SampleBonds.local)
        #expect(try await other.identity(at: SampleBonds.local) == made)
        let address = try await one.staticAddress(of: "serial:/dev/ttyACM0")
        #expect(try await other.staticAddress(of: "serial:/dev/ttyACM0") == address)
        #expect(try await other.staticAddress(of: "../escape\n") != address)
        let next = try await open()
        #expect(try await next.staticAddress(of: "serial:/dev/ttyACM0") == address)
        #expect(next.problems.isEmpty)
        #expect(try folder.mode("\(folder.path)/bonds/..%2fescape%0a.address") == 0o600)
    }

    @Test("two processes that write concurrently lose none of each other's bonds")
    func concurrentWritersLoseNothing() async throws {
        let bonds = SampleBonds.many(120)
        let stores = [try await open(), try await open()]
        try stores[0].insert(SampleBonds.bond())
        try await stores[0].flush()
        try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    var counters: [UInt32] = []
                    for (index, bond) in bonds.enumerated() where index % 2 == number {
                        try store.insert(bond)
                        store.keep(CachedDatabase(SampleBonds.database), of: bond.id)
                        if index % 3 == 0 { try await store.flush() }
                        // Both tasks reserve counters of the bond that both have.
                        guard index % 10 == number else { continue }
                        let fresh = try await BondStore.open(folder.path, on: nil)
                        counters.append(try await fresh.takeSignCounter(of: SampleBonds.id))
                    }
                    try await store.flush()
                    return counters
                }
            }
            var counters: [UInt32] = []
            for try await more in group { counters += more }
            #expect(counters.count == 24 && Set(counters).count == 24)
        }
        let after = try await open()
        #expect(Set(after.records().map(\.bond)) == Set(bonds + [SampleBonds.bond()]))
        for bond in bonds { #expect(try await after.database(of: bond.id)?.database == SampleBonds.database) }
    }

    @Test("thousands of bonds are written in one flush and read again")
    func thousandsOfBondsAreWrittenAndRead() async throws {
        let store = try await open()
        let bonds = SampleBonds.many(2000)
        for bond in bonds { try store.insert(bond) }
        try await store.flush()
        #expect(try await open().records().map(\.bond) == bonds)
    }
}
