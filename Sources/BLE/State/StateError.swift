import BLECore
import HCISocket
import SystemPackage

/// An error with the files of the state folder.
public enum StateError: Error, Hashable, Sendable {
    /// The system refused a call; `during` is its name and its path.
    case system(Errno, during: String)
    /// The folder is not used, because other users could read or replace the files in it.
    case folder(FolderError)
    /// Another process has held the file for this time while changes wait: it hangs, or is stopped.
    case claimed(path: String, after: Duration)
    /// A file, or a part of it, is damaged in this line.
    case damaged(path: String, line: Int, Damage)
    /// A file was written by a later version of this library.
    case newer(path: String, version: Int)

    /// What is wrong with a file. Keys are the first words of its lines.
    public enum Damage: Hashable, Sendable {
        /// The file is empty, or was truncated in its first section.
        case empty
        /// The line is no heading of a section.
        case heading
        /// The section has no end line.
        case missingEnd
        /// The octets of the section are not those that were written.
        case checksum
        /// Something follows the section that should be the only one.
        case trailing
        /// The section is of this kind, where another is expected; nil if one of several is expected.
        case kind(String, expected: String?)
        /// Sections of this kind have no line with this key.
        case key(String)
        /// The line has a wrong number of values.
        case count(key: String, expected: ClosedRange<Int>)
        /// The line with this key has an invalid value.
        case value(String, key: String)
        /// The line has to follow one with another key, and there is none before it.
        case order(key: String, after: String)
        /// The section has no line with this key.
        case missing(key: String)
        /// The attributes are not those of a service.
        case service
        /// The file is that of this other bond.
        case bond(BondID)
        /// The file is that of this other identity.
        case identity(DeviceAddress)
    }
}

extension StateError: CustomStringConvertible {
    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .system(let errno, let call): "\(call): \(errno)"
        case .folder(let error): "\(error)"
        case .claimed(let path, let time): "\(path) has been held by another process for \(time)"
        case .damaged(let path, let line, let damage): "\(path): line \(line): \(damage)"
        case .newer(let path, let version):
            "\(path) is of version \(version), which a later release of this program has written"
        }
    }
}

extension StateError.Damage: CustomStringConvertible {
    /// A clause: "the checksum is wrong".
    public var description: String {
        switch self {
        case .empty: "the file is empty, or cut off"
        case .heading: "the first line is not the heading of a bletool file"
        case .missingEnd: "the end is missing"
        case .checksum: "the checksum is wrong"
        case .trailing: "there is text after the end"
        case .kind(let kind, let expected?): "it is of the kind \(kind), not \(expected)"
        case .kind(let kind, nil): "there is no kind \(kind)"
        case .key(let key): "there is no key \(key)"
        case .count(let key, let range):
            "\(key): expected \(range.lowerBound)\(range.count > 1 ? " to \(range.upperBound)" : "") values"
        case .value(let value, let key): "\(key): \(value) is invalid"
        case .order(let key, let other): "\(key): no \(other) stands before it"
        case .missing(let key): "\(key) is missing"
        case .service: "these attributes are no service"
        case .bond(let id): "this is the bond with \(id)"
        case .identity(let address): "this is the identity of \(address)"
        }
    }
}

extension StateError {
    init(_ error: FolderError) {
        if case .system(let errno, let call) = error {
            self = .system(errno, during: call)
        } else {
            self = .folder(error)
        }
    }

    /// Creates the error for a text, with the file that contains it.
    init(_ error: TextError, in path: String) {
        switch error.reason {
        case .newer(let version): self = .newer(path: path, version: version)
        case .damaged(let damage): self = .damaged(path: path, line: error.line, damage)
        }
    }
}
