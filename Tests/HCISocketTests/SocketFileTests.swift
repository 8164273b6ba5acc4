import Glibc
import SystemPackage
import Testing

@testable import HCISocket

struct SocketFileTests {
    @Test("the lock file exists only while the lock is held")
    func lockFileExistsOnlyWhileHeld() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        let result = try await file.locked { () throws(PortError) in
            #expect(exists(path))
            return 7
        }
        #expect(result == 7)
        #expect(!exists(path))
        folder.remove()
        await #expect(
            throws: PortError.system(.noSuchFileOrDirectory, during: "open \(path)")
        ) { try await file.locked {} }
    }

    @Test("an error of the body is rethrown, and the file is removed")
    func failingBodyReleasesLock() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        await #expect(throws: PortError.ended) {
            try await file.locked { () throws(PortError) in throw .ended }
        }
        #expect(!exists(path))
    }

    @Test("a stale lock file is taken over immediately")
    func staleLockFileIsTakenOver() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        try makeFile(path)
        #expect(try await file.locked { 1 } == 1)
        #expect(!exists(path))
    }

    @Test("the lock is exclusive even when its file is removed while others wait")
    func lockIsExclusive() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        let inside = Lock(0)
        let most = Lock(0)
        let entered = Lock(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 {
                        // The lock is not fair: on a busy machine, one task can lose for many seconds.
                        try await file.locked(within: .seconds(300)) { () throws(PortError) in
                            let count = inside.withLock {
                                $0 += 1
                                return $0
                            }
                            most.withLock { $0 = max($0, count) }
                            entered.withLock { $0 += 1 }
                            inside.withLock { $0 -= 1 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.withLock { $0 } == 1)
        #expect(entered.withLock { $0 } == 100)
        #expect(!exists(path))
    }

    @Test("a lock that another process holds is an error after the limit, and is taken when it is released")
    func heldLockIsLimited() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        let held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(held, LOCK_EX) == 0)
        await #expect(throws: PortError.held(path, after: .milliseconds(50))) {
            try await file.locked(within: .milliseconds(50)) {}
        }
        let waiting = Task { try await file.locked(within: .seconds(300)) { 7 } }
        let cancelled = Task { try await file.locked(within: .seconds(300)) {} }
        cancelled.cancel()
        await #expect(throws: PortError.held(path, after: .seconds(300))) { try await cancelled.value }
        // As the holder does.
        unlink(path)
        close(held)
        #expect(try await waiting.value == 7)
        #expect(!exists(path))
    }
}
