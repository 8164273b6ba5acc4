import BLE

extension GATTShell {
    /// What a shell waits for.
    enum News: Sendable {
        /// The window has another size, or has lost what it showed.
        case redraw
        /// Keys were pressed; nil: there will be no more.
        case keys([TerminalKey]?)
        /// The command that ran has ended.
        case done(Failure?)
        /// The `connect` command has made a link.
        case connected(Peripheral)
        /// A link has ended.
        case lost(number: Int, DisconnectReason)
        /// The user has to be asked.
        case question(String, CheckedContinuation<String?, Never>)
        /// The question needs no answer any more.
        case noQuestion
    }
}
