/// The reason why the state that a manager restores at its next start cannot be kept.
public enum RestorationError: Error, Hashable, Sendable {
    /// The name is not valid: it has to be 1 to 64 ASCII letters, digits, dots, dashes and underscores, and
    /// not begin with a dot.
    case name(String)
    /// Another process, or another manager of this one, has that name. The number is that of the process, if
    /// it is known.
    case inUse(String, process: Int32?)
    /// There is no state folder: the adapter keeps its bonds in memory, and none was given.
    case noFolder
    /// A file of the state cannot be read or written.
    case state(StateError)
}

extension RestorationError: CustomStringConvertible {
    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .name(let name):
            "\"\(TextValue.escaped(name))\" is no name to restore by: 1 to 64 letters, digits, dots, dashes and "
                + "underscores, no dot first"
        case .inUse(let name, let process):
            "\(name) is restored by \(process.map { "process \($0)" } ?? "another process") already"
        case .noFolder: "there is no state folder: bonds are kept in memory, and no folder was given"
        case .state(let error): "\(error)"
        }
    }
}
