import ATT
import BLECore
import GATTClient

/// The client's half of a link: what it knows of the server's database, and who listens to its values.
struct LinkClient {
    /// Somebody who listens to a characteristic.
    struct Subscription {
        let buffer: StreamBuffer<ReceivedValue>
        let characteristic: RemoteCharacteristic
        let confirmation: IndicationConfirmation
    }

    /// Whether the server's wish for encryption may be fulfilled without asking anybody.
    var raisesSecurity = false
    /// Whether the peer was offered our MTU.
    var hasOfferedMTU = false

    // The database.

    /// What the last discovery found.
    var database: RemoteDatabase?
    /// What was found of it by looking for some services only.
    var partial: DatabaseGeneration?
    /// Whether the server has said that this is not true any more.
    var isStale = false
    /// Who wants to know when it says so.
    var changeWatchers = Watchers<ServiceChange>()
    /// How often the server said so.
    var changes = 0
    /// The value of Service Changed, and the link's own wish to have it.
    var serviceChanged: AttributeHandle?
    var wishForChanges: SubscriptionID?
    /// Whether the server knows what this client can do.
    var toldFeatures = false

    // Values that the server sends by itself.

    /// Who wants what. The link itself is among them, for Service Changed.
    var table = SubscriptionTable()
    var streams: [SubscriptionID: Subscription] = [:]
    /// What the server was last told, by the value's handle.
    var configured: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    var early = EarlyValues()
    var held = HeldConfirmations()

    /// Whether handles of that generation may be used.
    func isCurrent(_ generation: DatabaseGeneration) -> Bool {
        guard generation.number != DatabaseGeneration.unknown.number else { return true }
        if generation.number == partial?.number { return true }
        return !isStale && generation.number == database?.generation.number
    }

    /// The database, if it can be relied on.
    var currentDatabase: RemoteDatabase? { isStale ? nil : database }

    /// The link is of no use any more.
    mutating func end(_ error: BLEError) {
        let all = streams.values
        streams.removeAll()
        for stream in all { stream.buffer.finish(.failure(error)) }
        changeWatchers.finish(error)
    }
}

/// When an indication is confirmed. Until then the server sends no other (Core Specification 5.4, Vol 3,
/// Part F, 3.4.7.2).
public enum IndicationConfirmation: Hashable, Sendable {
    /// As soon as it is in the stream's buffer.
    case whenQueued
    /// When the consumer has taken it, or after 25 s: the server would give up the link after 30 s.
    case whenTaken
}
