import CLinux
import Glibc
import HCISocket
import SystemPackage

/// The system calls for the files in the state folder. Everything that is done to a disk is done here, one
/// step at a time.
package struct Disk: Sendable {
    /// A step that is about to be done on the disk, with the paths of files and folders.
    package enum Step: Hashable, Sendable {
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
    var before: @Sendable (Step) throws(Errno) -> Void
    /// The time after which a wait for the file of a claim fails, if another process holds the file.
    var timeLimit = Duration.seconds(10)

    /// Creates a disk that runs `before` before each step.
    package init(before: @escaping @Sendable (Step) throws(Errno) -> Void = { _ in }) {
        self.before = before
    }
}

/// A file of this program: a name in an open folder.
package struct DiskFile: Sendable {
    let folder: OpenFolder
    let name: String

    package init(_ name: String, in folder: OpenFolder) { (self.name, self.folder) = (name, folder) }

    /// The path of the file, for messages.
    package var path: String { folder.path(of: name) }

    /// Returns the file beside this one whose name has this suffix.
    package func with(suffix: String) -> DiskFile { DiskFile("\(name).\(suffix)", in: folder) }
}

// MARK: - Reading

extension Disk {
    /// The maximum number of octets in a file.
    static let limit = 1 << 22

    /// Returns the octets of a file; nil when there is none. For a file larger than `limit`, which this
    /// library never writes, returns the beginning.
    package func contents(_ file: DiskFile, limit: Int = Self.limit) throws(StateError) -> [UInt8]? {
        let path = file.path
        let descriptor = openat(
            file.folder.descriptor, file.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(.current, during: "open \(path)")
        }
        defer { close(descriptor) }
        let status = try check(descriptor, file)
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

    /// Returns the names in a folder, in no particular order.
    func names(in folder: OpenFolder) throws(StateError) -> [String] {
        // A descriptor of its own, because reading moves its position.
        let descriptor = openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let entries = fdopendir(descriptor) else {
            let problem = Errno.current
            if descriptor >= 0 { close(descriptor) }
            throw .system(problem, during: "open \(folder.path)")
        }
        defer { closedir(entries) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(entries) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        guard errno == 0 else { throw .system(.current, during: "read \(folder.path)") }
        return names
    }

    /// Returns the status of an open file. Throws if it is no file, or one that another user has put in the
    /// folder while that was possible.
    @discardableResult
    private func check(_ descriptor: CInt, _ file: DiskFile) throws(StateError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(.current, during: "fstat \(file.path)") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .system(.invalidArgument, during: "open \(file.path), which is no file")
        }
        guard status.st_uid == file.folder.owner || status.st_uid == 0 else {
            throw .folder(.owner(path: file.path, user: status.st_uid))
        }
        return status
    }

    /// Returns whether a name is taken, also by a link that points to nothing.
    private func exists(_ file: DiskFile) -> Bool {
        var status = stat()
        return fstatat(file.folder.descriptor, file.name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }
}

// MARK: - Folders

extension Disk {
    /// Opens the folder with this path, whose last name is that of a folder of this program; nil when there is
    /// none.
    func folder(_ path: String, for use: OpenFolder.Use = .writing) throws(StateError) -> OpenFolder? {
        let (start, names) = Self.names(of: path)
        return try folders { () throws(FolderError) in
            var parent = try OpenFolder(start)
            for name in names.dropLast() {
                guard let next = try parent.parent(name, for: use) else { return nil }
                parent = next
            }
            return try parent.privateFolder(names.last ?? ".", for: use)
        }
    }

    /// Opens the folder with this path for writing. Creates it, and the folders that contain it, where they are
    /// missing: only their owner can enter them.
    func madeFolder(_ path: String) throws(StateError) -> OpenFolder {
        let (start, names) = Self.names(of: path)
        var parent = try folders { () throws(FolderError) in try OpenFolder(start) }
        for name in names.dropLast() {
            parent = try made(name, in: parent) { () throws(FolderError) in
                try parent.parent(name, for: .writing)
            }
        }
        return try madeFolder(names.last ?? ".", in: parent)
    }

    /// Opens a folder of this program; nil when there is none.
    func folder(
        _ name: String, in parent: OpenFolder, for use: OpenFolder.Use = .writing
    ) throws(StateError) -> OpenFolder? {
        try folders { () throws(FolderError) in try parent.privateFolder(name, for: use) }
    }

    /// Opens a folder of this program, and creates it if it is missing.
    func madeFolder(_ name: String, in parent: OpenFolder) throws(StateError) -> OpenFolder {
        try made(name, in: parent) { () throws(FolderError) in try parent.privateFolder(name) }
    }

    private func made(
        _ name: String, in parent: OpenFolder, _ open: () throws(FolderError) -> OpenFolder?
    ) throws(StateError) -> OpenFolder {
        if let folder = try folders(open) { return folder }
        try announce(.makeFolder(parent.path(of: name)))
        try folders { () throws(FolderError) in try parent.make(name) }
        try synchronize(parent)
        guard let folder = try folders(open) else {
            throw .system(.noSuchFileOrDirectory, during: "open \(parent.path(of: name))")
        }
        return folder
    }

    /// Returns the folder in which a path starts, and the names after it.
    private static func names(of path: String) -> (start: String, names: [String]) {
        (path.hasPrefix("/") ? "/" : ".", path.split(separator: "/").map(String.init))
    }

    private func folders<Result>(
        _ body: () throws(FolderError) -> Result
    ) throws(StateError) -> Result {
        do throws(FolderError) {
            return try body()
        } catch {
            throw StateError(error)
        }
    }
}

// MARK: - Writing

extension Disk {
    /// Creates a file of `octets` that only its owner can read. All of it is on the disk when this returns,
    /// unless `synchronizes` is false: then a call of `synchronizeAll` has to follow. An existing file is
    /// removed before, so use a new name, and then replace the old file by `rename`.
    package func write(
        _ octets: [UInt8], to file: DiskFile, synchronizes: Bool = true
    ) throws(StateError) {
        let path = file.path
        try announce(.create(path))
        // The leftover of a process that was killed.
        unlinkat(file.folder.descriptor, file.name, 0)
        let descriptor = openat(
            file.folder.descriptor, file.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
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
    func synchronizeAll(_ folder: OpenFolder) throws(StateError) {
        try announce(.synchronizeAll(folder.path))
        try synchronize(folder, "syncfs", syncfs)
    }

    /// Renames a file, and atomically replaces a file that had the new name.
    package func rename(_ file: DiskFile, to new: DiskFile) throws(StateError) {
        try announce(.rename(file.path, to: new.path))
        guard renameat(file.folder.descriptor, file.name, new.folder.descriptor, new.name) == 0 else {
            throw .system(.current, during: "rename \(file.path)")
        }
    }

    /// Returns a file beside this one that does not exist: its name with this suffix, and a number if
    /// necessary.
    func free(_ file: DiskFile, suffix: String) -> DiskFile {
        var (new, number) = (file.with(suffix: suffix), 1)
        while exists(new) {
            number += 1
            new = file.with(suffix: "\(suffix)-\(number)")
        }
        return new
    }

    /// Removes a file. Returns false when there is none.
    @discardableResult
    package func remove(_ file: DiskFile) throws(StateError) -> Bool {
        try announce(.remove(file.path))
        guard unlinkat(file.folder.descriptor, file.name, 0) == 0 else {
            if errno == ENOENT { return false }
            throw .system(.current, during: "remove \(file.path)")
        }
        return true
    }

    /// Writes the names in a folder to the disk.
    func synchronize(_ folder: OpenFolder) throws(StateError) {
        try announce(.synchronize(folder.path))
        try synchronize(folder, "fsync", fsync)
    }

    private func synchronize(
        _ folder: OpenFolder, _ name: String, _ call: (CInt) -> CInt
    ) throws(StateError) {
        // A folder that contains private folders is open without the right to read it.
        let descriptor = openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(folder.path)") }
        defer { close(descriptor) }
        guard call(descriptor) == 0 else { throw .system(.current, during: "\(name) \(folder.path)") }
    }

    /// Opens a file that one process at a time can hold, and creates it if it is missing.
    func claim(_ file: DiskFile) throws(StateError) -> DiskClaim {
        let descriptor = openat(
            file.folder.descriptor, file.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(file.path)") }
        // Closes the file in any case.
        let claim = DiskClaim(descriptor, file.path, timeLimit)
        try check(descriptor, file)
        return claim
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
    let outcome = await EventLoop.awaitingWork {
        await Task.detached { () async -> Result<Success, BLEError> in
            do throws(BLEError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }.value
    }
    return try outcome.get()
}
