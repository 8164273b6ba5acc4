import Glibc

/// Folders that belong to the user who runs the process.
package enum UserFolder {
    /// The folder for sockets and other files that need not outlast a session. It is created if it is
    /// missing, and no other user can enter it: below $XDG_RUNTIME_DIR if that is writable, otherwise in /tmp
    /// with the user's number in its name. A folder of that name that belongs to another user is not used.
    package static var runtime: String {
        let base = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        let path = access(base, W_OK) == 0 ? "\(base)/bletool" : "/tmp/bletool-\(getuid())"
        mkdir(path, 0o700)
        var information = stat()
        let isOurs =
            lstat(path, &information) == 0 && information.st_uid == getuid()
            && information.st_mode & S_IFMT == S_IFDIR && information.st_mode & 0o077 == 0
        // Return a path that cannot be opened: using it fails with the system's error.
        return isOurs ? path : "\(path)/not-a-private-folder"
    }
}
