import BLECore
import Glibc

/// The environment outside of its file that a configuration can refer to.
struct ConfigurationContext: Sendable {
    /// The names that the Bluetooth SIG gave to UUIDs.
    var names: UUIDNames
    /// Returns the octets of the file that `{file: PATH}` names, at most `limit`.
    var contents: @Sendable (_ path: String, _ limit: Int) throws -> [UInt8]
    /// Whether the first word of an `exec` list can be run.
    var isProgram: @Sendable (String) -> Bool
    /// The folder that relative paths are relative to.
    var directory = "."
    /// The absolute path of the folder in which programs run; nil for that of this process.
    var programFolder: String?
    /// Whether there is a folder at a path.
    var isFolder: @Sendable (String) -> Bool = { _ in true }

    /// Returns a path of the configuration as this process can open it.
    func path(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }
}

extension ConfigurationContext {
    /// Creates a context that uses the file system. Relative paths are relative to `directory`, the
    /// configuration's folder, in which programs also run.
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
        programFolder = File.absolutePath(directory)
        isProgram = { name in
            if name.contains("/") {
                return access(name.hasPrefix("/") ? name : "\(directory)/\(name)", X_OK) == 0
            }
            let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
            return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
        isFolder = { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }
}
