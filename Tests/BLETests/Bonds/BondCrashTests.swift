import BLECore
import Glibc
import HCISocket
import SMP
import Testing

@testable import BLE

/// A write of a bond, with the bonds that are stored before and after it.
enum BondWrite: String, Codable, Sendable, CaseIterable {
    /// The first bond of all, for which the store creates a folder.
    case first
    /// A bond that replaces one with the same device, beside bonds with other devices.
    case replacement
    case removal

    var others: [Bond] { self == .first ? [] : SampleBonds.many(3) }
    var before: Bond? { self == .first ? nil : SampleBonds.bond() }
    var after: Bond? { self == .removal ? nil : SampleBonds.bond(key: 2) }

    func perform(in store: BondStore) async throws {
        if let after { try store.insert(after) } else { store.remove(SampleBonds.id) }
        try await store.flush()
    }

    /// Returns whether the next process finds the new state after this step.
    func ends(with step: Disk.Step) -> Bool {
        switch (self, step) {
        case (.removal, .remove(let path)): path.hasSuffix(".bond")
        case (.first, .rename), (.replacement, .rename): true
        default: false
        }
    }
}

/// Tests that kill a process before each step of a write: the next process finds the old or the new bond.
struct BondCrashTests {
    /// Creates a folder with the bonds from before the write.
    private func folder(before write: BondWrite) async throws -> StateFolder {
        let folder = try StateFolder()
        let store = try await BondStore.open(folder.path, on: nil)
        for bond in write.others { try store.insert(bond) }
        if let bond = write.before { try store.insert(bond) }
        try await store.flush()
        return folder
    }

    // Before Swift 6.3, no value can be passed to the process of a test.
    #if compiler(>=6.3)
    @Test("a kill before each step of a write leaves the old or the new bond", arguments: BondWrite.allCases)
    func killBeforeEachStepKeepsOldOrNewBond(
        _ write: BondWrite
    ) async throws {
        // The steps of a write that is not killed.
        let steps = Lock<[Disk.Step]>([])
        let whole = try await folder(before: write)
        let store = try await BondStore.open(whole.path, Disk { step in steps.withLock { $0.append(step) } })
        try await write.perform(in: store)
        let kinds = steps.withLock { $0 }
        let last = try #require(kinds.firstIndex(where: write.ends)) + 1
        #expect(kinds.count > last, "the new state is brought to the disk")

        for step in 1...kinds.count {
            let folder = try await folder(before: write)
            await #expect(processExitsWith: .signal(SIGKILL), "step \(step)") {
                [path = folder.path as String, step = step as Int, write = write as BondWrite] in
                let count = Lock(0)
                let disk = Disk { _ in
                    let isLast = count.withLock { count -> Bool in
                        count += 1
                        return count == step
                    }
                    if isLast { kill(getpid(), SIGKILL) }
                }
                try await write.perform(in: try await BondStore.open(path, disk))
            }

            let after = try await BondStore.open(folder.path, on: nil)
            #expect(after.problems.isEmpty, "step \(step)")
            let others = after.records().map(\.bond).filter { $0.id != SampleBonds.id }
            #expect(others == write.others, "step \(step)")
            let expected = step <= last ? write.before : write.after
            #expect(after.record(SampleBonds.id)?.bond == expected, "step \(step)")
        }
    }
    #endif
}
