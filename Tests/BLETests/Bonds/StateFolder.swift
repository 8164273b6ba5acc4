import Foundation

/// A temporary folder that is removed when the object is released.
final class StateFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("bonds-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the path of a file in the folder of the identity of `SampleBonds`.
    func file(_ name: String) -> String { "\(path)/bonds/00:1B:DC:07:31:88-public/\(name)" }

    /// Returns the sorted names of the files in that folder.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file("")).sorted()
    }

    func contents(_ name: String) -> [UInt8]? { contents(at: file(name)) }

    func write(_ octets: [UInt8], to name: String) throws { try write(octets, at: file(name)) }

    func contents(at path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }

    func write(_ octets: [UInt8], at path: String) throws {
        try Data(octets).write(to: URL(fileURLWithPath: path))
    }

    /// Returns the permission bits of a file or folder.
    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}
