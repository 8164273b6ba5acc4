import BLECore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

@Suite(.timeLimit(.minutes(10))) struct ReadinessTests {
    @Test("a wait for a descriptor ends when it is ready for the requested interest")
    func waitEndsWhenDescriptorIsReady() async throws {
        try await onVirtualLoop { loop in
            let (near, far) = socketPair(.stream)
            #expect(await loop.readiness(of: near, for: .write) == .write)
            let waiting = Task(executorPreference: loop) { await loop.readiness(of: near, for: .read) }
            await loop.settle()
            #expect(writeSome([1], to: far) == 1)
            #expect(await waiting.value == .read)
            // The caller still owns the descriptor, and can wait for it again.
            #expect(readAll(from: near) == [1])
            #expect(await loop.readiness(of: near, for: .write) == .write)
            for end in [near, far] { close(end) }
        }
    }

    @Test("a wait for a descriptor ends when the other end closes")
    func waitEndsOnHangUp() async throws {
        try await onVirtualLoop { loop in
            let (near, far) = socketPair(.stream)
            let waiting = Task(executorPreference: loop) { await loop.readiness(of: near, for: []) }
            await loop.settle()
            close(far)
            #expect(await waiting.value?.contains(.hangUp) == true)
            close(near)
        }
    }

    @Test("an unpollable descriptor, or one that is already waited for, has no readiness")
    func unavailableDescriptorHasNoReadiness() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("file")
        try makeFile(path)
        try await onVirtualLoop { loop in
            let file = try FileDescriptor.open(FilePath(path), .readOnly)
            #expect(await loop.readiness(of: file.rawValue, for: .read) == nil)
            try file.close()
            #expect(await loop.readiness(of: -1, for: .read) == nil)

            let (near, far) = socketPair(.stream)
            let waiting = Task(executorPreference: loop) { await loop.readiness(of: near, for: .read) }
            await loop.settle()
            #expect(await loop.readiness(of: near, for: .read) == nil)
            waiting.cancel()
            #expect(await waiting.value == nil)
            for end in [near, far] { close(end) }
        }
    }

    @Test("a cancelled task stops waiting, or does not start to wait", arguments: [true, false])
    func cancelledTaskStopsWaiting(before: Bool) async throws {
        try await onVirtualLoop { loop in
            let (near, far) = socketPair(.stream)
            let waiting = Task(executorPreference: loop) { await loop.readiness(of: near, for: .read) }
            if !before { await loop.settle() }
            waiting.cancel()
            #expect(await waiting.value == nil)
            // The loop no longer watches the descriptor, so it can be watched again.
            #expect(await loop.readiness(of: near, for: .write) == .write)
            for end in [near, far] { close(end) }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct WatchedDescriptorTests {
    @Test("a descriptor is closed once, explicitly or on release, and the other end hangs up")
    func descriptorIsClosedOnce() async throws {
        try await onVirtualLoop { loop in
            for isLetGo in [true, false] {
                let (near, far) = socketPair(.stream)
                var watched: WatchedDescriptor? = WatchedDescriptor(near, on: loop)
                try watched?.watch(for: .read) { _ in }
                if !isLetGo {
                    watched?.close()
                    #expect(watched?.isOpen == false)
                    watched?.close()
                }
                watched = nil
                let readiness = await loop.readiness(of: far, for: [])
                #expect(readiness?.contains(.hangUp) == true)
                close(far)
            }
        }
    }

    @Test("the watched interest can be set and cleared")
    func interestCanChange() async throws {
        try await onVirtualLoop { loop in
            let (near, far) = socketPair(.stream)
            let seen = Lock<[[UInt8]]>([])
            let watched = WatchedDescriptor(near, on: loop)
            try watched.watch(for: []) { _ in
                let octets = readAll(from: near)
                seen.withLock { $0.append(octets) }
            }
            #expect(writeSome([1], to: far) == 1)
            await loop.settle()
            #expect(seen.withLock { $0 }.isEmpty)
            watched.setInterest(.read)
            await loop.settle()
            #expect(seen.withLock { $0 } == [[1]])
            watched.setInterest([])
            #expect(writeSome([2], to: far) == 1)
            await loop.settle()
            #expect(seen.withLock { $0 } == [[1]])
            watched.close()
            close(far)
        }
    }

    @Test("watching an invalid descriptor throws a typed error")
    func invalidDescriptorCannotBeWatched() async throws {
        try await onVirtualLoop { loop in
            let watched = WatchedDescriptor(-1, on: loop)
            #expect(throws: PortError.system(.badFileDescriptor, during: "epoll_ctl")) {
                try watched.watch(for: .read) { _ in }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct FoldersOnDiskTests {
    @Test(
        "created, renamed and removed files are reported with their folder, then the folder's removal")
    func fileChangesAndFolderRemovalAreReported() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (first, second) = (folder.path("a"), folder.path("b"))
        let parent = String(first.dropLast(2))
        let loop = try EventLoop()
        let outcome = await Task(executorPreference: loop) {
            let (events, continuation) = AsyncStream<FolderWatch.Event>.makeStream()
            let watch = try FolderWatch(on: loop)
            let number = try watch.add(parent)
            #expect(try watch.add(parent) == number)
            try watch.start { for event in $0 { continuation.yield(event) } }
            try makeFile(first)
            rename(first, second)
            unlink(second)
            rmdir(parent)
            var seen: [FolderWatch.Event] = []
            for await event in events {
                seen.append(event)
                if event == .gone(folder: number) { break }
            }
            #expect(
                seen == [
                    .changed(folder: number, name: "a"), .changed(folder: number, name: "a"),
                    .changed(folder: number, name: "b"), .changed(folder: number, name: "b"),
                    .gone(folder: number),
                ])
            withExtendedLifetime(watch) {}
        }.result
        loop.stop()
        try outcome.get()
    }

    @Test("only an existing folder can be watched")
    func onlyFoldersCanBeWatched() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (file, missing) = (folder.path("file"), folder.path("missing"))
        try makeFile(file)
        try await onVirtualLoop { loop in
            let watch = try FolderWatch(on: loop)
            for (path, errno) in [(file, Errno.notDirectory), (missing, .noSuchFileOrDirectory)] {
                #expect(throws: PortError.system(errno, during: "inotify_add_watch \(path)")) {
                    try watch.add(path)
                }
            }
        }
    }
}
