import ATT
import BLECore

/// What a server keeps of a bonded client between its links (Core Specification 5.4, Vol 3, Part G, 2.5.2 and
/// 3.3.3.3). `disconnect` returns it, `connect` restores it.
package struct GATTClientRecord: Hashable, Sendable {
    /// The client's subscriptions, by value handle.
    package var configurations: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    /// The features that the client has enabled.
    package var features: ClientSupportedFeatures = []
    /// The hash of the database on the client's last link; empty if there was no link, and then only
    /// `signCounter` is valid.
    package var databaseHash: [UInt8] = []
    /// Whether the client knew all changes of that database.
    package var isChangeAware = true
    /// The handles that changed without a report to the client.
    package var unreportedChange: AttributeRange?
    /// The least counter that the client's next Signed Write Command can have.
    package var signCounter: UInt32 = 0

    /// Creates the record of a client of which nothing is known.
    package init() {}
}
