import CLinux
import Glibc
import SystemPackage

/// The file of a Unix socket.
struct SocketFile: Sendable {
    /// The path by which users know the file.
    let path: String
    /// The open folder that contains the file, or nil if the path is used as it is.
    private let folder: OpenFolder?

    /// Describes the file with this path. If `folder` is not nil, it is the open folder that contains the file.
    init(_ path: String, in folder: OpenFolder?) { (self.path, self.folder) = (path, folder) }

    /// The folder and the name for calls such as openat(2).
    private var place: (descriptor: CInt, name: String) {
        guard let folder else { return (AT_FDCWD, path) }
        return (
            folder.descriptor, path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        )
    }

    /// Returns the address for bind(2) and connect(2), which take no descriptor of a folder.
    func address() throws(PortError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array((folder.map { "\($0.descriptorPath)/\(place.name)" } ?? path).utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room -> Bool in
            // The path and its terminating zero.
            guard !octets.isEmpty, octets.count < room.count else { return false }
            room.copyBytes(from: octets)
            return true
        }
        guard fits else { throw .system(.fileNameTooLong, during: "unix socket path \(path)") }
        return address
    }

    var isSocket: Bool {
        var status = stat()
        return fstatat(place.descriptor, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && status.st_mode & S_IFMT == S_IFSOCK
    }

    func remove() { unlinkat(place.descriptor, place.name, 0) }

    /// Runs `body` while only this process holds a file beside this one, which is removed afterwards. Throws
    /// `PortError.held` if another process holds the file for `limit`: those that use it as this one does hold
    /// it for a moment, but in a shared folder any user can hold it.
    func locked<Result>(
        within limit: Duration = .seconds(5), on loop: EventLoop = .shared,
        _ body: () throws(PortError) -> Result
    ) async throws(PortError) -> Result {
        let descriptor = try await lock(within: limit, on: loop)
        defer {
            unlinkat(place.descriptor, lockName, 0)
            close(descriptor)
        }
        return try body()
    }

    private var lockName: String { place.name + ".lock" }

    private func lock(within limit: Duration, on loop: EventLoop) async throws(PortError) -> CInt {
        if let descriptor = try takeLock() { return descriptor }
        // The holder removes the file when it is done.
        let watch = try FolderWatch(on: loop)
        _ = try watch.add(watched)
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        change.yield()
        loop.execute { try? watch.start { _ in change.yield() } }
        let outcome = await withTaskGroup(of: Swift.Result<CInt?, PortError>.self) { group in
            group.addTask {
                for await _ in changes {
                    let attempt = attempt()
                    if case .success(nil) = attempt { continue }
                    return attempt
                }
                return .success(nil)
            }
            group.addTask {
                // A holder that was killed has removed nothing.
                await loop.sleep(for: limit) ? attempt() : .success(nil)
            }
            var outcome = Swift.Result<CInt?, PortError>.success(nil)
            for await result in group {
                group.cancelAll()
                // The lock can be taken just when the other attempt has failed, but not twice.
                if case .success(_?) = outcome { continue }
                if case .success(nil) = result { continue }
                outcome = result
            }
            return outcome
        }
        withExtendedLifetime(watch) {}
        guard let descriptor = try outcome.get() else { throw .held("\(path).lock", after: limit) }
        return descriptor
    }

    /// The path of the folder that contains the file, for a watch.
    private var watched: String {
        if let folder { return folder.descriptorPath }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func attempt() -> Swift.Result<CInt?, PortError> {
        do throws(PortError) { return .success(try takeLock()) } catch { return .failure(error) }
    }

    /// Takes the lock; nil while another process has it.
    private func takeLock() throws(PortError) -> CInt? {
        while true {
            let descriptor = openat(
                place.descriptor, lockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw .system(.current, during: "open \(path).lock") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let error = Errno.current
                close(descriptor)
                if error == .wouldBlock { return nil }
                throw .system(error, during: "flock \(path).lock")
            }
            // The previous holder has removed the file, so the held file may not be the one that other
            // processes find.
            var (held, found) = (stat(), stat())
            if fstat(descriptor, &held) == 0,
                fstatat(place.descriptor, lockName, &found, AT_SYMLINK_NOFOLLOW) == 0,
                held.st_ino == found.st_ino
            {
                return descriptor
            }
            close(descriptor)
        }
    }
}
