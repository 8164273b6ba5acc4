import BLECore
import Logging

/// The log messages of the library, on stderr.
enum Logs {
    /// Writes log messages from `level` on to stderr.
    static func start(_ level: LogLevel) {
        let level = Logger.Level(rawValue: level.rawValue) ?? .warning
        LoggingSystem.bootstrap { label in StandardErrorLog(label: label, logLevel: level) }
    }
}

/// Writes one line per message, like the tool's own messages.
private struct StandardErrorLog: LogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        LineWriter.errors.line("bletool: \(event.level) \(label): \(event.message)".printable)
    }
}
