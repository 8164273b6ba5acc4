import CLinux
import Glibc
import HCISocket
import SystemPackage

/// The system calls for the files in the state folder. Everything that is done to a disk is done here, one
/// step at a time.
struct Disk: Sendable {
    /// A step that is about to be done on the disk.
    enum Step: Hashable, Sendable {
        case makeFolder(String)
        case create(String)
        case write(String)
        case synchronize(String)
        case synchronizeAll(String)
        case rename(String, to: String)
        case remove(String)
    }

    /// Runs before each step. A test throws here, and finds the state in which a disk is left that fails at
    /// this step.
    var before: @Sendable (Step) throws(Errno) -> Void = { _ in }
    /// The time after which a wait for the file of a claim fails, if another process holds the file.
    var timeLimit = Duration.seconds(10)
}

// MARK: - Reading

extension Disk {
    /// The maximum number of octets in a file.
    static let limit = 1 << 22

    /// Returns the octets of a file; nil when there is none. For a file larger than `limit`, which this
    /// library never writes, returns the beginning.
    func contents(_ path: String, limit: Int = Self.limit) throws(StateError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(.current, during: "open \(path)")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(.current, during: "fstat \(path)") }
        var octets: [UInt8] = []
        var problem: Errno?
        // One octet more than the file has, to detect its end.
        var room = min(max(0, Int(status.st_size)), limit) + 1
        while room > 0, problem == nil {
            var count = 0
            octets.append(addingCapacity: room) { span in
                span.withUnsafeMutableBufferPointer { buffer, initialized in
                    count = read(descriptor, buffer.baseAddress, room)
                    initialized = max(0, count)
                }
            }
            if count == 0 { break }
            if count < 0, errno != EINTR { problem = .current }
            room -= max(0, count)
        }
        if let problem { throw .system(problem, during: "read \(path)") }
        return octets
    }

    /// Returns the names in a folder, in no particular order; none when there is no such folder.
    func names(in path: String) throws(StateError) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw .system(.current, during: "open \(path)")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        guard errno == 0 else { throw .system(.current, during: "read \(path)") }
        return names
    }
}

// MARK: - Writing

extension Disk {
    /// Creates a folder that only its owner can enter, if it is missing. Returns true when it was.
    @discardableResult
    func makeFolder(_ path: String) throws(StateError) -> Bool {
        if access(path, F_OK) == 0 { return false }
        try announce(.makeFolder(path))
        guard mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { return false }
            throw .system(.current, during: "mkdir \(path)")
        }
        return true
    }

    /// Creates a folder that only its owner can enter, and the folders that contain it, where they are
    /// missing.
    func makeFolders(_ path: String) throws(StateError) {
        var made = path.hasPrefix("/") ? "" : "."
        for name in path.split(separator: "/") {
            let folder = made == "." && !path.hasPrefix("/") ? String(name) : "\(made)/\(name)"
            if try makeFolder(folder) { try synchronize(made.isEmpty ? "/" : made) }
            made = folder
        }
        try closeToOthers(path)
    }

    /// Restricts a folder so that only its owner can enter it.
    func closeToOthers(_ path: String) throws(StateError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(.current, during: "stat \(path)") }
        guard status.st_mode & 0o077 != 0 else { return }
        guard chmod(path, 0o700) == 0 else { throw .system(.current, during: "chmod \(path)") }
    }

    /// Creates a file of `octets` that only its owner can read. All of it is on the disk when this returns,
    /// unless `synchronizes` is false: then a call of `synchronizeAll` has to follow. An existing file is not
    /// replaced atomically: use a new name, and then replace the old file by `rename`.
    func write(
        _ octets: [UInt8], to path: String, synchronizes: Bool = true
    ) throws(StateError) {
        try announce(.create(path))
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(.current, during: "create \(path)") }
        defer { close(descriptor) }
        try announce(.write(path))
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw .system(.current, during: "write \(path)")
            }
        }
        guard synchronizes else { return }
        try announce(.synchronize(path))
        guard fsync(descriptor) == 0 else { throw .system(.current, during: "fsync \(path)") }
    }

    /// Writes everything on the file system of a folder to the disk. For many files that is a hundred times
    /// as fast as one after the other.
    func synchronizeAll(_ path: String) throws(StateError) {
        try announce(.synchronizeAll(path))
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
        defer { close(descriptor) }
        guard syncfs(descriptor) == 0 else { throw .system(.current, during: "syncfs \(path)") }
    }

    /// Renames a file, and atomically replaces a file that had the new name.
    func rename(_ path: String, to new: String) throws(StateError) {
        try announce(.rename(path, to: new))
        guard Glibc.rename(path, new) == 0 else { throw .system(.current, during: "rename \(path)") }
    }

    /// Returns a free name beside a file's: its name with this suffix, and a number if necessary.
    func freeName(_ path: String, suffix: String) -> String {
        var (new, number) = ("\(path).\(suffix)", 1)
        while access(new, F_OK) == 0 {
            number += 1
            new = "\(path).\(suffix)-\(number)"
        }
        return new
    }

    /// Removes a file. Returns false when there is none.
    @discardableResult
    func remove(_ path: String) throws(StateError) -> Bool {
        try announce(.remove(path))
        guard unlink(path) == 0 else {
            if errno == ENOENT { return false }
            throw .system(.current, during: "remove \(path)")
        }
        return true
    }

    /// Writes the names in a folder to the disk.
    func synchronize(_ path: String) throws(StateError) {
        try announce(.synchronize(path))
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(.current, during: "fsync \(path)") }
    }

    /// Opens a file that one process at a time can hold, and creates it if it is missing.
    func claim(_ path: String) throws(StateError) -> DiskClaim {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
        return DiskClaim(descriptor, path, timeLimit)
    }

    private func announce(_ step: Step) throws(StateError) {
        do throws(Errno) {
            try before(step)
        } catch {
            throw .system(error, during: "\(step)")
        }
    }
}

/// Runs work on files off the event loop. A task that prefers the loop would run it there, and even an actor's work
/// with it.
func offLoop<Success: Sendable>(
    _ body: @escaping @Sendable () async throws(BLEError) -> Success
) async throws(BLEError) -> Success {
    let outcome = await Task.detached { () async -> Result<Success, BLEError> in
        do throws(BLEError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }.value
    return try outcome.get()
}
