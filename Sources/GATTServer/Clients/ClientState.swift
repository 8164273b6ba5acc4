import ATT
import BLECore

/// What a server knows of one client, on whichever of its bearers that came.
struct ClientState: Sendable {
    let central: Central
    /// Asks what the link's security is now, where that can change without a word.
    private let askSecurity: (@Sendable () -> LinkSecurity?)?
    private(set) var security: LinkSecurity
    /// By value handle; those that are empty are not kept.
    private(set) var configurations: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    /// Values whose configuration the client has written on this link.
    private var chosen: Set<AttributeHandle> = []
    private(set) var features = ClientSupportedFeatures()
    private var awareness = ChangeAwareness()
    /// Handles that changed and were not indicated yet.
    private var waitingChange: AttributeRange?
    /// Handles that changed and were indicated, which is not confirmed.
    private var indicatedChange: AttributeRange?
    private var signingKey: ATTSigningKey?
    private var nextSignCounter: UInt32 = 0
    private var prepared = PrepareQueue()
    var id: ClientID { central.client }

    init(_ central: Central, security: LinkSecurity, asking askSecurity: (@Sendable () -> LinkSecurity?)?) {
        (self.central, self.security, self.askSecurity) = (central, security, askSecurity)
    }
}

// MARK: - Security

extension ClientState {
    mutating func setSecurity(_ security: LinkSecurity) { self.security = security }

    /// Why the link is not safe enough for `access`; nil when it is. What is known to be enough is not asked for again.
    mutating func refusal(of access: SecurityLevel?, minimumKeySize: Int) -> ATTErrorCode? {
        guard let refusal = security.refusal(of: access, minimumKeySize: minimumKeySize) else { return nil }
        guard var current = askSecurity?() else { return refusal }
        // That is about encryption; whether there is a key for it does not change by it.
        if current.level == .open { current.isBonded = security.isBonded }
        security = current
        return security.refusal(of: access, minimumKeySize: minimumKeySize)
    }

    /// Whether the link is safe enough for writing an attribute with these permissions.
    func isSafe(for permissions: AttributePermissions) -> Bool {
        func refuses(_ security: LinkSecurity) -> Bool {
            security.refusal(of: permissions.write, minimumKeySize: permissions.minimumKeySize) != nil
        }
        return !refuses(security) || askSecurity?().map { !refuses($0) } ?? false
    }

    /// Gives the key by which a bonded client signs its writes, and the least counter that it may use.
    mutating func setSigningKey(_ key: ATTSigningKey?, nextCounter: UInt32) {
        // Each key has a count of its own.
        nextSignCounter = key?.csrk == signingKey?.csrk ? max(nextSignCounter, nextCounter) : nextCounter
        signingKey = key
    }

    /// Checks a signature, and that its counter is new (Core Specification 5.4, Vol 3, Part H, 2.4.5). The
    /// next counter; nil when the signature is of no worth.
    mutating func verify(_ command: ATTCommand) -> UInt32? {
        guard case .signedWrite(_, _, let signature) = command, let signingKey,
            signature.counter >= nextSignCounter, signature.counter < .max, signingKey.verifies(command)
        else { return nil }
        nextSignCounter = signature.counter + 1
        return nextSignCounter
    }
}

// MARK: - Subscriptions and features

extension ClientState {
    /// Remembers the client's configuration of a characteristic, and reports a change of it, except for Service
    /// Changed, which is the server's own business.
    mutating func configure(
        _ handle: AttributeHandle, _ configuration: ClientCharacteristicConfiguration,
        _ shared: inout GATTServer.Shared
    ) {
        guard configurations[handle] ?? [] != configuration else { return }
        configurations[handle] = configuration.isEmpty ? nil : configuration
        shared.note(id, subscribes: !configuration.isEmpty, to: handle)
        guard let index = shared.database.index(of: handle), shared.database.attributes[index].role == nil
        else { return }
        let uuid = shared.database.attributes[index].type
        if configuration.isEmpty {
            shared.events.append(.unsubscribed(central: id, handle: handle, uuid: uuid))
        } else {
            shared.events.append(.subscribed(central: id, handle: handle, uuid: uuid, configuration))
        }
    }

    /// Handles a write of a Client Characteristic Configuration.
    mutating func choose(
        _ handle: AttributeHandle, _ configuration: ClientCharacteristicConfiguration,
        _ shared: inout GATTServer.Shared
    ) {
        chosen.insert(handle)
        configure(handle, configuration, &shared)
    }

    /// Remembers the features that the client supports, and reports a change of them.
    mutating func setFeatures(_ features: ClientSupportedFeatures, _ shared: inout GATTServer.Shared) {
        guard features != self.features else { return }
        self.features = features
        shared.events.append(.features(central: id, features))
    }

    /// Whether values may be sent to it that were not asked for: one with robust caching that does not know of a change
    /// of the database gets none until it does, and its commands do nothing (Vol 3, Part G, 2.5.2.1).
    var isInStep: Bool { awareness.isAware || !features.contains(.robustCaching) }
}

// MARK: - Prepared writes

extension ClientState {
    /// Queues a part; false when the queue is full.
    mutating func prepare(_ part: PreparedWrite, limit: Int) -> Bool { prepared.append(part, limit: limit) }

    /// The prepared writes that Execute Write will write.
    var preparedWrites: PrepareQueue { prepared }

    mutating func cancelPreparedWrites() { prepared.removeAll() }
}

// MARK: - Changes of the database

extension ClientState {
    /// A request comes. False when it is to be refused with Database Out Of Sync.
    mutating func admit(usesHandle: Bool) -> Bool {
        guard awareness.admit(usesHandle: usesHandle, isRobust: features.contains(.robustCaching)) else {
            return false
        }
        // It found out by itself.
        if awareness.isAware { waitingChange = nil }
        return true
    }

    /// The client's read of the Database Hash is answered.
    mutating func readHash() { awareness.readHash() }

    mutating func databaseChanged(_ range: AttributeRange) {
        waitingChange = waitingChange?.union(range) ?? range
        awareness.databaseChanged()
    }

    /// Handles are gone: what the client subscribed to there, and what it prepared, which a new attribute with such a
    /// handle must not get.
    mutating func forget(_ range: AttributeRange, _ shared: inout GATTServer.Shared) {
        for handle in configurations.keys.sorted() where range.contains(handle) {
            configure(handle, [], &shared)
        }
        chosen = chosen.filter { !range.contains($0) }
        prepared.breakParts(in: range)
    }

    /// The range to indicate now by Service Changed, whose value has that handle.
    mutating func nextReport(_ handle: AttributeHandle) -> AttributeRange? {
        guard indicatedChange == nil, let range = waitingChange,
            configurations[handle]?.contains(.indicate) == true
        else { return nil }
        (waitingChange, indicatedChange) = (nil, range)
        return range
    }

    mutating func confirmReport() {
        indicatedChange = nil
        if waitingChange == nil { awareness.confirmed() }
    }
}

// MARK: - Between links

extension ClientState {
    /// What to remember of a bonded client.
    func record(_ shared: GATTServer.Shared) -> GATTClientRecord {
        var record = GATTClientRecord()
        record.configurations = configurations
        record.features = features
        record.databaseHash = shared.database.hash
        record.isChangeAware = awareness.isAware
        record.unreportedChange = waitingChange.map { indicatedChange?.union($0) ?? $0 } ?? indicatedChange
        record.signCounter = nextSignCounter
        return record
    }

    /// Takes up what was remembered, except where the client has chosen anew on this link. When the database is another
    /// by now, subscriptions may be to anything: only that to Service Changed is kept, to report it.
    mutating func restore(_ record: GATTClientRecord, _ shared: inout GATTServer.Shared) {
        nextSignCounter = max(nextSignCounter, record.signCounter)
        // A bond that is new has no more.
        guard !record.databaseHash.isEmpty else { return }
        // Bits that are set stay so (Vol 3, Part G, 7.2).
        features.formUnion(record.features)
        let isSame = record.databaseHash == shared.database.hash
        if !isSame {
            databaseChanged(.all)
        } else if !record.isChangeAware {
            databaseChanged(record.unreportedChange ?? .all)
        }
        for (handle, configuration) in record.configurations.sorted(by: { $0.key < $1.key })
        where !chosen.contains(handle) {
            guard let attribute = shared.database[handle], case .value(let properties) = attribute.kind,
                configuration.isSubset(of: ClientCharacteristicConfiguration(allowedBy: properties)),
                isSame || attribute.role == .serviceChanged
            else { continue }
            configure(handle, configuration, &shared)
        }
    }
}

extension ClientCharacteristicConfiguration {
    /// The bits that a characteristic with `properties` has.
    init(allowedBy properties: CharacteristicProperties) {
        self = []
        if properties.contains(.notify) { insert(.notify) }
        if properties.contains(.indicate) { insert(.indicate) }
    }
}
