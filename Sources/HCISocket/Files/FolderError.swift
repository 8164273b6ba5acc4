import SystemPackage

/// The reason why a folder for private files is not used.
public enum FolderError: Error, Hashable, Sendable {
    /// The path is that of a file, or of a symbolic link, which is not followed there.
    case notFolder(path: String)
    /// The folder or symbolic link belongs to the user with this number, who could replace the files in it.
    case owner(path: String, user: UInt32)
    /// All users can write to the folder, which has these permission bits.
    case writable(path: String, mode: UInt32)
    /// The system refused a call; `during` is its name and its path.
    case system(Errno, during: String)
}

extension FolderError: CustomStringConvertible {
    /// A description of the error, and what to do, in one line.
    public var description: String {
        switch self {
        case .notFolder(let path):
            "\(path) is a link or a file, and has to be a folder of this user: move it away"
        case .owner(let path, let user):
            "\(path) belongs to the user with number \(user), who could replace the files in it: "
                + "use another folder, or run this as that user"
        case .writable(let path, let mode):
            "all users can replace the files in \(path) (mode 0\(String(mode, radix: 8))): "
                + "use another folder, or move it away"
        case .system(let errno, let call): "\(call): \(errno)"
        }
    }
}
