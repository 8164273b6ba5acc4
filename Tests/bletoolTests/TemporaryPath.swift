import Foundation

/// Runs `body` with the path of a temporary file, which is removed afterwards.
func withTemporaryPath(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "bletool-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}
