/// A command that was not written.
public struct CommandFailure: Hashable, Sendable {
    /// Its octets.
    public let command: [UInt8]
    /// Why.
    public let error: BLEError
}
