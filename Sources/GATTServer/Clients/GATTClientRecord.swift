import ATT
import BLECore

/// What a server keeps of a bonded client between its links (Core Specification 5.4, Vol 3, Part G, 2.5.2
/// and 3.3.3.3). `disconnect` gives it, `connect` takes it back.
public struct GATTClientRecord: Hashable, Sendable {
    /// What it subscribed to, by value handle.
    public var configurations: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    /// What it can do.
    public var features: ClientSupportedFeatures = []
    /// The hash of the database with which it last had a link; empty where there was none: then nothing but
    /// `signCounter` holds.
    public var databaseHash: [UInt8] = []
    /// Whether it knew all changes of that database.
    public var isChangeAware = true
    /// The handles that changed and of which it was not told.
    public var unreportedChange: AttributeRange?
    /// The least counter that its next Signed Write Command may have.
    public var signCounter: UInt32 = 0

    /// A client of which nothing is known.
    public init() {}
}
