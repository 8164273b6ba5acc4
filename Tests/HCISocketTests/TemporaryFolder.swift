import Glibc
import HCISocket
import SystemPackage

/// A folder for one test, which calls `remove()` at its end.
final class TemporaryFolder: Sendable {
    private let folder: String
    private let files = Lock<Set<String>>([])

    init() throws {
        var template = Array(("/tmp/hcisocket-" + String(repeating: "X", count: 6)).utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        folder = template.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Removes the folder, and the files and folders whose paths were requested.
    func remove() {
        for file in files.withLock({ $0.sorted(by: >) }) { _ = Glibc.remove(file) }
        rmdir(folder)
    }

    /// Returns the path of a file in the folder, which need not exist.
    func path(_ name: String) -> String {
        let path = "\(folder)/\(name)"
        files.withLock { _ = $0.insert(path) }
        return path
    }

    /// Returns a path of exactly `count` octets in the folder.
    func path(ofCount count: Int) -> String {
        path(String(repeating: "n", count: count - folder.utf8.count - 1))
    }
}

/// Returns whether a file or folder exists at `path`.
func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Creates an empty regular file.
func makeFile(_ path: String) throws {
    try FileDescriptor.open(
        FilePath(path), .writeOnly, options: .create, permissions: .ownerReadWrite
    ).close()
}
