import ATT
import BLECore

/// Answers the requests and commands that arrive on one bearer of a client (Core Specification 5.4, Vol 3,
/// Part F, 3.4): checks whether an attribute may be used, calls its handlers, and creates the response.
///
/// The state of the client, and the state that all clients share, are owned by others, so both are
/// parameters.
struct RequestResponder: Sendable {
    typealias Shared = GATTServer.Shared

    /// The reason why a request has no response yet, or gets an error.
    enum Interruption: Error {
        case refused(ATTErrorCode, AttributeHandle)
        case later
    }

    /// A request that is being answered. If a handler needs time, the request is restarted when the handler
    /// has completed, and results that handlers have already returned are taken from `results`.
    private struct OpenRequest: Sendable {
        let request: ATTRequest
        let mtu: ATTMTU
        var results: [(handle: AttributeHandle, result: Result<[UInt8], ATTErrorCode>)] = []
        var waiting: (pending: PendingAnswer, handle: AttributeHandle)?
    }

    private let bearer: BearerID
    /// The MTU when the last request or command arrived.
    private var mtu = ATTMTU.default
    private var open: OpenRequest?
    /// The value that a handler returned for the first read of a long value, so that the parts that follow
    /// are consistent with it.
    private var longRead: (handle: AttributeHandle, value: [UInt8])?

    init(_ bearer: BearerID) { self.bearer = bearer }

    mutating func answer(
        _ request: ATTRequest, mtu: ATTMTU, _ client: inout ClientState, _ shared: inout Shared
    ) -> GATTAnswer {
        self.mtu = mtu
        let known = request.knownHandle
        guard client.admit(usesHandle: known != nil) else {
            let refusal = ATTErrorResponse(request.opcode, known ?? .none, .databaseOutOfSync)
            if request.isAccess { reportRefusal(refusal, to: client.id, &shared) }
            return .respond(.error(refusal))
        }
        open = OpenRequest(request: request, mtu: mtu)
        return answer(request, mtu, &client, &shared)
    }

    mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>, _ client: inout ClientState,
        _ shared: inout Shared
    ) -> GATTAnswer? {
        guard let request = open?.request, let mtu = open?.mtu, let waiting = open?.waiting,
            waiting.pending == pending
        else { return nil }
        open?.waiting = nil
        open?.results.append((waiting.handle, result))
        return answer(request, mtu, &client, &shared)
    }

    /// Performs a command. Returns false when it had no effect; commands have no response.
    mutating func perform(
        _ command: ATTCommand, mtu: ATTMTU, _ client: inout ClientState, _ shared: inout Shared
    ) -> Bool {
        self.mtu = mtu
        // A request can be open at the same time; the results of its handlers do not concern this write.
        let request = open
        open = nil
        defer { open = request }
        do throws(Interruption) {
            if case .signedWrite = command {
                guard let counter = client.verify(command) else {
                    throw .refused(.insufficientAuthentication, command.handle)
                }
                shared.events.append(.signed(central: client.id, nextCounter: counter))
            }
            guard client.isInStep else { throw .refused(.databaseOutOfSync, command.handle) }
            let kind: GATTWriteKind = command.opcode.isSigned ? .signed : .command
            try write(command.handle, command.value, kind, &client, &shared)
            return true
        } catch {
            if case .refused(let code, let handle) = error {
                reportRefusal(ATTErrorResponse(command.opcode, handle, code), to: client.id, &shared)
            }
            return false
        }
    }

    /// Abandons the open request, and also the prepared writes if the request executes them.
    mutating func abandon(_ client: inout ClientState) {
        if case .executeWrite? = open?.request { client.cancelPreparedWrites() }
        open = nil
        longRead = nil
    }

    /// Discards the long value that is being read, because values can differ after a change of the database.
    mutating func databaseChanged() { longRead = nil }

    private mutating func answer(
        _ request: ATTRequest, _ mtu: ATTMTU, _ client: inout ClientState, _ shared: inout Shared
    ) -> GATTAnswer {
        let before = shared.events.count
        do throws(Interruption) {
            let response = try response(to: request, &client, &shared)
            open = nil
            return .respond(response)
        } catch {
            // Reads for an answer that was not completed are not reported.
            shared.events.removeLast(shared.events.count - before)
            guard case .refused(let code, let handle) = error else { return .later }
            open = nil
            let refusal = ATTErrorResponse(request.opcode, handle, code)
            if request.isAccess { reportRefusal(refusal, to: client.id, &shared) }
            return .respond(.error(refusal))
        }
    }

    private mutating func response(
        to request: ATTRequest, _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> ATTResponse {
        if case .readBlob = request {} else { longRead = nil }
        switch request {
        case .exchangeMTU: throw .refused(.requestNotSupported, .none)
        case .findInformation(let range): return try findInformation(range, shared)
        case .findByTypeValue(let range, let type, let value):
            return try findByTypeValue(range, BluetoothUUID(type), value, &client, &shared)
        case .readByType(let range, let type): return try readByType(range, type.uuid, &client, &shared)
        case .readByGroupType(let range, let type): return try readByGroupType(range, type.uuid, shared)
        case .read(let handle): return .read(try read(handle, &client, &shared))
        case .readBlob(let handle, let offset):
            return .readBlob(try read(handle, from: Int(offset), &client, &shared))
        case .readMultiple(let handles): return try readMultiple(handles, &client, &shared)
        case .readMultipleVariable(let handles): return try readMultipleVariable(handles, &client, &shared)
        case .write(let handle, let value):
            try write(handle, value, .request, &client, &shared)
            return .write
        case .prepareWrite(let handle, let offset, let value):
            try prepare(PreparedWrite(handle: handle, offset: Int(offset), value: value), &client, shared)
            return .prepareWrite(handle, offset: offset, value: value)
        case .executeWrite(.cancel):
            client.cancelPreparedWrites()
            return .executeWrite
        case .executeWrite(.write):
            try execute(&client, &shared)
            return .executeWrite
        }
    }
}

extension ATTRequest {
    /// The handle that a client knows from an earlier discovery, the first of several; nil if the request is
    /// one of those that discover, or has no handle (Part G, 2.5.2.1).
    fileprivate var knownHandle: AttributeHandle? {
        switch self {
        case .read(let handle), .readBlob(let handle, _), .write(let handle, _),
            .prepareWrite(let handle, _, _):
            handle
        case .readMultiple(let handles), .readMultipleVariable(let handles): handles.first
        case .readByType(let range, let type)
        where range != .all && type.uuid != .include && type.uuid != .characteristic:
            range.start
        case .exchangeMTU, .findInformation, .findByTypeValue, .readByType, .readByGroupType, .executeWrite:
            nil
        }
    }

    /// Whether the request reads or writes values. Other requests discover attributes, where an error is how
    /// a procedure ends. Read Using Characteristic UUID uses the same request as discovery, and counts as
    /// discovery.
    fileprivate var isAccess: Bool {
        switch self {
        case .read, .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite, .executeWrite:
            true
        case .exchangeMTU, .findInformation, .findByTypeValue, .readByType, .readByGroupType: false
        }
    }
}

// MARK: - Permissions and handlers, for every request that uses a value

extension RequestResponder {
    /// Returns the index of the attribute with `handle`, or throws Invalid Handle.
    private func index(of handle: AttributeHandle, _ shared: Shared) throws(Interruption) -> Int {
        guard let index = shared.database.index(of: handle) else { throw .refused(.invalidHandle, handle) }
        return index
    }

    /// Checks that the client may read or write an attribute (Core Specification 5.4, Vol 3, Part F, 3.2.5):
    /// first whether any client may, then whether this link may, then whether the application agrees.
    private func permit(
        isWrite: Bool, _ index: Int, _ client: inout ClientState, _ shared: Shared
    ) throws(Interruption) {
        let permissions = shared.database.attributes[index].permissions
        let access = isWrite ? permissions.write : permissions.read
        if access == .open, !permissions.authorize { return }
        let handle = shared.database.attributes[index].handle
        if access == .none { throw .refused(isWrite ? .writeNotPermitted : .readNotPermitted, handle) }
        if let code = client.refusal(of: access, minimumKeySize: permissions.minimumKeySize) {
            throw .refused(code, handle)
        }
        guard permissions.authorize else { return }
        let request = GATTAuthorizationRequest(central: client.central, handle: handle, isWrite: isWrite)
        guard let authorize = shared.configuration.authorize, authorize(request) else {
            throw .refused(.insufficientAuthorization, handle)
        }
    }

    /// Returns the whole value, if the client may read it. `offset` is passed to the handler; if it is not 0,
    /// the value of a long read in progress is used again.
    private mutating func value(
        _ index: Int, offset: Int = 0, _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> [UInt8] {
        try permit(isWrite: false, index, &client, shared)
        if case .clientConfiguration(let handle, _) = shared.database.attributes[index].kind {
            return (client.configurations[handle] ?? []).octets
        }
        if shared.database.attributes[index].role == .clientFeatures { return [client.features.rawValue] }
        guard let onRead = shared.database.attributes[index].onRead else {
            return shared.database.attributes[index].value
        }
        let handle = shared.database.attributes[index].handle
        if offset > 0, let longRead, longRead.handle == handle { return longRead.value }
        let uuid = shared.database.attributes[index].type
        let central = client.central
        let value = try result(for: handle, of: client.id, &shared) { pending, mtu in
            let request = GATTReadRequest(
                central: central, handle: handle, uuid: uuid, offset: offset, mtu: mtu,
                pending: pending)
            switch try onRead(request) {
            case .value(let value): return value
            case .later: return nil
            }
        }
        guard value.count <= ATTLimits.valueLength else { throw .refused(.unlikelyError, handle) }
        return value
    }

    /// Returns the result of an attribute's handler, taken from an earlier attempt at the request if there
    /// was one; `ask` returns nil for `.later`.
    private mutating func result(
        for handle: AttributeHandle, of client: ClientID, _ shared: inout Shared,
        _ ask: (PendingAnswer, ATTMTU) throws -> [UInt8]?
    ) throws(Interruption) -> [UInt8] {
        if let known = open?.results.first(where: { $0.handle == handle })?.result {
            do { return try known.get() } catch { throw .refused(error, handle) }
        }
        shared.lastPending &+= 1
        let pending = PendingAnswer(client: client, bearer: bearer, number: shared.lastPending)
        let answer: [UInt8]?
        do {
            answer = try ask(pending, mtu)
        } catch {
            throw .refused(error as? ATTErrorCode ?? .unlikelyError, handle)
        }
        guard let answer else {
            open?.waiting = (pending, handle)
            throw .later
        }
        open?.results.append((handle, .success(answer)))
        return answer
    }
}

// MARK: - Requests over a range of handles (3.4.3, 3.4.4.1 and 3.4.4.9)

extension RequestResponder {
    private func findInformation(
        _ range: AttributeRange, _ shared: Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTInformation>(room: mtu.octets - 2)
        for index in try indices(in: range, shared) {
            let handle = shared.database.attributes[index].handle
            let type = AttributeType(
                shared.database.attributes[index].type,
                isLong: shared.database.attributes[index].hasLongType)
            guard found.add(ATTInformation(handle: handle, type: type)) else { break }
        }
        return .findInformation(try found.list(range))
    }

    /// Finds attributes by type and value. Values that the client may not read match nothing, so that
    /// matching does not reveal them.
    private mutating func findByTypeValue(
        _ range: AttributeRange, _ type: BluetoothUUID, _ value: [UInt8], _ client: inout ClientState,
        _ shared: inout Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTHandlesInformation>(room: mtu.octets - 1)
        for index in try indices(in: range, shared) where shared.database.attributes[index].type == type {
            do throws(Interruption) {
                guard try self.value(index, &client, &shared) == value else { continue }
            } catch {
                guard case .refused = error else { throw error }
                continue
            }
            let handle = shared.database.attributes[index].handle
            let end = shared.database.attributes[index].groupEnd
            guard found.add(ATTHandlesInformation(handle: handle, groupEnd: end)) else { break }
        }
        return .findByTypeValue(try found.list(range))
    }

    /// Reads values by type. A value that the client may not read ends the list, and is an error if it is the
    /// first.
    private mutating func readByType(
        _ range: AttributeRange, _ type: BluetoothUUID, _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTAttributeData>(room: mtu.octets - 2)
        for index in try indices(in: range, shared) where shared.database.attributes[index].type == type {
            let value: [UInt8]
            do throws(Interruption) {
                value = try self.value(index, &client, &shared)
            } catch {
                if case .refused = error, !found.isEmpty { break }
                throw error
            }
            let handle = shared.database.attributes[index].handle
            let entry = ATTAttributeData(handle: handle, value: value.prefix(mtu.readByTypeValue))
            guard found.add(entry) else { break }
            if shared.database.attributes[index].role == .databaseHash { client.readHash() }
            reportRead(index, value, by: client.id, &shared)
        }
        return .readByType(try found.list(range))
    }

    private func readByGroupType(
        _ range: AttributeRange, _ type: BluetoothUUID, _ shared: Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTGroupData>(room: mtu.octets - 2)
        let indices = try indices(in: range, shared)
        guard type == .primaryService || type == .secondaryService else {
            throw .refused(.unsupportedGroupType, range.start)
        }
        for index in indices where shared.database.attributes[index].type == type {
            let entry = ATTGroupData(
                handle: shared.database.attributes[index].handle,
                groupEnd: shared.database.attributes[index].groupEnd,
                value: shared.database.attributes[index].value.prefix(mtu.readByGroupTypeValue))
            guard found.add(entry) else { break }
        }
        return .readByGroupType(try found.list(range))
    }

    /// Returns the indices of the attributes in a range. Rejects an invalid range with Invalid Handle.
    private func indices(in range: AttributeRange, _ shared: Shared) throws(Interruption) -> Range<Int> {
        guard range.isValid else { throw .refused(.invalidHandle, range.start) }
        let start = shared.database.index(atOrAfter: range.start)
        let end = range.end.next.map { shared.database.index(atOrAfter: $0) }
        return start..<(end ?? shared.database.attributes.count)
    }
}

/// The entries found so far for a response: all of one length, and no more than there is room for.
private struct Found<Entry: ATTEntry> {
    let room: Int
    private var entries: ATTEntryList<Entry>?

    init(room: Int) { self.room = room }

    var isEmpty: Bool { entries == nil }

    /// Adds an entry. Returns false, which ends the list, when the entry has another length or there is no
    /// room.
    mutating func add(_ entry: Entry) -> Bool {
        guard let list = entries else {
            entries = ATTEntryList(entry, capacity: room)
            return true
        }
        guard list.bytes.count + list.entryLength <= room else { return false }
        return entries?.append(entry) ?? false
    }

    /// Returns the list, or throws Attribute Not Found with the start of `range`.
    func list(_ range: AttributeRange) throws(RequestResponder.Interruption) -> ATTEntryList<Entry> {
        guard let entries else { throw .refused(.attributeNotFound, range.start) }
        return entries
    }
}

// MARK: - Reads (3.4.4)

extension RequestResponder {
    /// Returns a value from `offset` on, as far as it fits the response.
    private mutating func read(
        _ handle: AttributeHandle, from offset: Int = 0, _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> [UInt8] {
        let index = try index(of: handle, shared)
        let value = try value(index, offset: offset, &client, &shared)
        guard offset <= value.count else { throw .refused(.invalidOffset, handle) }
        if offset == 0 {
            reportRead(index, value, by: client.id, &shared)
            if value.count <= mtu.readValue { return value }
            longRead = (handle, value)
        }
        return Array(value[offset...].prefix(mtu.readValue))
    }

    private mutating func readMultiple(
        _ handles: [AttributeHandle], _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> ATTResponse {
        var joined: [UInt8] = []
        joined.reserveCapacity(mtu.readValue)
        for handle in handles {
            let value = try readWhole(handle, &client, &shared)
            joined.append(contentsOf: value.prefix(mtu.readValue - joined.count))
        }
        return .readMultiple(joined)
    }

    private mutating func readMultipleVariable(
        _ handles: [AttributeHandle], _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> ATTResponse {
        var list = ATTTupleList<ATTLengthValue>(capacity: mtu.readValue)
        for handle in handles {
            list.append(ATTLengthValue(try readWhole(handle, &client, &shared)), limit: mtu.readValue)
        }
        return .readMultipleVariable(list)
    }

    private mutating func readWhole(
        _ handle: AttributeHandle, _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) -> [UInt8] {
        let index = try index(of: handle, shared)
        let value = try value(index, &client, &shared)
        reportRead(index, value, by: client.id, &shared)
        return value
    }

    /// Reports a read to the application. Declarations, and values that GATT itself uses, concern only the
    /// server and are not reported.
    private func reportRead(_ index: Int, _ value: [UInt8], by client: ClientID, _ shared: inout Shared) {
        let attribute = shared.database.attributes[index]
        guard attribute.kind != .declaration, attribute.role == nil else { return }
        shared.events.append(
            .read(central: client, handle: attribute.handle, uuid: attribute.type, value: value))
    }

    /// Reports a rejection to the application, of reads and writes alike.
    private func reportRefusal(_ refusal: ATTErrorResponse, to client: ClientID, _ shared: inout Shared) {
        let uuid = shared.database[refusal.handle]?.type
        shared.events.append(.refused(central: client, refusal, uuid: uuid))
    }
}

extension ClientCharacteristicConfiguration {
    /// The descriptor's value, created once for all reads.
    fileprivate var octets: [UInt8] { Self.allOctets[Int(rawValue & 3)] }

    private static let allOctets: [[UInt8]] = [[0, 0], [1, 0], [2, 0], [3, 0]]
}

// MARK: - Writes (3.4.5 and 3.4.6)

extension RequestResponder {
    /// Writes a value that came in one PDU.
    private mutating func write(
        _ handle: AttributeHandle, _ value: [UInt8], _ kind: GATTWriteKind, _ client: inout ClientState,
        _ shared: inout Shared
    ) throws(Interruption) {
        let index = try writableIndex(of: handle, kind, &client, shared)
        let whole = try shared.database.attributes[index].replacing(value)
        try perform(CollectionOfOne(whole), kind, &client, &shared)
    }

    /// Queues a part. Its offset and length are checked when it is executed (3.4.6.1).
    private mutating func prepare(
        _ part: PreparedWrite, _ client: inout ClientState, _ shared: Shared
    ) throws(Interruption) {
        _ = try writableIndex(of: part.handle, .prepared, &client, shared)
        guard client.prepare(part, limit: shared.configuration.prepareQueueLimit) else {
            throw .refused(.prepareQueueFull, part.handle)
        }
    }

    /// Writes everything that is queued, or nothing; the queue is empty afterwards, unless a handler needs
    /// time.
    private mutating func execute(
        _ client: inout ClientState, _ shared: inout Shared
    ) throws(Interruption) {
        let prepared = client.preparedWrites
        do throws(Interruption) {
            // The error code is that of version 6.1 and later, which have a rule for this (3.4.6.3).
            if let broken = prepared.broken { throw .refused(.databaseOutOfSync, broken) }
            var writes: [GATTWrite] = []
            for handle in prepared.handles {
                let index = try writableIndex(of: handle, .prepared, &client, shared)
                let parts = prepared.parts.filter { $0.handle == handle }
                writes.append(try shared.database.attributes[index].applying(parts))
            }
            try perform(writes, .prepared, &client, &shared)
        } catch {
            if case .refused = error { client.cancelPreparedWrites() }
            throw error
        }
        client.cancelPreparedWrites()
    }

    /// Passes writes to their handlers, and stores all of them once all are accepted.
    private mutating func perform(
        _ writes: some Collection<GATTWrite>, _ kind: GATTWriteKind, _ client: inout ClientState,
        _ shared: inout Shared
    ) throws(Interruption) {
        for write in writes {
            let index = try index(of: write.handle, shared)
            if case .clientConfiguration(_, let properties) = shared.database.attributes[index].kind {
                _ = try write.configuration(properties)
            }
            if shared.database.attributes[index].role == .clientFeatures {
                _ = try write.features(beside: client.features)
            }
            if let onWrite = shared.database.attributes[index].onWrite {
                let central = client.central
                _ = try result(for: write.handle, of: client.id, &shared) { pending, mtu in
                    let request = GATTWriteRequest(
                        central: central, write: write, kind: kind, transaction: Array(writes),
                        mtu: mtu, pending: pending)
                    return try onWrite(request) == .accept || kind.isCommand ? [] : nil
                }
            }
        }
        for write in writes {
            let index = try index(of: write.handle, shared)
            if case .clientConfiguration(let handle, let properties) = shared.database.attributes[index].kind
            {
                client.choose(handle, try write.configuration(properties), &shared)
            } else if shared.database.attributes[index].role == .clientFeatures {
                client.setFeatures(try write.features(beside: client.features), &shared)
            } else {
                shared.database.setValue(write.value, at: index)
                shared.events.append(.write(central: client.id, write, kind: kind))
            }
        }
    }

    /// Returns the index of an attribute that the client may write in this way.
    private func writableIndex(
        of handle: AttributeHandle, _ kind: GATTWriteKind, _ client: inout ClientState, _ shared: Shared
    ) throws(Interruption) -> Int {
        let index = try index(of: handle, shared)
        try permit(isWrite: true, index, &client, shared)
        if case .value(let properties) = shared.database.attributes[index].kind, !properties.offer(kind) {
            // On an encrypted link, a client writes without response what it would sign on an unencrypted
            // link (Part C, 10.4.1).
            let standsForSigned = kind == .command && properties.offer(.signed)
            guard standsForSigned, client.refusal(of: .encrypted, minimumKeySize: 7) == nil else {
                throw .refused(.writeNotPermitted, handle)
            }
        }
        return index
    }
}

extension CharacteristicProperties {
    /// Returns whether a value can be written in this way. If only the permissions allow writing, any way is
    /// accepted.
    fileprivate func offer(_ kind: GATTWriteKind) -> Bool {
        if isDisjoint(with: .anyWrite) { return true }
        return switch kind {
        case .request, .prepared: contains(.write)
        case .command: contains(.writeWithoutResponse)
        case .signed: contains(.authenticatedSignedWrites)
        }
    }
}

extension GATTWrite {
    /// Returns the features that a client writes. Bits that are set must remain set, and reserved bits are
    /// ignored (Part G, 7.2).
    fileprivate func features(
        beside now: ClientSupportedFeatures
    ) throws(RequestResponder.Interruption) -> ClientSupportedFeatures {
        guard let first = value.first else { throw .refused(.invalidAttributeValueLength, handle) }
        let known: ClientSupportedFeatures = [.robustCaching, .enhancedBearer, .multipleNotifications]
        let features = ClientSupportedFeatures(rawValue: first).intersection(known)
        guard now.isSubset(of: features) else { throw .refused(.valueNotAllowed, handle) }
        return features
    }

    /// Returns the configuration that is written to a Client Characteristic Configuration of a characteristic
    /// with `properties`. Bits that the characteristic does not support are improper (Core Specification
    /// Supplement, Part B, 1.2); reserved bits are ignored (Vol 1, Part E, 2.1).
    fileprivate func configuration(
        _ properties: CharacteristicProperties
    ) throws(RequestResponder.Interruption) -> ClientCharacteristicConfiguration {
        guard value.count == 2 else { throw .refused(.invalidAttributeValueLength, handle) }
        let bits = ClientCharacteristicConfiguration(rawValue: UInt16(value[0])).intersection([
            .notify, .indicate,
        ])
        guard bits.isSubset(of: ClientCharacteristicConfiguration(allowedBy: properties)) else {
            throw .refused(.clientCharacteristicConfigurationImproper, handle)
        }
        return bits
    }
}
