import ATT
import BLECore

/// What a server keeps of a bonded client between its links (Core Specification 5.4, Vol 3, Part G, 2.5.2
/// and 3.3.3.3). `disconnect` gives it, `connect` takes it back.
package struct GATTClientRecord: Hashable, Sendable {
    /// What it subscribed to, by value handle.
    package var configurations: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    /// The features that the client has enabled.
    package var features: ClientSupportedFeatures = []
    /// The hash of the database with which it last had a link; empty where there was none: then nothing but
    /// `signCounter` holds.
    package var databaseHash: [UInt8] = []
    /// Whether it knew all changes of that database.
    package var isChangeAware = true
    /// The handles that changed without a report to it.
    package var unreportedChange: AttributeRange?
    /// The least counter that its next Signed Write Command may have.
    package var signCounter: UInt32 = 0

    /// A client of which nothing is known.
    package init() {}
}
