/// A command that was not written.
public struct CommandFailure: Hashable, Sendable {
    /// The octets of the command that was not sent.
    public let command: [UInt8]
    /// The error with which its write failed.
    public let error: BLEError
}
