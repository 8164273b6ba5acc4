import ATT
import BLECore

/// The state that a server keeps of one client, shared by all bearers of the client.
struct ClientState: Sendable {
    let central: Central
    /// Returns the current security of the link, if the security can change without a report.
    private let askSecurity: (@Sendable () -> LinkSecurity?)?
    private(set) var security: LinkSecurity
    /// The configurations by value handle; empty ones are not kept.
    private(set) var configurations: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    /// The values whose configuration the client has written on this link.
    private var chosen: Set<AttributeHandle> = []
    private(set) var features = ClientSupportedFeatures()
    private var awareness = ChangeAwareness()
    /// Handles that changed and were not indicated yet.
    private var waitingChange: AttributeRange?
    /// Handles that changed and were indicated, but whose indication is not confirmed.
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

    /// Returns the error code if the link is not secure enough for `access`; nil if it is. The current
    /// security is queried only if the known security is not enough.
    mutating func refusal(of access: SecurityLevel?, minimumKeySize: Int) -> ATTErrorCode? {
        guard let refusal = security.refusal(of: access, minimumKeySize: minimumKeySize) else { return nil }
        guard var current = askSecurity?() else { return refusal }
        // The queried security is about encryption only; it does not change whether there is a key for it.
        if current.level == .open { current.isBonded = security.isBonded }
        security = current
        return security.refusal(of: access, minimumKeySize: minimumKeySize)
    }

    /// Returns whether the link is secure enough for writing an attribute with these permissions.
    func isSafe(for permissions: AttributePermissions) -> Bool {
        func refuses(_ security: LinkSecurity) -> Bool {
            security.refusal(of: permissions.write, minimumKeySize: permissions.minimumKeySize) != nil
        }
        return !refuses(security) || askSecurity?().map { !refuses($0) } ?? false
    }

    /// Sets the key with which a bonded client signs its writes, and the least counter that it may use.
    mutating func setSigningKey(_ key: ATTSigningKey?, nextCounter: UInt32) {
        // Each key has its own counter.
        nextSignCounter = key?.csrk == signingKey?.csrk ? max(nextSignCounter, nextCounter) : nextCounter
        signingKey = key
    }

    /// Checks a signature, and that its counter is new (Core Specification 5.4, Vol 3, Part H, 2.4.5).
    /// Returns the next counter; nil if the signature is not valid.
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
    /// Stores the client's configuration of a characteristic, and reports a change of it, except for Service
    /// Changed, which concerns only the server.
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

    /// Stores the features that the client supports, and reports a change of them.
    mutating func setFeatures(_ features: ClientSupportedFeatures, _ shared: inout GATTServer.Shared) {
        guard features != self.features else { return }
        self.features = features
        shared.events.append(.features(central: id, features))
    }

    /// Whether values can be sent to the client without a request. A client with robust caching that does not
    /// know of a change of the database receives none until it does, and its commands have no effect (Vol 3,
    /// Part G, 2.5.2.1).
    var isInStep: Bool { awareness.isAware || !features.contains(.robustCaching) }
}

// MARK: - Prepared writes

extension ClientState {
    /// Queues a part; returns false when the queue is full.
    mutating func prepare(_ part: PreparedWrite, limit: Int) -> Bool { prepared.append(part, limit: limit) }

    /// The prepared writes that Execute Write will write.
    var preparedWrites: PrepareQueue { prepared }

    mutating func cancelPreparedWrites() { prepared.removeAll() }
}

// MARK: - Changes of the database

extension ClientState {
    /// Decides on a request. Returns false when it must be rejected with Database Out Of Sync.
    mutating func admit(usesHandle: Bool) -> Bool {
        guard awareness.admit(usesHandle: usesHandle, isRobust: features.contains(.robustCaching)) else {
            return false
        }
        // The client has learned of the change without the indication.
        if awareness.isAware { waitingChange = nil }
        return true
    }

    /// Records that the client's read of the Database Hash was answered.
    mutating func readHash() { awareness.readHash() }

    mutating func databaseChanged(_ range: AttributeRange) {
        waitingChange = waitingChange?.union(range) ?? range
        awareness.databaseChanged()
    }

    /// Handles the removal of handles: ends the client's subscriptions there, and breaks its prepared writes,
    /// because a new attribute with such a handle must not receive them.
    mutating func forget(_ range: AttributeRange, _ shared: inout GATTServer.Shared) {
        for handle in configurations.keys.sorted() where range.contains(handle) {
            configure(handle, [], &shared)
        }
        chosen = chosen.filter { !range.contains($0) }
        prepared.breakParts(in: range)
    }

    /// Returns the range to indicate now by Service Changed, whose value has this handle; nil if there is
    /// none.
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
    /// Returns what to remember of a bonded client.
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

    /// Restores what was remembered, except the configurations that the client has written on this link. If
    /// the database has changed since, a subscription can be to any attribute: only that to Service Changed
    /// is kept, to report the change.
    mutating func restore(_ record: GATTClientRecord, _ shared: inout GATTServer.Shared) {
        nextSignCounter = max(nextSignCounter, record.signCounter)
        // The record of a new bond contains nothing else.
        guard !record.databaseHash.isEmpty else { return }
        // Bits that are set remain set (Vol 3, Part G, 7.2).
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
    /// Creates the bits that a characteristic with `properties` supports.
    init(allowedBy properties: CharacteristicProperties) {
        self = []
        if properties.contains(.notify) { insert(.notify) }
        if properties.contains(.indicate) { insert(.indicate) }
    }
}
