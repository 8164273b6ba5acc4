import CLinux
import Glibc
import SystemPackage

/// An open folder. Its entries are named relative to `descriptor`, so a folder or a link that another user puts
/// in the path later has no effect.
package final class OpenFolder: Sendable {
    /// What a process does in a private folder.
    package enum Use: Sendable {
        /// The process reads and writes. The folder has to belong to the user of the process.
        case writing
        /// The process changes neither the folder nor its files. Root can read the folders of all users.
        case reading
    }

    /// The path by which the folder was found, for messages.
    package let path: String
    /// The descriptor of the folder, for openat(2) and similar calls.
    package let descriptor: CInt
    /// The user to whom the folder belongs.
    package let owner: uid_t

    /// Opens a folder by its path, of which symbolic links are followed.
    package convenience init(_ path: String) throws(FolderError) {
        let descriptor = open(path, CLINUX_O_PATH | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
        try self.init(descriptor, path)
    }

    /// Takes ownership of a descriptor.
    private init(_ descriptor: CInt, _ path: String) throws(FolderError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let problem = Errno.current
            close(descriptor)
            throw .system(problem, during: "fstat \(path)")
        }
        (self.descriptor, self.path, owner) = (descriptor, path, status.st_uid)
    }

    deinit { close(descriptor) }

    /// Returns the path of an entry, for messages.
    package func path(of name: String) -> String {
        switch path {
        case ".": name
        case "/": "/\(name)"
        default: "\(path)/\(name)"
        }
    }

    /// A path that leads to the folder as it is open, for system calls that take no descriptor.
    package var descriptorPath: String { "/proc/self/fd/\(descriptor)" }

    /// Whether the folder belongs to this user and can be written to.
    package var isOurs: Bool {
        owner == geteuid() && faccessat(descriptor, ".", W_OK | X_OK, CLINUX_AT_EACCESS) == 0
    }

    /// Whether the folder has been removed since it was opened.
    package var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// Creates a folder that only its owner can enter. An existing entry stays as it is.
    package func make(_ name: String) throws(FolderError) {
        guard mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else {
            throw .system(.current, during: "mkdir \(path(of: name))")
        }
    }
}

// MARK: - Private folders

extension OpenFolder {
    /// Opens a folder in this one that contains files of this program alone; nil when there is none. A symbolic
    /// link is not followed. The folder has to belong to this user, and not be one in which all users could have
    /// put files. For writing, it is then closed to other users.
    package func privateFolder(_ name: String, for use: Use = .writing) throws(FolderError) -> OpenFolder? {
        // A folder of another user may not be readable.
        guard let found = try entry(name, CLINUX_O_PATH | O_DIRECTORY) else { return nil }
        var status = stat()
        guard fstat(found.descriptor, &status) == 0 else {
            throw .system(.current, during: "fstat \(found.path)")
        }
        let isOurs = found.owner == geteuid() || use == .reading && geteuid() == 0
        guard isOurs else { throw .owner(path: found.path, user: found.owner) }
        guard status.st_mode & 0o002 == 0 else {
            throw .writable(path: found.path, mode: status.st_mode & 0o777)
        }
        let descriptor = openat(found.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(found.path)") }
        let folder = try OpenFolder(descriptor, found.path)
        if use == .writing, status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 {
            throw .system(.current, during: "chmod \(found.path)")
        }
        return folder
    }

    /// Opens a folder in this one, without following a symbolic link; nil when there is none.
    private func entry(_ name: String, _ options: CInt) throws(FolderError) -> OpenFolder? {
        let path = path(of: name)
        let inner = openat(descriptor, name, options | O_NOFOLLOW | O_CLOEXEC)
        guard inner < 0 else { return try OpenFolder(inner, path) }
        switch Errno.current {
        case .noSuchFileOrDirectory: return nil
        case .notDirectory, .tooManySymbolicLinkLevels: throw .notFolder(path: path)
        case let error: throw .system(error, during: "open \(path)")
        }
    }
}

// MARK: - Folders that contain them

extension OpenFolder {
    /// The maximum number of symbolic links in a path, as in the kernel.
    private static let linkLimit = 40

    /// Opens a folder in this one, following symbolic links; nil when there is none. For writing, no other user
    /// than root may be able to replace the folder, or a link to it, by another one.
    package func parent(_ name: String, for use: Use) throws(FolderError) -> OpenFolder? {
        var links = 0
        return try parent(name, for: use, &links)
    }

    private func parent(_ name: String, for use: Use, _ links: inout Int) throws(FolderError) -> OpenFolder? {
        guard let found = try any(name) else { return nil }
        var status = stat()
        guard fstat(found.descriptor, &status) == 0 else {
            throw .system(.current, during: "fstat \(found.path)")
        }
        if use == .writing { try found.checkParent(status) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return found
        case S_IFLNK:
            links += 1
            guard links <= Self.linkLimit else {
                throw .system(.tooManySymbolicLinkLevels, during: "open \(found.path)")
            }
            let target = try found.target()
            var folder = target.hasPrefix("/") ? try OpenFolder("/") : self
            for part in target.split(separator: "/") {
                guard let next = try folder.parent(String(part), for: use, &links) else { return nil }
                folder = next
            }
            return folder
        default: throw .system(.notDirectory, during: "open \(found.path)")
        }
    }

    /// Opens an entry of any kind; nil when there is none. A symbolic link itself is opened.
    private func any(_ name: String) throws(FolderError) -> OpenFolder? {
        let inner = openat(descriptor, name, CLINUX_O_PATH | O_NOFOLLOW | O_CLOEXEC)
        if inner >= 0 { return try OpenFolder(inner, path(of: name)) }
        if errno == ENOENT { return nil }
        throw .system(.current, during: "open \(path(of: name))")
    }

    /// Throws if another user than root could replace entries of this folder, or has made this link.
    private func checkParent(_ status: stat) throws(FolderError) {
        // In a user namespace, root's folders can appear with another number.
        var top = stat()
        let isTrusted =
            owner == geteuid() || owner == 0 || stat("/", &top) == 0 && owner == top.st_uid
        guard isTrusted else { throw .owner(path: path, user: owner) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        guard !isFolder || status.st_mode & 0o002 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw .writable(path: path, mode: status.st_mode & 0o777)
        }
    }

    /// Returns the target of a symbolic link that is open.
    private func target() throws(FolderError) -> String {
        var count = -1
        let octets = [CChar](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, initialized in
            if let start = buffer.baseAddress { count = readlinkat(descriptor, "", start, buffer.count) }
            initialized = max(0, count)
        }
        guard !octets.isEmpty else { throw .system(.current, during: "readlink \(path)") }
        return String(decoding: octets.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
