import ATT
import BLECore

/// A walk over a range of handles by repeated requests for what follows. It only moves forward, so it ends
/// after at most as many requests as there are handles, and a server that moves backward is detected.
struct AttributeWalk: Sendable {
    /// The attributes that the requests of a walk find.
    enum Method: Hashable, Sendable {
        /// Groups that begin with an attribute of this type, with its value.
        case groups(BluetoothUUID)
        /// Groups that begin with an attribute of this type and value.
        case matchingGroups(UInt16, value: [UInt8])
        /// Attributes of this type, with their values.
        case values(BluetoothUUID)
        /// All attributes, with their types.
        case types
    }

    /// The content of a response about one attribute, as far as the method provides it.
    struct Entry {
        let handle: AttributeHandle
        var end: AttributeHandle
        var value: ArraySlice<UInt8> = []
        var type: BluetoothUUID?
    }

    /// What a walk does not throw, but records as a fault.
    enum Tolerance: Hashable, Sendable {
        case nothing
        /// Violations of the specification, and refusals other than for lack of security.
        case violations
        /// These, and refusals for lack of security.
        case refusals
    }

    /// The number of faults of one database that are recorded. The next one is thrown.
    static let faultLimit = 256

    private let method: Method
    private let whole: AttributeRange?
    var tolerance = Tolerance.nothing
    private(set) var faults: [DatabaseFault] = []
    /// Where the server refused to answer: the start of the range, the attribute in error if the server names one
    /// within the range, and the error. Nil if it did not refuse.
    private(set) var refusal: (start: AttributeHandle, handle: AttributeHandle, error: ATTErrorResponse)?
    /// Whether the server does not have the requests of this walk.
    private(set) var isUnsupported = false
    private var last: AttributeHandle?
    /// The error codes by which this server can report that there are no more attributes.
    var endings: Set<ATTErrorCode>
    private var rest: AttributeRange?

    /// Creates a walk over `range`; over nothing if there is no range.
    init(_ method: Method, in range: AttributeRange?, endings: Set<ATTErrorCode> = [.attributeNotFound]) {
        self.method = method
        self.endings = endings
        whole = range
        rest = range
    }

    /// The next request; nil at the end of the walk.
    var request: ATTRequest? {
        rest.map { range in
            switch method {
            case .groups(let type): .readByGroupType(range, type: AttributeType(type))
            case .matchingGroups(let type, let value): .findByTypeValue(range, type: type, value: value)
            case .values(let type): .readByType(range, type: AttributeType(type))
            case .types: .findInformation(range)
            }
        }
    }

    /// The opcode of the requests, for errors.
    var opcode: ATTOpcode {
        switch method {
        case .groups: .readByGroupTypeRequest
        case .matchingGroups: .findByTypeValueRequest
        case .values: .readByTypeRequest
        case .types: .findInformationRequest
        }
    }

    /// Returns the attributes in a response, and moves the walk past them.
    mutating func receive(_ response: ATTResponse) throws(GATTClientError) -> [Entry] {
        var entries: [Entry]
        switch (method, response) {
        case (_, .error(let error)):
            if !endings.contains(error.code) { try refuse(error) }
            isUnsupported = [.unsupportedGroupType, .requestNotSupported].contains(error.code)
            rest = nil
            return []
        case (.groups, .readByGroupType(let list)):
            entries = list.map { Entry(handle: $0.handle, end: $0.groupEnd, value: $0.value) }
        case (.matchingGroups, .findByTypeValue(let list)):
            entries = list.map { Entry(handle: $0.handle, end: $0.groupEnd) }
        case (.values, .readByType(let list)):
            entries = list.map { Entry(handle: $0.handle, end: $0.handle, value: $0.value) }
        case (.types, .findInformation(let list)):
            entries = list.map { Entry(handle: $0.handle, end: $0.handle, type: $0.type.uuid) }
        default:
            throw .misbehaving(opcode, .unexpectedResponse(response.opcode))
        }
        let before = rest
        // In place, without another array.
        var count = 0
        for index in entries.indices {
            guard let entry = try pass(entries[index], asked: before) else { continue }
            entries[count] = entry
            count += 1
        }
        entries.removeLast(entries.count - count)
        // A response without progress would be repeated.
        if rest == before { rest = nil }
        return entries
    }

    /// Handles an error that does not mean that there are no more attributes.
    private mutating func refuse(_ error: ATTErrorResponse) throws(GATTClientError) {
        // Without the primary services, nothing is known of the server.
        let isFirst = last == nil && (method == .groups(.primaryService) || isForMatches)
        guard !isFirst, let rest else { throw .att(error) }
        let handle = rest.contains(error.handle) ? error.handle : rest.start
        try refuse(error, at: handle)
        refusal = (rest.start, handle, error)
    }

    /// Records an error, or throws it.
    mutating func refuse(
        _ error: ATTErrorResponse, at handle: AttributeHandle
    ) throws(GATTClientError) {
        let isTolerable =
            switch tolerance {
            case .nothing: false
            case .violations: !error.code.isForSecurity && error.code != .databaseOutOfSync
            case .refusals: error.code != .databaseOutOfSync
            }
        guard isTolerable, faults.count < Self.faultLimit else { throw .att(error) }
        faults.append(DatabaseFault(handle, nil, .refused(error)))
    }

    /// Continues in `range`, as if nothing had been refused.
    mutating func resume(in range: AttributeRange) {
        (rest, refusal) = (range, nil)
    }

    /// Forgets the last refusal, because a smaller range is walked instead.
    mutating func withdrawRefusal() {
        if refusal != nil { faults.removeLast() }
        refusal = nil
    }

    private var isForGroups: Bool { if case .groups = method { true } else { isForMatches } }
    private var isForMatches: Bool { if case .matchingGroups = method { true } else { false } }

    /// Records a violation of the specification, or throws it.
    mutating func note(
        _ misbehavior: Misbehavior, at handle: AttributeHandle, _ uuid: BluetoothUUID? = nil
    ) throws(GATTClientError) {
        guard tolerance != .nothing, faults.count < Self.faultLimit else {
            throw .misbehaving(opcode, misbehavior)
        }
        faults.append(DatabaseFault(handle, uuid, .misbehavior(misbehavior)))
    }

    /// Moves the walk past an attribute. Returns the attribute, whose end can be corrected, or nil if it is none of
    /// those that were requested, which are in `asked`.
    private mutating func pass(_ entry: Entry, asked: AttributeRange?) throws(GATTClientError) -> Entry? {
        var entry = entry
        let isExpected = rest?.contains(entry.handle) ?? false
        // A group that begins within the one before: their user shortens that one.
        let isOverlapping =
            tolerance != .nothing && isForGroups && !isExpected && whole?.contains(entry.handle) == true
            && last.map { entry.handle > $0 } ?? false
        guard isExpected || isOverlapping else {
            try note(.unexpectedHandle(entry.handle, expected: rest), at: entry.handle)
            // Some servers list their services in falling order. Their user sorts them.
            let isMisplaced =
                isForGroups && entry.end >= entry.handle && asked?.contains(entry.handle) == true
            return isMisplaced ? entry : nil
        }
        last = entry.handle
        var end = entry.end
        if end < entry.handle {
            try note(.badGroup(entry.handle, end: end), at: entry.handle)
            (end, entry.end) = (entry.handle, .last)
        }
        if isExpected || rest?.contains(end) == true { rest = rest?.after(end) }
        return entry
    }

    /// Decodes the declaration in an entry's value. Returns nil if it is malformed, and that is tolerated.
    mutating func declaration<Declaration: PacketDecodable>(
        _ entry: Entry, _: Declaration.Type = Declaration.self
    ) throws(GATTClientError) -> Declaration? {
        do {
            return try Declaration(entry.value.span)
        } catch {
            try note(.malformed(error), at: entry.handle)
            return nil
        }
    }
}

extension GATTClientError {
    /// The error of a procedure that does not tolerate a fault, which was found by requests with this opcode.
    init(_ fault: DatabaseFault, _ opcode: ATTOpcode) {
        switch fault.problem {
        case .misbehavior(let misbehavior): self = .misbehaving(opcode, misbehavior)
        case .refused(let error): self = .att(error)
        }
    }
}

extension ATTErrorCode {
    /// Whether the code means that the link is not secure enough, or that this client is not permitted to do that.
    var isForSecurity: Bool {
        switch self {
        case .insufficientAuthentication, .insufficientEncryption, .insufficientAuthorization,
            .encryptionKeySizeTooShort:
            true
        default: false
        }
    }
}

/// A procedure that consists of one walk.
protocol WalkingProcedure: GATTProcedure {
    var walk: AttributeWalk { get set }
    /// The result, once the walk has ended.
    var result: Output { get }
    /// Adds an attribute that was found; called in the order of the handles, unless the server lists groups in another
    /// order, which is a fault.
    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError)
}

extension WalkingProcedure {
    /// Returns the next request of the walk, or its result.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Output> {
        walk.request.map { .ask($0) } ?? .done(result)
    }

    /// Adds the attributes of a response to the result.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        for entry in try walk.receive(response) { try add(entry) }
    }
}
