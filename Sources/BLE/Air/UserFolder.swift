import Glibc

/// Folders that belong to the user who runs the process.
package enum UserFolder {
    /// A folder for sockets and what need not outlast a session, made if it is missing, that no other user can enter:
    /// below $XDG_RUNTIME_DIR where that is, else in /tmp under the user's number. Another user's folder of that name
    /// is not used.
    package static var runtime: String {
        let base = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        let path = access(base, W_OK) == 0 ? "\(base)/bletool" : "/tmp/bletool-\(getuid())"
        mkdir(path, 0o700)
        var information = stat()
        let isOurs =
            lstat(path, &information) == 0 && information.st_uid == getuid()
            && information.st_mode & S_IFMT == S_IFDIR && information.st_mode & 0o077 == 0
        // A path that cannot be opened: using it fails with the system's error.
        return isOurs ? path : "\(path)/not-a-private-folder"
    }
}
