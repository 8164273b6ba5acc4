import BLECore
import Glibc
import HCISocket
import SMP
import Testing

@testable import BLE

/// A process is killed at each step of a write: the next process finds the old or the new.
struct BondCrashTests {
    /// A folder with a bond that is to be replaced and three others.
    private func folder() async throws -> StateFolder {
        let folder = try StateFolder()
        let store = try await BondStore.open(folder.path, on: nil)
        for bond in SampleBonds.many(3) { try store.insert(bond) }
        try store.insert(SampleBonds.bond())
        try await store.flush()
        return folder
    }

    @Test("killed before each step of a write") func killed() async throws {
        // The steps that a write takes that is not killed.
        let steps = Lock<[Disk.Step]>([])
        let whole = try await folder()
        let store = try await BondStore.open(whole.path, Disk { step in steps.withLock { $0.append(step) } })
        try store.insert(SampleBonds.bond(key: 2))
        try await store.flush()
        let kinds = steps.withLock { $0 }
        let renamed = try #require(kinds.firstIndex { if case .rename = $0 { true } else { false } }) + 1
        #expect(kinds.count > renamed, "the new name is brought to the disk")

        for step in 1...kinds.count {
            let folder = try await folder()
            await #expect(processExitsWith: .signal(SIGKILL), "step \(step)") {
                [path = folder.path as String, step = step as Int] in
                let count = Lock(0)
                let disk = Disk { _ in
                    let isLast = count.withLock { count -> Bool in
                        count += 1
                        return count == step
                    }
                    if isLast { kill(getpid(), SIGKILL) }
                }
                let store = try await BondStore.open(path, disk)
                try store.insert(SampleBonds.bond(key: 2))
                try await store.flush()
            }

            let after = try await BondStore.open(folder.path, on: nil)
            #expect(after.problems.isEmpty, "step \(step)")
            #expect(after.records().dropLast().map(\.bond) == SampleBonds.many(3), "step \(step)")
            // Before the rename, the old one; then the new one.
            let key: UInt128 = step <= renamed ? 1 : 2
            #expect(after.record(SampleBonds.id)?.bond == SampleBonds.bond(key: key), "step \(step)")
        }
    }
}
