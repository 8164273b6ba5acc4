/// Why what a manager is to bring back at its next start cannot be kept.
public enum RestorationError: Error, Hashable, Sendable {
    /// The name cannot be one: 1 to 64 letters of ASCII, digits, dots, dashes and underscores, no dot first.
    case name(String)
    /// Another process, or another manager of this one, has that name; the number is the process's, where it says so.
    case inUse(String, process: Int32?)
    /// There is no state folder: the adapter keeps its bonds in memory, and none was given.
    case noFolder
    /// A file of the state cannot be read or written.
    case state(StateError)
}

extension RestorationError: CustomStringConvertible {
    /// Says in one line what is wrong.
    public var description: String {
        switch self {
        case .name(let name):
            "\(TextValue.escaped(name)) is no name to restore by: 1 to 64 letters, digits, dots, dashes and "
                + "underscores, no dot first"
        case .inUse(let name, let process):
            "\(name) is restored by \(process.map { "process \($0)" } ?? "another process") already"
        case .noFolder: "there is no state folder: bonds are kept in memory, and no folder was given"
        case .state(let error): "\(error)"
        }
    }
}
