import HCISocket
import SystemPackage

/// What can go wrong with the files of the state folder.
public enum StateError: Error, Hashable, Sendable {
    /// The system refused; the text says what and where.
    case system(Errno, during: String)
    /// Another process has kept the file to itself for so long: while changes wait, it hangs, or is stopped.
    case claimed(path: String, after: Duration)
    /// A file, or a part of it, is not what it should be: where, in which line, and why.
    case damaged(path: String, line: Int, reason: String)
    /// A file is of a later version of this library.
    case newer(path: String, version: Int)
}

extension StateError: CustomStringConvertible {
    /// One line for a person.
    public var description: String {
        switch self {
        case .system(let errno, let call): "\(call): \(errno)"
        case .claimed(let path, let time): "\(path) has been held by another process for \(time)"
        case .damaged(let path, let line, let reason): "\(path): line \(line): \(reason)"
        case .newer(let path, let version):
            "\(path) is of version \(version), which a later release of this program has written"
        }
    }
}

extension StateError {
    /// What is wrong with a text, in the file that it is from.
    init(_ error: TextError, in path: String) {
        if let version = error.version {
            self = .newer(path: path, version: version)
        } else {
            self = .damaged(path: path, line: error.line, reason: error.reason)
        }
    }
}
