import CLinux
import Glibc
import HCISocket

/// The copy of this program that may use the kernel's adapters. It belongs to root and a group, whose members alone
/// may execute it, and its file has the capabilities. The program itself has none, and any user may execute it.
///
/// `make install GROUP=name` installs the copy in `libexec`, beside the folder `bin` of the program.
struct PermittedCopy {
    /// The state of the copy for this process.
    enum State: Hashable {
        /// The program is not in a place where only root can put a copy beside it.
        case unsafePlace
        /// There is no copy of this version that has the capabilities.
        case missing
        /// Only members of this group may execute it.
        case forbidden(group: String)
        case usable
    }

    /// The path of the program.
    let program: String
    /// Whether a file or folder with this status can be changed only by root.
    private let isRoots: (stat) -> Bool
    /// Whether a file has capabilities.
    private let hasCapabilities: (String) -> Bool

    /// Creates the copy of the running program; nil if the path of the program is not known.
    init?() {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { room in
                room.baseAddress.map { max(0, readlink("/proc/self/exe", $0, room.count)) } ?? 0
            }
        }
        // A file that was replaced while it runs has no path.
        guard let text = String(validating: path, as: UTF8.self), !text.isEmpty, !text.hasSuffix(" (deleted)")
        else { return nil }
        self.init(program: text)
    }

    init(
        program: String,
        isRoots: @escaping (stat) -> Bool = { $0.st_uid == 0 && $0.st_mode & 0o022 == 0 },
        hasCapabilities: @escaping (String) -> Bool = { getxattr($0, "security.capability", nil, 0) > 0 }
    ) {
        (self.program, self.isRoots, self.hasCapabilities) = (program, isRoots, hasCapabilities)
    }

    /// The path of the copy: /usr/local/libexec/bletool for /usr/local/bin/bletool.
    var path: String { "\(prefix)/libexec/bletool" }

    private var prefix: String {
        let prefix = File.folder(of: File.folder(of: program))
        return prefix == "/" ? "" : prefix
    }

    var state: State {
        guard program.hasSuffix("/bin/bletool"), isPlaceSafe else { return .unsafePlace }
        var (original, copy) = (stat(), stat())
        // An earlier version could have other options.
        guard stat(program, &original) == 0, lstat(path, &copy) == 0, copy.st_mode & S_IFMT == S_IFREG,
            isRoots(copy), copy.st_size == original.st_size, copy.written >= original.written,
            hasCapabilities(path)
        else { return .missing }
        guard access(path, X_OK) == 0 else {
            let name = getgrgid(copy.st_gid).flatMap { String(validatingCString: $0.pointee.gr_name) }
            return .forbidden(group: name ?? "\(copy.st_gid)")
        }
        return .usable
    }

    /// Whether only root can change the folders that lead to the program and to the copy. Otherwise, another user
    /// could make that user's own program the copy.
    private var isPlaceSafe: Bool {
        var folder = "\(prefix)/libexec"
        var status = stat()
        // The folder of the copy may be missing.
        if lstat(folder, &status) == 0, !isRoots(status) { return false }
        folder = "\(prefix)/bin"
        while true {
            // The path of a running program has no symbolic links.
            guard lstat(folder.isEmpty ? "/" : folder, &status) == 0, isRoots(status) else { return false }
            if folder.isEmpty { return true }
            folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        }
    }

    /// Continues as the copy, if this process lacks the capabilities and its user may execute the copy. If no
    /// process can get capabilities from a file here (no_new_privs), the copy reports that.
    func execute() {
        guard Self.lacksCapabilities, state == .usable else { return }
        // The threads of the pool, of which this can be one, block signals, and the program keeps that mask.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        execv(path, CommandLine.unsafeArgv)
        // The copy cannot be executed, so this program reports what it lacks.
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    private static var lacksCapabilities: Bool {
        var header = __user_cap_header_struct(version: UInt32(_LINUX_CAPABILITY_VERSION_3), pid: 0)
        var sets = [__user_cap_data_struct](repeating: .init(), count: Int(_LINUX_CAPABILITY_U32S_3))
        guard capget(&header, &sets) == 0 else { return false }
        let wanted = UInt32(1) << UInt32(CAP_NET_ADMIN) | UInt32(1) << UInt32(CAP_NET_RAW)
        return sets[0].effective & wanted != wanted
    }
}

extension PermittedCopy {
    /// The command with which a user who has no permission gets it.
    var grant: String {
        let capabilities = "setcap cap_net_raw,cap_net_admin+ep"
        switch state {
        case .forbidden(let group): return "sudo usermod -aG \(group) $USER, then log in again"
        case .missing, .usable:
            let (program, copy) = (Self.quoted(program), Self.quoted(path))
            return "sudo groupadd -f bluetooth && sudo install -D -m 750 -g bluetooth \(program) \(copy) && "
                + "sudo \(capabilities) \(copy) && sudo usermod -aG bluetooth $USER, then log in again"
        case .unsafePlace:
            return
                "make install GROUP=bluetooth, or sudo \(capabilities) \(Self.quoted(program)) for all users"
        }
    }

    /// A path as a word of a shell.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "/._-+".contains($0) }
        return isPlain ? text : "'\(text.replacing("'", with: #"'\''"#))'"
    }
}
