import Glibc
import HCISocket

/// Folders that belong to the user who runs the process.
package enum UserFolder {
    /// Opens the folder for sockets and other files that need not outlast a session, which no other user can
    /// enter. It is created if it is missing and `creates` is true; otherwise the result is then nil.
    ///
    /// It is below $XDG_RUNTIME_DIR if that belongs to the user and is writable, which it is not after `su`.
    /// Otherwise it is below /run/user/UID, which is the usual value, so that processes with and without the
    /// variable share the folder. Root's folder is below /run instead, because its services start without a
    /// session. If there is none of these, it is in /tmp, with the user's number in its name. There another
    /// user can have made a folder of that name: that is an error.
    package static func runtime(creates: Bool = true) throws(FolderError) -> OpenFolder? {
        try runtime(below: bases, creates: creates)
    }

    /// The path of that folder, which need not exist.
    package static var runtimePath: String { place(below: bases, orIn: "/tmp").path }

    private static var bases: [String] {
        let (base, usual) = (
            getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "", "/run/user/\(geteuid())"
        )
        return geteuid() == 0 && base == usual ? ["/run", usual] : [base, geteuid() == 0 ? "/run" : usual]
    }

    /// Returns the parent of the folder, nil for `temporary`, and the folder's name and path.
    private static func place(
        below bases: [String], orIn temporary: String
    ) -> (parent: OpenFolder?, name: String, path: String) {
        for base in bases where base.hasPrefix("/") {
            if let parent = try? OpenFolder(base), parent.isOurs {
                return (parent, "bletool", parent.path(of: "bletool"))
            }
        }
        let name = "bletool-\(geteuid())"
        return (nil, name, "\(temporary)/\(name)")
    }

    /// Opens the folder below the first of `bases` that the user owns and can write to, or else the one in
    /// `temporary`.
    package static func runtime(
        below bases: [String], orIn temporary: String = "/tmp", creates: Bool = true
    ) throws(FolderError) -> OpenFolder? {
        let (found, name, _) = place(below: bases, orIn: temporary)
        let parent = if let found { found } else { try OpenFolder(temporary) }
        if creates { try parent.make(name) }
        return try parent.privateFolder(name)
    }
}
