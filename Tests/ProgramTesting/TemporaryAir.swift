import Foundation

/// An air of its own: a folder for its socket, removed with it, and a program that keeps it. Else it would be in the
/// process that came first, and end with that.
public final class TemporaryAir: Sendable {
    /// Where programs run that share this air.
    public let folder: URL
    private let keeper: RunningProgram

    /// Starts it with more options of `bletool air`; the programs can be started then.
    public init(_ options: String...) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "air-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        keeper = try RunningProgram(["bletool", "air", "--json"] + options, in: folder)
        guard await keeper.line()?.contains("ready") == true else { throw CocoaError(.executableLoad) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
