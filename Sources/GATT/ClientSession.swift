import ATT
import BLECore
import GATTClient

/// What the client's role of this host knows of the server at the other end of a link, and who listens to its values: the
/// state of the database, the subscriptions, and what the server was told (Core Specification 5.4, Vol 3, Part G, 2.5.2,
/// 4.10 and 4.11). It asks nothing itself; it says what there is to ask.
///
/// The databases of all peers are remembered in one `DatabaseCache`, which is a parameter.
public struct ClientSession: Sendable {
    /// Names what was known of the server's database at some time: what is found by several requests is of one state only
    /// if none of them was followed by a change.
    public struct DatabaseState: Hashable, Sendable {
        fileprivate let changes: Int
    }

    /// A subscriber of a characteristic.
    private struct Subscription: Sendable {
        let characteristic: RemoteCharacteristic
        /// Whether an indication is confirmed only when the subscriber has taken it.
        let holdsConfirmation: Bool
    }

    // What the last discovery found, and whether the server has said since then that it is not true any more.
    private var database: RemoteDatabase?
    private var isStale = false
    /// What was found of the database by looking for some services only.
    private var partial: DatabaseGeneration?
    /// How often the server said that its database has changed.
    private var changes = 0
    /// The value of Service Changed, and the session's own wish to have it.
    private var serviceChanged: AttributeHandle?
    private var wishForChanges: SubscriptionID?
    /// Whether the server knows what this client can do.
    private var hasToldFeatures = false

    /// Who wants what; the session itself is among them, for Service Changed.
    private var table = SubscriptionTable()
    private var subscriptions: [SubscriptionID: Subscription] = [:]
    /// What the server was last told, by the value's handle.
    private var configured: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    private var early = EarlyValues()
    private var held = HeldConfirmations()
    private var confirmationsOwed = 0

    /// A session on a link that has just come up.
    public init() {}
}

// MARK: - The database

extension ClientSession {
    /// The database, if it can be relied on.
    public var currentDatabase: RemoteDatabase? { isStale ? nil : database }

    /// What is known now; compare it with what is known later.
    public var state: DatabaseState { DatabaseState(changes: changes) }

    /// Whether handles that are of that state of the database may be used; of bare handles their user answers for that.
    public func isCurrent(_ generation: DatabaseGeneration) -> Bool {
        guard generation.number != DatabaseGeneration.unknown.number else { return true }
        if generation.number == partial?.number { return true }
        return !isStale && generation.number == database?.generation.number
    }

    /// Whether only a discovery can tell if handles of these states may be used: they are of an earlier link.
    public func needsDiscovery(for generations: some Sequence<DatabaseGeneration>) -> Bool {
        database == nil && generations.contains { !isCurrent($0) }
    }

    /// Takes what a discovery that began at `state` has found as the database.
    ///
    /// - Returns: the database, named as of the same state as on earlier links where nothing has changed; nil when it
    ///   changed while it was looked for.
    public mutating func adopt(
        _ found: CachedDatabase, since state: DatabaseState, of peer: DeviceAddress,
        in cache: inout DatabaseCache
    ) -> RemoteDatabase? {
        let changed = found.database.characteristics(.serviceChanged, in: .genericAttribute).first
        // What came before its handle was known.
        let hasChanged = changed.map { !early.take($0.valueHandle).isEmpty } ?? false
        if hasChanged { databaseChanged(of: peer, in: &cache) }
        guard self.state == state else { return nil }
        let kept = cache.keep(found, of: peer)
        if kept.generation.number != database?.generation.number {
            configured.removeAll()
            if let wish = wishForChanges.take() { table.unsubscribe(wish) }
        }
        (database, isStale, serviceChanged) = (kept, false, changed?.valueHandle)
        return kept
    }

    /// The first discovery has ended: from now on values that nobody listens to are not kept.
    public mutating func closeEarlyValues() { early.close() }

    /// Names parts of the database that are found one by one, of which the first was asked for at `state`; nil when it has
    /// changed since.
    public mutating func partialGeneration(
        since state: DatabaseState, in cache: inout DatabaseCache
    ) -> DatabaseGeneration? {
        guard self.state == state else { return nil }
        let generation = partial ?? cache.newGeneration()
        partial = generation
        return generation
    }

    /// The server says that its database has changed, by Service Changed or by an error.
    public mutating func databaseChanged(of peer: DeviceAddress, in cache: inout DatabaseCache) {
        changes += 1
        isStale = database != nil
        partial = nil
        cache.invalidate(peer)
    }

    /// The subscribers whose values come under handles among `range`, which may be something else after a change; those
    /// of bare handles are left out.
    public func subscribers(among range: AttributeRange) -> [SubscriptionID] {
        subscriptions.filter { _, subscription in
            range.contains(subscription.characteristic.valueHandle)
                && subscription.characteristic.generation.number != DatabaseGeneration.unknown.number
        }
        .keys.sorted { $0.rawValue < $1.rawValue }
    }

    /// Where the server is to be told what this client can do; nil when it knows, or has no such characteristic
    /// (Core Specification 5.4, Vol 3, Part G, 7.2).
    public var untoldFeatures: RemoteCharacteristic? {
        guard !hasToldFeatures else { return nil }
        let features = currentDatabase?.characteristics(.clientSupportedFeatures, in: .genericAttribute).first
        return features.flatMap { $0.properties.contains(.write) ? $0 : nil }
    }

    /// The server knows what this client can do, or does not want to.
    public mutating func toldFeatures() { hasToldFeatures = true }

    /// Wishes to be told of changes; gives the characteristic that is to be configured for that, if the server has it
    /// (Core Specification 5.4, Vol 3, Part G, 7.1).
    public mutating func wishForServiceChanges() -> RemoteCharacteristic? {
        let changed = currentDatabase?.characteristics(.serviceChanged, in: .genericAttribute).first
        guard let changed, changed.properties.contains(.indicate) else { return nil }
        if wishForChanges == nil { wishForChanges = table.subscribe(to: changed.valueHandle, .indicate) }
        return changed
    }
}

// MARK: - Subscriptions

extension ClientSession {
    /// Adds a subscriber; gives also the values that came before anybody could listen. What the server is to be told then,
    /// `configurationToWrite(for:)` says.
    public mutating func subscribe(
        to characteristic: RemoteCharacteristic, _ wants: ClientCharacteristicConfiguration,
        holdingConfirmation: Bool = false
    ) -> (id: SubscriptionID, early: [ReceivedValue]) {
        let id = table.subscribe(to: characteristic.valueHandle, wants)
        subscriptions[id] = Subscription(
            characteristic: characteristic, holdsConfirmation: holdingConfirmation)
        return (id, early.take(characteristic.valueHandle))
    }

    /// Removes a subscriber; gives what it listened to, or nil when it is not there. Indications that waited for it alone
    /// are confirmed.
    public mutating func unsubscribe(_ id: SubscriptionID) -> RemoteCharacteristic? {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return nil }
        table.unsubscribe(id)
        confirmationsOwed += held.released(by: id)
        return subscription.characteristic
    }

    /// What a subscriber listens to.
    public func characteristic(of id: SubscriptionID) -> RemoteCharacteristic? {
        subscriptions[id]?.characteristic
    }

    /// What the server is to be told that all subscribers of a characteristic want together; nil when it knows. It counts
    /// as told from now on, also when the write is given up: it may have reached the server.
    public mutating func configurationToWrite(
        for characteristic: RemoteCharacteristic
    ) -> (descriptor: RemoteDescriptor, configuration: ClientCharacteristicConfiguration)? {
        let handle = characteristic.valueHandle
        let wanted = table.configuration(of: handle)
        guard wanted != configured[handle] ?? [],
            let descriptor = characteristic.descriptor(.clientCharacteristicConfiguration)
        else { return nil }
        configured[handle] = wanted
        return (descriptor, wanted)
    }

    /// The server has refused what it was told of a characteristic.
    public mutating func configurationRefused(of characteristic: RemoteCharacteristic) {
        configured[characteristic.valueHandle] = nil
    }

    /// The link is of no use any more: gives all subscribers.
    public mutating func end() -> [SubscriptionID] {
        defer { subscriptions = [:] }
        return subscriptions.keys.sorted { $0.rawValue < $1.rawValue }
    }
}

// MARK: - Values

extension ClientSession {
    /// What becomes of a value that the server sent by itself.
    public enum Arrival: Hashable, Sendable {
        /// It goes to these subscribers, in the order in which they subscribed; to none when it is early, or unwanted.
        case value(ReceivedValue, to: [SubscriptionID])
        /// It says which handles of the database have changed.
        case serviceChange(AttributeRange)
    }

    /// Takes what the server sent by itself; gives what becomes of its values. An indication is confirmed at once, unless a
    /// subscriber holds the confirmation until it has taken the value.
    public mutating func receive(_ push: ATTPush, mtu: ATTMTU, at now: Instant) -> [Arrival] {
        var confirms = push.opcode == .handleValueIndication
        defer { if confirms { confirmationsOwed += 1 } }
        var arrivals: [Arrival] = []
        for var value in push.values(mtu: mtu, at: now) {
            let subscribers = table.subscribers(of: value.handle).filter { subscriptions[$0] != nil }
            let holding = subscribers.filter { subscriptions[$0]?.holdsConfirmation == true }
            if value.isIndication, !holding.isEmpty {
                value.held = held.hold(for: holding, at: now)
                confirms = false
            }
            if value.handle == serviceChanged {
                arrivals.append(.serviceChange(ServiceChange(value.value).range))
                if subscribers.isEmpty { continue }
            } else if subscribers.isEmpty {
                early.keep(value)
            }
            arrivals.append(.value(value, to: subscribers))
        }
        return arrivals
    }

    /// A subscriber has taken an indication whose confirmation waits for that.
    public mutating func taken(_ value: HeldConfirmations.Number, by subscriber: SubscriptionID) {
        if held.taken(value, by: subscriber) { confirmationsOwed += 1 }
    }

    /// Time has passed: what was not taken in 25 s is confirmed all the same, since the server would give up the link.
    public mutating func expire(at now: Instant) { confirmationsOwed += held.expire(at: now) }

    /// How many indications are to be confirmed now.
    public mutating func takeConfirmations() -> Int {
        defer { confirmationsOwed = 0 }
        return confirmationsOwed
    }

    /// When `expire(at:)` wants to be called.
    public var deadline: Instant? { held.deadline }
}
