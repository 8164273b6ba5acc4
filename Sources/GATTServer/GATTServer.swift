import ATT
import BLECore
import DequeModule

/// A GATT server without I/O: one database and the state of each client (Core Specification 5.4, Vol 3, Part
/// G). The connection of each client passes requests to it and takes its answers; `nextEvent()` reports the
/// actions of clients. Between a frame and a handler, nothing is copied but the value that a write carries.
package struct GATTServer: Sendable {
    /// The state that all links share.
    struct Shared: Sendable {
        var database: AttributeDatabase
        var configuration: ServerOptions
        var events = Deque<GATTServerEvent>()
        var refusedCommands = 0
        var lastPending: UInt64 = 0
        /// The clients that have subscribed to each value, in the order of their numbers, so that sending a
        /// value does not involve the other clients.
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

    /// The state of one client, and what is open on its bearers.
    private struct Client: Sendable {
        var state: ClientState
        private var fixed = RequestResponder(.fixed)
        /// The responders of bearers other than the fixed one, which every link has.
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
            // In any order, as nothing is sent here.
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
    /// The number of commands that had no effect, for example because the attribute, its permissions or the
    /// signature did not allow them.
    package var refusedCommands: Int { shared.refusedCommands }
    /// The clients whose links are up, in the order of their numbers.
    package var centrals: [ClientID] { clients.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Adds a client whose link is up. The record of a bonded client restores its subscriptions and its
    /// knowledge of the database.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - address: its address on the link, for handlers.
    ///   - security: the security of its link.
    ///   - current: returns the current security of the link, if that changes without a report; nil while it
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

    /// Restores the record of a bonded client after the encryption of its link has shown which client it is.
    /// The configurations that the client has written on this link are kept.
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

    /// Returns the present record of a client, to keep if the client is bonded.
    package func record(of client: ClientID) -> GATTClientRecord? { clients[client]?.state.record(shared) }

    /// Sets the key with which a bonded client signs its writes, and the least counter that it may use.
    /// Without a key, no signed write is accepted.
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

    /// Answers a request that arrived over a bearer with `mtu`; the bearer itself answers MTU exchanges.
    package mutating func handle(
        _ request: ATTRequest, from client: ClientID, on bearer: BearerID = .fixed, mtu: ATTMTU
    ) -> GATTAnswer {
        clients[client, default: Self.unconnectedClient(client)].answer(
            request, on: bearer, mtu: mtu, &shared)
    }

    /// Performs a command. A command that is not permitted is counted and reported by an event, because it
    /// has no response.
    package mutating func handle(
        _ command: ATTCommand, from client: ClientID, on bearer: BearerID = .fixed, mtu: ATTMTU
    ) {
        let isDone = clients[client, default: Self.unconnectedClient(client)]
            .perform(command, on: bearer, mtu: mtu, &shared)
        if !isDone { shared.refusedCommands += 1 }
    }

    /// Returns a client that sends something before `connect` was called for it.
    private static func unconnectedClient(_ client: ClientID) -> Client {
        Client(ClientState(Central(address: noAddress, client: client), security: .none, asking: nil))
    }

    /// Completes a request that a handler answered with `.later`: a read with the whole value, a write with
    /// any value. Returns the answer to send to `pending.client` on `pending.bearer`; nil if no request waits
    /// for it any longer.
    package mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>
    ) -> GATTAnswer? {
        clients[pending.client]?.complete(pending, with: result, &shared) ?? nil
    }

    /// Abandons a request that the bearer has rejected because its handler took too long. A later completion
    /// by the handler has no effect. If the request was to execute prepared writes, none of them stays queued
    /// (Core Specification 5.4, Vol 3, Part F, 3.4.6.3).
    package mutating func abandonRequest(of client: ClientID, on bearer: BearerID = .fixed) {
        clients[client]?.abandonRequest(on: bearer)
    }

    /// Removes a bearer of a client that keeps another one. The request that is open on it is not answered.
    package mutating func close(_ bearer: BearerID, of client: ClientID) {
        clients[client]?.close(bearer)
    }

    /// Returns the next action of a central, oldest first.
    package mutating func nextEvent() -> GATTServerEvent? { shared.events.popFirst() }
}

// MARK: - Adding and removing services

/// Changes of the services while links are up (Core Specification 5.4, Vol 3, Part G, 2.5.2 and 7.1).
extension GATTServer {
    /// Publishes another database in place of the present one. Subscriptions to values of the present one
    /// end. All links that are up are affected: see `serviceChange`.
    package mutating func publish(
        _ database: AttributeDatabase, _ configuration: ServerOptions = ServerOptions()
    ) {
        for client in centrals { clients[client]?.state.forget(.all, &shared) }
        shared.database = database
        shared.configuration = configuration
        changed(.all)
    }

    /// Publishes more services, and returns the handles that changed. All links are affected: see
    /// `serviceChange`.
    @discardableResult
    package mutating func add(_ services: [GATTService]) throws(DatabaseError) -> AttributeRange? {
        guard let range = try shared.database.add(services) else { return nil }
        changed(range)
        return range
    }

    /// Publishes more services, each at the handle in its record; see `add(_:)`.
    @discardableResult
    package mutating func add(
        _ services: [GATTService], like records: [ServiceRecord], above highest: AttributeHandle
    ) throws(DatabaseError) -> AttributeRange? {
        guard let range = try shared.database.add(services, like: records, above: highest) else { return nil }
        changed(range)
        return range
    }

    /// Returns whether the value of an attribute is stored here and can change.
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
        // In any order, as nothing is sent here.
        for client in clients.keys { clients[client]?.databaseChanged(range) }
    }

    /// Returns the indication of Service Changed to send to a central: the range of handles that changed.
    /// Returns nil if the central has not subscribed to it, if nothing has changed, or while the last one is
    /// not confirmed.
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

    /// Records that the central confirmed the last indication of Service Changed.
    package mutating func confirmServiceChange(for central: ClientID) {
        clients[central]?.state.confirmReport()
    }
}

// MARK: - Values of the application

extension GATTServer {
    /// Stores a value that the application sets: of a characteristic or a descriptor that all clients share.
    package mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(AttributeValueError) {
        shared.database.setValue(value, at: try settableIndex(of: handle, for: value))
    }

    /// Stores several values, or none if one of them cannot be stored.
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

    /// Returns the centrals to which the values of the characteristic with this value handle are sent. A
    /// central with robust caching that does not know of a change of the database receives none until it does
    /// (Core Specification 5.4, Vol 3, Part G, 2.5.2.1), and a bonded one whose link is not yet as secure as
    /// subscribing requires receives none until it is (Part C, 10.3.2).
    package func subscribers(of handle: AttributeHandle) -> [GATTSubscriber] {
        (shared.subscribers[handle] ?? []).compactMap { client in
            subscription(of: client, for: handle).map { GATTSubscriber(central: client, configuration: $0) }
        }
    }

    /// Returns what to send to each client after values were set, in the order of the clients' numbers.
    package func deliveries(
        of updates: [ValueUpdate], truncating: Bool = false
    ) -> [(client: ClientID, delivery: Delivery)] {
        var receivers = updates.first.flatMap { shared.subscribers[$0.handle] } ?? []
        if updates.count > 1 {
            receivers = Set(updates.flatMap { shared.subscribers[$0.handle] ?? [] }).sorted {
                $0.rawValue < $1.rawValue
            }
        }
        return receivers.compactMap { client in
            let delivery = delivery(of: updates, to: client, truncating: truncating)
            return delivery.isEmpty ? nil : (client, delivery)
        }
    }

    /// Returns what to send to a client after values were set: each value by notification or by indication,
    /// as the client has subscribed.
    package func delivery(
        of updates: [ValueUpdate], to client: ClientID, truncating: Bool = false
    ) -> Delivery {
        var delivery = Delivery(
            packs: features(of: client).contains(.multipleNotifications), truncates: truncating)
        guard let first = updates.first else { return delivery }
        let wanted = subscription(of: client, for: first.handle)?.prefersIndications
        // If all values are sent in one way, as a single value is, clients share the array.
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

    /// Returns the subscription of a client to a characteristic, if the client may receive the values now.
    private func subscription(
        of client: ClientID, for handle: AttributeHandle
    ) -> ClientCharacteristicConfiguration? {
        guard let state = clients[client]?.state, let configuration = state.configurations[handle],
            state.isInStep,
            shared.database.configuration(of: handle).map({ state.isSafe(for: $0.permissions) }) ?? true
        else { return nil }
        return configuration
    }

    /// Returns the subscription of `central` to the characteristic with this value handle; empty if it has
    /// none.
    package func configuration(
        of handle: AttributeHandle, for central: ClientID
    ) -> ClientCharacteristicConfiguration {
        clients[central]?.state.configurations[handle] ?? []
    }
}

/// The result of handling a request.
package enum GATTAnswer: Hashable, Sendable {
    case respond(ATTResponse)
    /// The answer follows when the handler has completed it.
    case later
}

/// A read or write by a client that the application must authorize.
public struct GATTAuthorizationRequest: Hashable, Sendable {
    /// The central whose request needs authorization.
    public let central: Central
    /// The handle of the attribute.
    public let handle: AttributeHandle
    /// Whether the attribute is to be written; otherwise it is read.
    public let isWrite: Bool
}

/// An action of a central, for the owner.
package enum GATTServerEvent: Hashable, Sendable {
    /// The central read a value; parts of it that follow are not reported again.
    case read(central: ClientID, handle: AttributeHandle, uuid: BluetoothUUID, value: [UInt8])
    /// The central signed a write. The next counter of a bonded central must be stored, so that no write is
    /// accepted twice.
    case signed(central: ClientID, nextCounter: UInt32)
    /// The central wrote a value, and the value was accepted.
    case write(central: ClientID, GATTWrite, kind: GATTWriteKind)
    /// The central tried to read or write an attribute and was rejected; `uuid` is nil if no attribute has
    /// the handle.
    case refused(central: ClientID, ATTErrorResponse, uuid: BluetoothUUID?)
    /// The central subscribed to the characteristic with this value handle, or changed its subscription.
    case subscribed(
        central: ClientID, handle: AttributeHandle, uuid: BluetoothUUID, ClientCharacteristicConfiguration)
    /// The central has unsubscribed or disconnected.
    case unsubscribed(central: ClientID, handle: AttributeHandle, uuid: BluetoothUUID)
    /// The central wrote that it supports further features.
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

    /// Whether values are sent to the central by indication.
    package var prefersIndications: Bool { configuration.prefersIndications }
}

extension ClientCharacteristicConfiguration {
    /// Whether values are sent by indication: only if the client has not enabled notifications.
    fileprivate var prefersIndications: Bool { !contains(.notify) }
}

/// The reason why the application cannot set a value.
public enum AttributeValueError: Error, Hashable, Sendable {
    /// No attribute with this handle has a stored value.
    case notFound(AttributeHandle)
    /// The value was cached when its service was published.
    case cached(AttributeHandle)
    /// The attribute does not accept a value of this length.
    case invalidLength(octets: Int, AttributeLength)
}

extension AttributeValueError: CustomStringConvertible {
    /// A description of the error in one line.
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
