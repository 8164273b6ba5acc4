import Foundation

/// A separate air: a folder for its socket, which is removed with this object, and a program that hosts the
/// air. Otherwise, the first process would host it, and the air would end with that process.
public final class TemporaryAir: Sendable {
    /// The working directory of the programs that share this air.
    public let folder: URL
    private let keeper: RunningProgram

    /// Starts `bletool air` with `options`. Programs can be started when this returns.
    public init(_ options: String...) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "air-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        keeper = try RunningProgram(["bletool", "air", "--json"] + options, in: folder)
        guard await keeper.line()?.contains("ready") == true else { throw CocoaError(.executableLoad) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
