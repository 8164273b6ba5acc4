import BLECore
import GATTClient
import Glibc
import HCISocket
import SMP
import SystemPackage
import Testing

@testable import BLE

/// The steps in which a bond store writes to the disk, and the state after a step has failed.
struct BondDiskTests {
    let folder: StateFolder
    init() throws { folder = try StateFolder() }

    /// Opens a store whose disk performs the first `steps` steps and fails all later ones with `.noSpace`.
    private func open(
        steps: Int, _ seen: Lock<[Disk.Step]> = Lock([])
    ) async throws(BLEError) -> BondStore {
        let disk = Disk { step throws(Errno) in
            let isAllowed = seen.withLock { seen -> Bool in
                seen.append(step)
                return seen.count <= steps
            }
            if !isAllowed { throw .noSpace }
        }
        return try await BondStore.open(folder.path, disk) { SampleBonds.noon }
    }

    @Test("a new file is synchronized before its rename, and the rename before flush returns")
    func synchronizesBeforeRenameAndFlush() async throws {
        let seen = Lock<[Disk.Step]>([])
        let store = try await open(steps: .max, seen)
        let bonds = "\(folder.path)/bonds"
        let local = "\(bonds)/00:1B:DC:07:31:88-public"
        #expect(seen.withLock { $0 } == [.makeFolder(bonds), .synchronize(folder.path)])
        for kind in ["bond", "database"] {
            seen.withLock { $0 = [] }
            if kind == "bond" {
                try store.insert(SampleBonds.bond())
            } else {
                store.keep(CachedDatabase(SampleBonds.database), of: SampleBonds.id)
            }
            try await store.flush()
            let path = "\(local)/C0:11:22:33:44:55-random.\(kind)"
            let isNew = kind == "bond"
            let first: [Disk.Step] = isNew ? [.makeFolder(local), .synchronize(bonds)] : []
            // A database of an earlier bond is removed before the new bond is in place.
            let between: [Disk.Step] =
                isNew ? [.remove("\(local)/C0:11:22:33:44:55-random.database")] : []
            let writing: [Disk.Step] = [
                .create("\(path).new"), .write("\(path).new"), .synchronize("\(path).new"),
            ]
            let last: [Disk.Step] = [.rename("\(path).new", to: path), .synchronize(local)]
            let expected: [Disk.Step] = first + writing + between + last
            #expect(seen.withLock { $0 } == expected)
        }
    }

    @Test("many files are synchronized together before the first rename")
    func synchronizesAllFilesBeforeFirstRename() async throws {
        let seen = Lock<[Disk.Step]>([])
        let exported = BondStore { SampleBonds.noon }
        for bond in SampleBonds.many(40) { try exported.insert(bond) }
        let store = try await open(steps: .max, seen)
        let local = "\(folder.path)/bonds/00:1B:DC:07:31:88-public"
        seen.withLock { $0 = [] }
        _ = try await store.takeIn(exported.export(exported.records()))
        let steps = seen.withLock { $0 }
        let all = try #require(steps.firstIndex(of: .synchronizeAll("\(folder.path)/bonds")))
        func isRename(_ step: Disk.Step) -> Bool { if case .rename = step { true } else { false } }
        func isWrite(_ step: Disk.Step) -> Bool { if case .write = step { true } else { false } }
        #expect(steps[..<all].count(where: isWrite) == 40 && !steps[..<all].contains(where: isRename))
        #expect(steps[all...].count(where: isRename) == 40 && !steps[all...].contains(where: isWrite))
        #expect(steps.last == .synchronize(local))
        #expect(try await open(steps: .max).records() == store.records())
    }

    @Test("a disk failure at any step leaves the old or the new bond and loses no other")
    func everyStep() async throws {
        let before = try await open(steps: .max)
        for bond in SampleBonds.many(3) { try before.insert(bond) }
        try before.insert(SampleBonds.bond())
        try await before.flush()
        var outcomes: Set<Bond> = []
        for steps in 0... {
            let store = try await open(steps: steps)
            let old = store.record(SampleBonds.id)?.bond
            let new = SampleBonds.bond(key: 1000 + UInt128(steps))
            try store.insert(new)
            let problem = await failure { () throws(BLEError) in try await store.flush() }
            // This process has the new bond in any case.
            #expect(store.record(SampleBonds.id)?.bond == new)
            let next = try await open(steps: .max)
            #expect(next.problems.isEmpty)
            #expect(next.records().dropLast().map(\.bond) == SampleBonds.many(3))
            let found = try #require(next.record(SampleBonds.id)?.bond)
            #expect(found == old || found == new)
            if found == new { outcomes.insert(found) }
            guard problem != nil else {
                #expect(found == new)
                break
            }
        }
        // The new bond is found in two runs: the last one, and the one that fails after the rename, when only
        // the name has yet to be synchronized.
        #expect(outcomes.count == 2)
    }

    @Test("a folder that another process has locked times out, and a later flush writes all")
    func lockedFolderTimesOut() async throws {
        var disk = Disk()
        disk.timeLimit = .milliseconds(20)
        let store = try await BondStore.open(folder.path, disk) { SampleBonds.noon }
        let lock = "\(folder.path)/bonds/lock"
        let other = Glibc.open(lock, O_RDWR | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_EX) == 0)
        let claimed = BLEError.bonds(.claimed(path: lock, after: .milliseconds(20)))
        #expect(
            await failure { () throws(BLEError) in _ = try await BondStore.open(folder.path, disk) }
                == claimed)
        try store.insert(SampleBonds.bond())
        for _ in 0..<2 {
            #expect(await failure { () throws(BLEError) in try await store.flush() } == claimed)
        }
        #expect("\(claimed)".contains("held by another process"))
        // No change is lost: it is written once the other process releases the lock.
        #expect(flock(other, LOCK_UN) == 0)
        try await store.flush()
        #expect(try await open(steps: .max).records() == store.records())
    }

    @Test("a failed removal leaves the bond or removes it completely")
    func everyStepOfRemoval() async throws {
        for steps in 0... {
            let before = try await open(steps: .max)
            try before.insert(SampleBonds.bond())
            before.keep(CachedDatabase(SampleBonds.database), of: SampleBonds.id)
            try await before.flush()
            let store = try await open(steps: steps)
            store.remove(SampleBonds.id)
            let problem = await failure { () throws(BLEError) in try await store.flush() }
            let next = try await open(steps: .max)
            #expect(next.problems.isEmpty)
            if let record = next.record(SampleBonds.id) {
                #expect(record.bond == SampleBonds.bond())
                // Without the database, it is discovered again.
                let database = try await next.database(of: SampleBonds.id)?.database
                #expect(database == SampleBonds.database || database == nil)
            } else {
                #expect(try !folder.names().contains { $0.hasSuffix(".database") })
            }
            guard problem != nil else {
                #expect(next.record(SampleBonds.id) == nil)
                break
            }
        }
    }

    @Test("a failed write is repeated by the next flush")
    func failedWriteIsRetried() async throws {
        let isFull = Lock(true)
        let disk = Disk { step throws(Errno) in
            if case .create = step, isFull.withLock({ $0 }) { throw .noSpace }
        }
        let store = try await BondStore.open(folder.path, disk) { SampleBonds.noon }
        try store.insert(SampleBonds.bond())
        store.keep(CachedDatabase(SampleBonds.database), of: SampleBonds.id)
        let problem = await failure { () throws(BLEError) in try await store.flush() }
        guard case .bonds(.system(.noSpace, _)) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        store.update(SampleBonds.id) { $0.name = "Phone" }
        isFull.withLock { $0 = false }
        try await store.flush()
        let next = try await open(steps: .max)
        #expect(next.record(SampleBonds.id)?.name == "Phone")
        #expect(try await next.database(of: SampleBonds.id)?.database == SampleBonds.database)
    }

    @Test("no disk step runs on an event loop, regardless of the caller")
    func diskStepsAvoidEventLoop() async throws {
        let loop = try EventLoop(name: "caller")
        defer { loop.stop() }
        let steps = Lock((onLoop: 0, all: 0))
        let disk = Disk { _ in
            steps.withLock {
                $0.all += 1
                if loop.isCurrent { $0.onLoop += 1 }
            }
        }
        let outcome = await Task(executorPreference: loop) {
            let store = try await BondStore.open(folder.path, disk)
            try store.insert(SampleBonds.bond())
            try await store.flush()
            _ = try await store.takeSignCounter(of: SampleBonds.id)
            _ = try await store.identity(at: SampleBonds.local)
            _ = try await store.staticAddress(of: "x")
        }.result
        try outcome.get()
        #expect(steps.withLock { $0.onLoop } == 0)
        #expect(steps.withLock { $0.all } > 20)
    }

    @Test("no counter is returned without a reservation on the disk")
    func counterRequiresReservationOnDisk() async throws {
        let before = try await open(steps: .max)
        try before.insert(SampleBonds.bond())
        try await before.flush()
        let store = try await open(steps: 0)
        let problem = await failure { () throws(BLEError) in
            _ = try await store.takeSignCounter(of: SampleBonds.id)
        }
        guard case .bonds(.system(.noSpace, _)) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
    }
}
