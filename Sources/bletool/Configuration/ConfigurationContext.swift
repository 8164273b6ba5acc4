import BLECore
import Glibc

/// What a configuration may look at outside of its file.
struct ConfigurationContext: Sendable {
    /// The names that the Bluetooth SIG gave to UUIDs.
    var names: UUIDNames
    /// The octets of a file that `{file: PATH}` names, at most so many.
    var contents: @Sendable (_ path: String, _ limit: Int) throws -> [UInt8]
    /// Whether the first word of an `exec` list can be run.
    var isProgram: @Sendable (String) -> Bool
    /// The folder that relative paths begin at.
    var directory = "."
    /// Whether there is a folder at a path.
    var isFolder: @Sendable (String) -> Bool = { _ in true }

    /// A path of the file, seen from where this process is.
    func path(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }
}

extension ConfigurationContext {
    /// Looks at the file system. Relative paths begin at `directory`, which is the configuration's.
    init(names: @escaping UUIDNames, directory: String) {
        self.names = names
        self.directory = directory
        contents = { path, limit in
            do throws(BadInput) {
                return try File.contents(path.hasPrefix("/") ? path : "\(directory)/\(path)", limit: limit)
            } catch {
                throw BadInput("the file \(path.quoted) \(error.reason)")
            }
        }
        isProgram = { name in
            if name.contains("/") { return access(name, X_OK) == 0 }
            let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
            return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
        isFolder = { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }
}
