import ATT
import BLECore
import DequeModule

/// A GATT server without I/O: one database and what it knows of each client (Core Specification 5.4, Vol
/// 3, Part G). The connection of each client brings it requests and takes its answers; `nextEvent()` reports what
/// clients did. Nothing is copied between a frame and a handler but the value that a write carries.
package struct GATTServer: Sendable {
    /// The state that all links share.
    struct Shared: Sendable {
        var database: AttributeDatabase
        var configuration: ServerOptions
        var events = Deque<GATTServerEvent>()
        var refusedCommands = 0
        var lastPending: UInt64 = 0
        /// Those who have subscribed to a value, in the order of their numbers, so that a value is no matter
        /// of all others.
        private(set) var subscribers: [AttributeHandle: [ClientID]] = [:]

        mutating func note(_ client: ClientID, subscribes: Bool, to handle: AttributeHandle) {
            var all = subscribers.removeValue(forKey: handle) ?? []
            let place = all.firstIndex { $0.rawValue >= client.rawValue } ?? all.endIndex
            let isThere = place < all.count && all[place] == client
            if subscribes, !isThere { all.insert(client, at: place) }
            if !subscribes, isThere { all.remove(at: place) }
            if !all.isEmpty { subscribers[handle] = all }
        }
    }

    /// What is known of one client, and what is open on its bearers.
    private struct Client: Sendable {
        var state: ClientState
        private var fixed = RequestResponder(.fixed)
        /// On other bearers than the one that every link has.
        private var others: [BearerID: RequestResponder] = [:]

        init(_ state: ClientState) { self.state = state }

        mutating func answer(
            _ request: ATTRequest, on bearer: BearerID, mtu: ATTMTU, _ shared: inout Shared
        ) -> GATTAnswer {
            guard bearer == .fixed else {
                return others[bearer, default: RequestResponder(bearer)]
                    .answer(request, mtu: mtu, &state, &shared)
            }
            return fixed.answer(request, mtu: mtu, &state, &shared)
        }

        mutating func perform(
            _ command: ATTCommand, on bearer: BearerID, mtu: ATTMTU, _ shared: inout Shared
        ) -> Bool {
            guard bearer == .fixed else {
                return others[bearer, default: RequestResponder(bearer)]
                    .perform(command, mtu: mtu, &state, &shared)
            }
            return fixed.perform(command, mtu: mtu, &state, &shared)
        }

        mutating func complete(
            _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>, _ shared: inout Shared
        ) -> GATTAnswer? {
            guard pending.bearer == .fixed else {
                return others[pending.bearer]?.complete(pending, with: result, &state, &shared)
            }
            return fixed.complete(pending, with: result, &state, &shared)
        }

        mutating func abandonRequest(on bearer: BearerID) {
            if bearer == .fixed { fixed.abandon(&state) } else { others[bearer]?.abandon(&state) }
        }

        mutating func close(_ bearer: BearerID) { others[bearer] = nil }

        mutating func databaseChanged(_ range: AttributeRange) {
            state.databaseChanged(range)
            fixed.databaseChanged()
            for bearer in others.keys { others[bearer]?.databaseChanged() }
        }
    }

    /// The address of a client that connected without one.
    package static let noAddress = DeviceAddress(0, type: .public)

    private var shared: Shared
    private var clients: [ClientID: Client] = [:]

    package init(_ database: AttributeDatabase, _ configuration: ServerOptions = ServerOptions()) {
        shared = Shared(database: database, configuration: configuration)
    }

    /// The attributes and their stored values.
    package var database: AttributeDatabase { shared.database }
    /// Commands that did nothing because the attribute, its permissions or the signature forbade it.
    package var refusedCommands: Int { shared.refusedCommands }
    /// The clients whose links are up, in the order of their numbers.
    package var centrals: [ClientID] { clients.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Adds a client whose link is up. With the record of a bonded client its subscriptions, and what it knows of
    /// the database, hold again.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - address: its address on the link, for handlers.
    ///   - security: the security of its link.
    ///   - current: returns the present security of the link, where that changes without a report; nil while it
    ///     is uncertain. Called only when the known security is not enough. It must not call the server.
    ///   - record: the record that `disconnect` returned.
    package mutating func connect(
        _ client: ClientID, at address: DeviceAddress = Self.noAddress, security: LinkSecurity = .none,
        current: (@Sendable () -> LinkSecurity?)? = nil, record: GATTClientRecord? = nil
    ) {
        let central = Central(address: address, client: client)
        var state = ClientState(central, security: security, asking: current)
        if let record { state.restore(record, &shared) }
        clients[client] = Client(state)
    }

    /// Restores the record of a bonded client, when the encryption of its link has shown which client it is. What
    /// the client has chosen on this link is kept.
    package mutating func restore(_ record: GATTClientRecord, of client: ClientID) {
        clients[client]?.state.restore(record, &shared)
    }

    /// Removes a client and its prepared writes. Returns the record to keep if the client is bonded.
    @discardableResult
    package mutating func disconnect(_ client: ClientID) -> GATTClientRecord {
        guard var state = clients.removeValue(forKey: client)?.state else { return GATTClientRecord() }
        let record = state.record(shared)
        for handle in record.configurations.keys.sorted() { state.configure(handle, [], &shared) }
        return record
    }

    /// What to remember of a client that is bonded, as of now.
    package func record(of client: ClientID) -> GATTClientRecord? { clients[client]?.state.record(shared) }

    /// Gives the key by which a bonded client signs its writes, and the least counter that it may use; without a
    /// key, none of them is accepted.
    package mutating func setSigningKey(
        _ key: ATTSigningKey?, nextCounter: UInt32 = 0, of client: ClientID
    ) {
        clients[client]?.state.setSigningKey(key, nextCounter: nextCounter)
    }

    /// Returns the features that a client has written to Client Supported Features.
    package func features(of client: ClientID) -> ClientSupportedFeatures {
        clients[client]?.state.features ?? []
    }

    /// Returns the known security of a client's link; nil when the client is not connected.
    package func security(of client: ClientID) -> LinkSecurity? { clients[client]?.state.security }

    /// Sets the security of a client's link.
    package mutating func setSecurity(_ security: LinkSecurity, of client: ClientID) {
        clients[client]?.state.setSecurity(security)
    }

    /// Answers a request that came over a bearer with `mtu`; MTU exchanges are the bearer's own.
    package mutating func handle(
        _ request: ATTRequest, from client: ClientID, on bearer: BearerID = .fixed, mtu: ATTMTU
    ) -> GATTAnswer {
        clients[client, default: Self.stranger(client)].answer(request, on: bearer, mtu: mtu, &shared)
    }

    /// Performs a command. A command that is not permitted is counted and reported by an event, as it has no
    /// response.
    package mutating func handle(
        _ command: ATTCommand, from client: ClientID, on bearer: BearerID = .fixed, mtu: ATTMTU
    ) {
        let isDone = clients[client, default: Self.stranger(client)]
            .perform(command, on: bearer, mtu: mtu, &shared)
        if !isDone { shared.refusedCommands += 1 }
    }

    /// A client that sends something before `connect` was called for it.
    private static func stranger(_ client: ClientID) -> Client {
        Client(ClientState(Central(address: noAddress, client: client), security: .none, asking: nil))
    }

    /// Completes what a handler answered with `.later`: a read with the whole value, a write with anything.
    /// Gives what is to be sent to `pending.client` on `pending.bearer`; nil when no request waits for it any more.
    package mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>
    ) -> GATTAnswer? {
        clients[pending.client]?.complete(pending, with: result, &shared) ?? nil
    }

    /// Abandons a request that the bearer has refused because its handler took too long. A later completion by
    /// the handler has no effect. If the request was to execute prepared writes, none of them stays queued (Core
    /// Specification 5.4, Vol 3, Part F, 3.4.6.3).
    package mutating func abandonRequest(of client: ClientID, on bearer: BearerID = .fixed) {
        clients[client]?.abandonRequest(on: bearer)
    }

    /// Removes a bearer of a client that keeps another one. The request that is open on it is not answered.
    package mutating func close(_ bearer: BearerID, of client: ClientID) {
        clients[client]?.close(bearer)
    }

    /// The next thing that a central did, oldest first.
    package mutating func nextEvent() -> GATTServerEvent? { shared.events.popFirst() }
}

// MARK: - Services that come and go

/// Services that come and go while links are up (Core Specification 5.4, Vol 3, Part G, 2.5.2 and 7.1).
extension GATTServer {
    /// Publishes another database in place of the one before. Subscriptions to values of that end; links that
    /// are up are all affected: see `serviceChange`.
    package mutating func publish(
        _ database: AttributeDatabase, _ configuration: ServerOptions = ServerOptions()
    ) {
        for client in centrals { clients[client]?.state.forget(.all, &shared) }
        shared.database = database
        shared.configuration = configuration
        changed(.all)
    }

    /// Publishes more services; gives the handles that changed. All links are affected: see `serviceChange`.
    @discardableResult
    package mutating func add(_ services: [GATTService]) throws(DatabaseError) -> AttributeRange? {
        guard let range = try shared.database.add(services) else { return nil }
        changed(range)
        return range
    }

    /// Publishes more services, each where its record says; see `add(_:)`.
    @discardableResult
    package mutating func add(
        _ services: [GATTService], like records: [ServiceRecord], above highest: AttributeHandle
    ) throws(DatabaseError) -> AttributeRange? {
        guard let range = try shared.database.add(services, like: records, above: highest) else { return nil }
        changed(range)
        return range
    }

    /// Whether the value of an attribute is stored here, and may change.
    package func stores(_ handle: AttributeHandle) -> Bool {
        guard let attribute = shared.database[handle], attribute.onRead == nil, attribute.role == nil,
            !attribute.isCached
        else { return false }
        switch attribute.kind {
        case .value, .descriptor: return true
        case .declaration, .clientConfiguration: return false
        }
    }

    /// Removes the service that begins at `handle`, and returns the handles that it had. Subscriptions to its
    /// values end.
    @discardableResult
    package mutating func remove(_ handle: AttributeHandle) throws(DatabaseError) -> AttributeRange {
        let range = try shared.database.removable(handle)
        // Unsubscribe first: the event needs the attribute's UUID.
        for client in centrals { clients[client]?.state.forget(range, &shared) }
        shared.database.remove(range)
        changed(range)
        return range
    }

    private mutating func changed(_ range: AttributeRange) {
        for client in clients.keys { clients[client]?.databaseChanged(range) }
    }

    /// The indication of Service Changed to send to a central: the range of handles that changed. Nil when it did not
    /// ask for it, when nothing changed, or while it has not confirmed the last one.
    package mutating func serviceChange(
        for central: ClientID
    ) -> (handle: AttributeHandle, value: [UInt8])? {
        let service = shared.database.attributes.first { $0.role == .serviceChanged }
        guard let handle = service?.handle, let range = clients[central]?.state.nextReport(handle) else {
            return nil
        }
        let bounds = [range.start, range.end]
        return (handle, bounds.flatMap { [UInt8](littleEndian: $0.rawValue) })
    }

    /// The central confirmed the indication of Service Changed that is on its way.
    package mutating func confirmServiceChange(for central: ClientID) {
        clients[central]?.state.confirmReport()
    }
}

// MARK: - Values of the application

extension GATTServer {
    /// Stores a value of the application's: of a characteristic or a descriptor that all clients share.
    package mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(AttributeValueError) {
        shared.database.setValue(value, at: try settableIndex(of: handle, for: value))
    }

    /// Stores several values, or none when one of them cannot be.
    package mutating func setValues(
        _ values: [(handle: AttributeHandle, value: [UInt8])]
    ) throws(AttributeValueError) -> [ValueUpdate] {
        var updates: [ValueUpdate] = []
        updates.reserveCapacity(values.count)
        for (handle, value) in values {
            let index = try settableIndex(of: handle, for: value)
            updates.append(ValueUpdate(handle, shared.database.attributes[index].type, value))
        }
        for (handle, value) in values { try setValue(value, of: handle) }
        return updates
    }

    private func settableIndex(
        of handle: AttributeHandle, for value: [UInt8]
    ) throws(AttributeValueError) -> Int {
        guard let index = shared.database.index(of: handle) else { throw .notFound(handle) }
        switch shared.database.attributes[index].kind {
        case .declaration, .clientConfiguration: throw .notFound(handle)
        case .value where shared.database.attributes[index].role != nil: throw .notFound(handle)
        case .value where shared.database.attributes[index].isCached: throw .cached(handle)
        case .value, .descriptor: break
        }
        let length = shared.database.attributes[index].length
        switch length {
        case .fixed(let count) where value.count != count: throw .invalidLength(octets: value.count, length)
        case .variable(let max) where value.count > max: throw .invalidLength(octets: value.count, length)
        case .fixed, .variable: return index
        }
    }

    /// The centrals that want the values of the characteristic with this value handle. One with robust caching
    /// that does not know of a change of the database gets none until it does (Core Specification 5.4, Vol 3,
    /// Part G, 2.5.2.1), and a bonded one whose link is not as safe yet as subscribing requires gets none until it is
    /// (Part C, 10.3.2).
    package func subscribers(of handle: AttributeHandle) -> [GATTSubscriber] {
        (shared.subscribers[handle] ?? []).compactMap { client in
            subscription(of: client, for: handle).map { GATTSubscriber(central: client, configuration: $0) }
        }
    }

    /// Returns what to send to each client of values that were set, in the order of the clients' numbers.
    package func deliveries(
        of updates: [ValueUpdate], truncating: Bool = false
    ) -> [(client: ClientID, delivery: Delivery)] {
        var clients = updates.first.flatMap { shared.subscribers[$0.handle] } ?? []
        if updates.count > 1 {
            clients = Set(updates.flatMap { shared.subscribers[$0.handle] ?? [] }).sorted {
                $0.rawValue < $1.rawValue
            }
        }
        return clients.compactMap { client in
            let delivery = delivery(of: updates, to: client, truncating: truncating)
            return delivery.isEmpty ? nil : (client, delivery)
        }
    }

    /// Returns what to send to a client of values that were set, each in the way in which it has subscribed.
    package func delivery(
        of updates: [ValueUpdate], to client: ClientID, truncating: Bool = false
    ) -> Delivery {
        var delivery = Delivery(
            packs: features(of: client).contains(.multipleNotifications), truncates: truncating)
        guard let first = updates.first else { return delivery }
        let wanted = subscription(of: client, for: first.handle)?.prefersIndications
        // Where all go in one way, as one value does, clients share the array.
        if updates.dropFirst().allSatisfy({
            subscription(of: client, for: $0.handle)?.prefersIndications == wanted
        }) {
            if wanted == true { delivery.indications = updates }
            if wanted == false { delivery.notifications = updates }
            return delivery
        }
        for update in updates {
            guard let subscription = subscription(of: client, for: update.handle) else { continue }
            if subscription.prefersIndications {
                delivery.indications.append(update)
            } else {
                delivery.notifications.append(update)
            }
        }
        return delivery
    }

    /// How a client has subscribed to a characteristic, if it may have the values now.
    private func subscription(
        of client: ClientID, for handle: AttributeHandle
    ) -> ClientCharacteristicConfiguration? {
        guard let state = clients[client]?.state, let configuration = state.configurations[handle],
            state.isInStep,
            shared.database.configuration(of: handle).map({ state.isSafe(for: $0.permissions) }) ?? true
        else { return nil }
        return configuration
    }

    /// How `central` has subscribed to the characteristic with this value handle; empty when it has not.
    package func configuration(
        of handle: AttributeHandle, for central: ClientID
    ) -> ClientCharacteristicConfiguration {
        clients[central]?.state.configurations[handle] ?? []
    }
}

/// The result of handling a request.
package enum GATTAnswer: Hashable, Sendable {
    case respond(ATTResponse)
    /// The answer follows when a handler has completed it.
    case later
}

/// A read or write by a client that the application must authorize.
public struct GATTAuthorizationRequest: Hashable, Sendable {
    /// The central whose request needs authorization.
    public let central: Central
    /// The handle of the attribute.
    public let handle: AttributeHandle
    /// Whether it is to be written; else read.
    public let isWrite: Bool
}

/// An action of a central, for the owner.
package enum GATTServerEvent: Hashable, Sendable {
    /// Read a value; parts of it that follow are not reported again.
    case read(central: ClientID, handle: AttributeHandle, uuid: BluetoothUUID, value: [UInt8])
    /// Signed a write; a bonded central's next counter is to be kept, so that no write is taken twice.
    case signed(central: ClientID, nextCounter: UInt32)
    /// Wrote a value, and it was accepted.
    case write(central: ClientID, GATTWrite, kind: GATTWriteKind)
    /// Tried to read or write an attribute and was refused; `uuid` is nil where no attribute has the handle.
    case refused(central: ClientID, ATTErrorResponse, uuid: BluetoothUUID?)
    /// Subscribed to the characteristic with this value handle, or changed how.
    case subscribed(
        central: ClientID, handle: AttributeHandle, uuid: BluetoothUUID, ClientCharacteristicConfiguration)
    /// The central has unsubscribed or disconnected.
    case unsubscribed(central: ClientID, handle: AttributeHandle, uuid: BluetoothUUID)
    /// Said that it can do something that it had not said before.
    case features(central: ClientID, ClientSupportedFeatures)
}

/// A central that has subscribed to a characteristic.
package struct GATTSubscriber: Hashable, Sendable {
    package let central: ClientID
    package let configuration: ClientCharacteristicConfiguration

    package init(central: ClientID, configuration: ClientCharacteristicConfiguration) {
        self.central = central
        self.configuration = configuration
    }

    /// Whether values go to it by indication.
    package var prefersIndications: Bool { configuration.prefersIndications }
}

extension ClientCharacteristicConfiguration {
    /// Prefers notifications; indicates only if the client enabled indications alone.
    fileprivate var prefersIndications: Bool { !contains(.notify) }
}

/// Why the application cannot set a value.
public enum AttributeValueError: Error, Hashable, Sendable {
    /// No attribute with this handle has a stored value.
    case notFound(AttributeHandle)
    /// The value was cached when its service was published.
    case cached(AttributeHandle)
    /// The attribute does not take so many octets.
    case invalidLength(octets: Int, AttributeLength)
}

extension AttributeValueError: CustomStringConvertible {
    /// Says in one line what is wrong.
    public var description: String {
        switch self {
        case .notFound(let handle): "no value has the handle \(handle)"
        case .cached(let handle): "the value of \(handle) is cached; only a stored one may change"
        case .invalidLength(let octets, .fixed(let count)):
            "the value has \(octets) octets, and the attribute always \(count)"
        case .invalidLength(let octets, .variable(let max)):
            "the value has \(octets) octets, and the attribute at most \(max)"
        }
    }
}
