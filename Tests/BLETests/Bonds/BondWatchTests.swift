import BLECore
import HCISocket
import SMP
import Testing

@testable import BLE

/// Two processes that share a folder report each other's changes.
struct BondWatchTests {
    @Test("bonds that another process adds and removes are reported, also in new folders")
    func foreignChangesAreReported() async throws {
        let folder = try StateFolder()
        let loop = try EventLoop(name: "watch")
        defer { loop.stop() }
        let one = try await BondStore.open(folder.path, on: loop)
        let other = try await BondStore.open(folder.path, on: nil)
        var changes = one.changes().makeAsyncIterator()

        // The first bond creates the folder of this identity.
        try other.insert(SampleBonds.bond())
        try await other.flush()
        #expect(try await changes.next() == BondChange(added: [SampleBonds.id]))
        #expect(one.record(SampleBonds.id)?.bond == SampleBonds.bond())

        let second = SampleBonds.many(1)[0]
        try other.insert(second)
        try await other.flush()
        #expect(try await changes.next() == BondChange(added: [second.id]))

        try other.insert(SampleBonds.bond(key: 2))
        try await other.flush()
        #expect(try await changes.next() == BondChange(added: [SampleBonds.id]))
        #expect(one.record(SampleBonds.id)?.bond == SampleBonds.bond(key: 2))

        other.remove(SampleBonds.id)
        try await other.flush()
        #expect(try await changes.next() == BondChange(removed: [SampleBonds.id]))
        #expect(one.records().map(\.bond) == [second])

        // The store does not report its own write of a name, only its removal of the bond.
        one.update(second.id) { $0.name = "Phone" }
        try await one.flush()
        one.remove(second.id)
        #expect(try await changes.next() == BondChange(removed: [second.id]))
    }

    @Test(
        "a damaged file removes no bond from a process that has it loaded, which rewrites the file",
        arguments: [false, true])
    func damagedFileKeepsLoadedBond(isSetAsideByOther: Bool) async throws {
        let folder = try StateFolder()
        let loop = try EventLoop(name: "watch")
        defer { loop.stop() }
        let one = try await BondStore.open(folder.path, on: loop)
        let other = try await BondStore.open(folder.path, on: nil)
        var changes = one.changes().makeAsyncIterator()
        try other.insert(SampleBonds.bond())
        try await other.flush()
        #expect(try await changes.next() == BondChange(added: [SampleBonds.id]))
        let name = try #require(
            try folder.names().first { $0.hasSuffix(".bond") && $0.hasPrefix("C0:11:22:33:44:55") })
        try folder.write([1, 2, 3], to: name)
        if isSetAsideByOther {
            #expect(try await BondStore.open(folder.path, on: nil).problems.count == 1)
        }
        // Another process finds the bond again, either when it opens the folder or in the next change that it reports.
        let watch = try await BondStore.open(folder.path, on: loop)
        if watch.record(SampleBonds.id) == nil {
            var restored = watch.changes().makeAsyncIterator()
            #expect(try await restored.next() == BondChange(added: [SampleBonds.id]))
        }
        #expect(watch.record(SampleBonds.id)?.bond == SampleBonds.bond())
        #expect(one.record(SampleBonds.id)?.bond == SampleBonds.bond())
        one.update(SampleBonds.id) { $0.name = "Phone" }
        try await one.flush()
        #expect(try await BondStore.open(folder.path, on: nil).record(SampleBonds.id)?.name == "Phone")
        // A removal also deletes the file that was set aside.
        one.remove(SampleBonds.id)
        try await one.flush()
        #expect(try folder.names().allSatisfy { !$0.hasPrefix("C0:11:22:33:44:55") })
        #expect(try await changes.next() == BondChange(removed: [SampleBonds.id]))
    }

    @Test("a released store stops watching, and its streams end")
    func releasedStoreStopsWatching() async throws {
        let folder = try StateFolder()
        let loop = try EventLoop(name: "watch")
        defer { loop.stop() }
        var store: BondStore? = try await BondStore.open(folder.path, on: loop)
        var changes = try #require(store).changes().makeAsyncIterator()
        try #require(store).insert(SampleBonds.bond())
        #expect(try await changes.next() == BondChange(added: [SampleBonds.id]))
        // The task that writes the bond retains the store until the write is complete.
        store = nil
        #expect(try await changes.next() == nil)
    }
}
