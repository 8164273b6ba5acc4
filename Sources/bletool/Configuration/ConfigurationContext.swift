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
}

extension ConfigurationContext {
    /// Looks at the file system. Relative paths begin at `directory`, which is the configuration's.
    init(names: @escaping UUIDNames, directory: String) {
        self.names = names
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
    }
}
