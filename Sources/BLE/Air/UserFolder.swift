import Glibc

/// Folders that belong to the user who runs the process.
package enum UserFolder {
    /// The folder for sockets and other files that need not outlast a session. It is created if it is
    /// missing, and no other user can enter it. It is below $XDG_RUNTIME_DIR if that belongs to the user and
    /// is writable, which it is not after `su`. Otherwise it is below /run/user/UID, which is the usual value,
    /// so that processes with and without the variable share the folder. If there is neither, it is in /tmp,
    /// with the user's number in its name. A folder of that name that belongs to another user is not used.
    package static var runtime: String {
        let base = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        return runtime(below: [base, "/run/user/\(getuid())"])
    }

    /// Returns the folder below the first of these folders that the user owns and can write to, or else the
    /// one in /tmp.
    package static func runtime(below bases: [String]) -> String {
        var information = stat()
        let base = bases.first {
            $0.hasPrefix("/") && stat($0, &information) == 0 && information.st_uid == getuid()
                && access($0, W_OK | X_OK) == 0
        }
        let path = base.map { "\($0)/bletool" } ?? "/tmp/bletool-\(getuid())"
        mkdir(path, 0o700)
        let isOurs =
            lstat(path, &information) == 0 && information.st_uid == getuid()
            && information.st_mode & S_IFMT == S_IFDIR && information.st_mode & 0o077 == 0
        // Return a path that cannot be opened: using it fails with the system's error.
        return isOurs ? path : "\(path)/not-a-private-folder"
    }
}
