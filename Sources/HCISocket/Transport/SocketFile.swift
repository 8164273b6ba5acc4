import CLinux
import Glibc
import SystemPackage

/// The file of a Unix socket.
struct SocketFile {
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

    /// Runs `body` while only this process holds a file beside this one, which is removed afterwards.
    func locked<Result>(_ body: () throws(PortError) -> Result) throws(PortError) -> Result {
        let name = place.name + ".lock"
        let descriptor = try lock(name)
        defer {
            unlinkat(place.descriptor, name, 0)
            close(descriptor)
        }
        return try body()
    }

    private func lock(_ name: String) throws(PortError) -> CInt {
        while true {
            let descriptor = openat(
                place.descriptor, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw .system(.current, during: "open \(path).lock") }
            guard flock(descriptor, LOCK_EX) == 0 else {
                let error = Errno.current
                close(descriptor)
                throw .system(error, during: "flock \(path).lock")
            }
            // The previous holder has removed the file, so the held file may not be the one that other
            // processes find.
            var (held, found) = (stat(), stat())
            if fstat(descriptor, &held) == 0,
                fstatat(place.descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0, held.st_ino == found.st_ino
            {
                return descriptor
            }
            close(descriptor)
        }
    }
}
