import ATT
import BLECore

/// What a server knows of one central's link, and how it answers there.
struct GATTResponder: Sendable {
    /// Why a request has no response yet, or gets an error.
    enum Interruption: Error {
        case refused(ATTErrorCode, AttributeHandle)
        case later
    }

    /// A request while it is answered. When a handler wants time, the request starts over once the handler
    /// is done, and what handlers have said already is taken from `results`.
    struct OpenRequest: Sendable {
        let request: ATTRequest
        let mtu: ATTMTU
        var results: [(handle: AttributeHandle, result: Result<[UInt8], ATTErrorCode>)] = []
        var waiting: (pending: PendingAnswer, handle: AttributeHandle)?
    }

    let central: CentralID
    /// As it was when the last request or command came.
    var mtu = ATTMTU.default
    var security = LinkSecurity.none
    /// By value handle; those that are empty are not kept.
    private(set) var configurations: [AttributeHandle: ClientCharacteristicConfiguration] = [:]
    var features = ClientSupportedFeatures()
    var awareness = ChangeAwareness()
    var reports = Reports()
    /// By which the client signs its writes.
    var signingKey: ATTSigningKey?
    var nextSignCounter: UInt32 = 0
    var prepared = PrepareQueue()
    var open: OpenRequest?
    /// What a handler gave to the first read of a long value, so that the parts that follow fit it.
    var longRead: (handle: AttributeHandle, value: [UInt8])?

    init(_ central: CentralID) { self.central = central }

    mutating func answer(_ request: ATTRequest, mtu: ATTMTU, _ shared: inout GATTServer.Shared) -> GATTAnswer
    {
        self.mtu = mtu
        let isRobust = features.contains(.robustCaching)
        let known = request.knownHandle
        guard awareness.admit(usesHandle: known != nil, isRobust: isRobust) else {
            return .respond(.error(ATTErrorResponse(request.opcode, known ?? .none, .databaseOutOfSync)))
        }
        // It found out by itself.
        if awareness.isAware { reports.waiting = nil }
        open = OpenRequest(request: request, mtu: mtu)
        return answer(request, mtu, &shared)
    }

    mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>,
        _ shared: inout GATTServer.Shared
    ) -> GATTAnswer? {
        guard let request = open?.request, let mtu = open?.mtu, let waiting = open?.waiting,
            waiting.pending == pending
        else { return nil }
        open?.waiting = nil
        open?.results.append((waiting.handle, result))
        return answer(request, mtu, &shared)
    }

    mutating func abandonRequest() {
        open = nil
        longRead = nil
        prepared.removeAll()
    }

    private mutating func answer(
        _ request: ATTRequest, _ mtu: ATTMTU, _ shared: inout GATTServer.Shared
    ) -> GATTAnswer {
        let told = shared.events.count
        do throws(Interruption) {
            let response = try response(to: request, mtu, &shared)
            open = nil
            return .respond(response)
        } catch {
            // What was read for an answer that did not come about is not told.
            shared.events.removeLast(shared.events.count - told)
            guard case .refused(let code, let handle) = error else { return .later }
            open = nil
            return .respond(.error(ATTErrorResponse(request.opcode, handle, code)))
        }
    }

    private mutating func response(
        to request: ATTRequest, _ mtu: ATTMTU, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        if case .readBlob = request {} else { longRead = nil }
        switch request {
        case .exchangeMTU: throw .refused(.requestNotSupported, .none)
        case .findInformation(let range): return try findInformation(range, mtu, shared)
        case .findByTypeValue(let range, let type, let value):
            return try findByTypeValue(range, BluetoothUUID(type), value, mtu, &shared)
        case .readByType(let range, let type): return try readByType(range, type.uuid, mtu, &shared)
        case .readByGroupType(let range, let type):
            return try readByGroupType(range, type.uuid, mtu, shared)
        case .read(let handle): return .read(try read(handle, mtu, &shared))
        case .readBlob(let handle, let offset):
            return .readBlob(try read(handle, from: Int(offset), mtu, &shared))
        case .readMultiple(let handles): return try readMultiple(handles, mtu, &shared)
        case .readMultipleVariable(let handles): return try readMultipleVariable(handles, mtu, &shared)
        case .write(let handle, let value):
            try write(handle, value, .request, &shared)
            return .write
        case .prepareWrite(let handle, let offset, let value):
            try prepare(PreparedWrite(handle: handle, offset: Int(offset), value: value), &shared)
            return .prepareWrite(handle, offset: offset, value: value)
        case .executeWrite(.cancel):
            prepared.removeAll()
            return .executeWrite
        case .executeWrite(.write):
            try execute(&shared)
            return .executeWrite
        }
    }

    /// Remembers how the central wants a characteristic's values, and tells it when that is new, unless it is
    /// Service Changed, which is the server's own business.
    mutating func configure(
        _ handle: AttributeHandle, _ configuration: ClientCharacteristicConfiguration,
        _ shared: inout GATTServer.Shared
    ) {
        guard let index = shared.database.index(of: handle), configurations[handle] ?? [] != configuration
        else { return }
        let uuid = shared.database.attributes[index].type
        configurations[handle] = configuration.isEmpty ? nil : configuration
        guard shared.database.attributes[index].role == nil else { return }
        if configuration.isEmpty {
            shared.events.append(.unsubscribed(central: central, handle: handle, uuid: uuid))
        } else {
            shared.events.append(.subscribed(central: central, handle: handle, uuid: uuid, configuration))
        }
    }
}

extension ATTRequest {
    /// The handle that a client has from an earlier discovery, the first of several; nil when the request is
    /// one of those that discover, or has none (Part G, 2.5.2.1).
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
}

extension ClientCharacteristicConfiguration {
    /// The bits that a characteristic with `properties` has.
    init(allowedBy properties: CharacteristicProperties) {
        self = []
        if properties.contains(.notify) { insert(.notify) }
        if properties.contains(.indicate) { insert(.indicate) }
    }

    /// The descriptor's value, made once for all that read it.
    var octets: [UInt8] { Self.allOctets[Int(rawValue & 3)] }

    private static let allOctets: [[UInt8]] = [[0, 0], [1, 0], [2, 0], [3, 0]]
}
