import BLECore
import Glibc
import HCISocket
import SMP
import Testing

@testable import BLE

/// A process is killed at each step of a write: the next process finds the old or the new.
struct BondCrashTests {
    /// Steps of a write: create, write, bring to the disk, remove the database of the old bond, rename, bring the name
    /// to the disk.
    @Test("killed before a step of a write", arguments: 1...6)
    func killed(step: Int) async throws {
        let folder = try StateFolder()
        let before = try await BondStore.open(folder.path, on: nil)
        for bond in SampleBonds.many(3) { try before.insert(bond) }
        try before.insert(SampleBonds.bond())
        try await before.flush()

        await #expect(processExitsWith: .signal(SIGKILL)) {
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
        #expect(after.problems.isEmpty)
        #expect(after.records().dropLast().map(\.bond) == SampleBonds.many(3))
        // Before the rename, the old one; then the new one.
        let key: UInt128 = step <= 5 ? 1 : 2
        #expect(after.record(SampleBonds.id)?.bond == SampleBonds.bond(key: key))
    }
}
