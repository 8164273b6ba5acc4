import Glibc
import SystemPackage
import Testing

@testable import HCISocket

struct SocketFileTests {
    @Test("the lock file exists only while the lock is held")
    func lockFileExistsOnlyWhileHeld() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        let result = try file.locked { () throws(PortError) in
            #expect(exists(path))
            return 7
        }
        #expect(result == 7)
        #expect(!exists(path))
        folder.remove()
        #expect(
            throws: PortError.system(.noSuchFileOrDirectory, during: "open \(path)")
        ) { try file.locked {} }
    }

    @Test("an error of the body is rethrown, and the file is removed")
    func failingBodyReleasesLock() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        #expect(throws: PortError.ended) {
            try file.locked { () throws(PortError) in throw .ended }
        }
        #expect(!exists(path))
    }

    @Test("a stale lock file is taken over immediately")
    func staleLockFileIsTakenOver() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("a.lock")
        let file = SocketFile(folder.path("a"), in: nil)
        try makeFile(path)
        #expect(try file.locked { 1 } == 1)
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
                    for _ in 0..<100 {
                        try file.locked { () throws(PortError) in
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
        #expect(entered.withLock { $0 } == 400)
        #expect(!exists(path))
    }
}
