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

    private let method: Method
    /// The error codes by which this server can report that there are no more attributes.
    var endings: Set<ATTErrorCode>
    private var rest: AttributeRange?

    /// Creates a walk over `range`; over nothing if there is no range.
    init(_ method: Method, in range: AttributeRange?, endings: Set<ATTErrorCode> = [.attributeNotFound]) {
        self.method = method
        self.endings = endings
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
        let entries: [Entry]
        switch (method, response) {
        case (_, .error(let error)):
            guard endings.contains(error.code) else { throw .att(error) }
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
        for entry in entries { try pass(entry) }
        return entries
    }

    private mutating func pass(_ entry: Entry) throws(GATTClientError) {
        guard let range = rest, range.contains(entry.handle) else {
            throw .misbehaving(opcode, .unexpectedHandle(entry.handle, expected: rest))
        }
        guard entry.end >= entry.handle else {
            throw .misbehaving(opcode, .badGroup(entry.handle, end: entry.end))
        }
        rest = range.after(entry.end)
    }

    /// Decodes the declaration in an entry's value.
    func declaration<Declaration: PacketDecodable>(
        _ entry: Entry, _: Declaration.Type = Declaration.self
    ) throws(GATTClientError) -> Declaration {
        do {
            return try Declaration(entry.value.span)
        } catch {
            throw .misbehaving(opcode, .malformed(error))
        }
    }
}

/// A procedure that consists of one walk.
protocol WalkingProcedure: GATTProcedure {
    var walk: AttributeWalk { get set }
    /// The result, once the walk has ended.
    var result: Output { get }
    /// Adds an attribute that was found; called in the order of the handles.
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
