import ATT
import BLECore

/// A walk over a range of handles that asks again and again for what follows. It only ever goes forward, so
/// it ends after at most as many requests as there are handles, and a server that turns back is caught.
struct AttributeWalk: Sendable {
    /// What the requests of a walk ask for.
    enum Method: Hashable, Sendable {
        /// For groups that begin with an attribute of this type, with its value.
        case groups(BluetoothUUID)
        /// For groups that begin with an attribute of this type and value.
        case matchingGroups(UInt16, value: [UInt8])
        /// For attributes of this type, with their values.
        case values(BluetoothUUID)
        /// For all attributes, with their types.
        case types
    }

    /// What an answer contains of one attribute, as far as the method has it.
    struct Entry {
        let handle: AttributeHandle
        var end: AttributeHandle
        var value: ArraySlice<UInt8> = []
        var type: BluetoothUUID?
    }

    private let method: Method
    /// Codes by which this server may say that there is nothing more.
    var endings: Set<ATTErrorCode>
    private var rest: AttributeRange?

    /// A walk over `range`; over nothing when there is no range.
    init(_ method: Method, in range: AttributeRange?, endings: Set<ATTErrorCode> = [.attributeNotFound]) {
        self.method = method
        self.endings = endings
        rest = range
    }

    /// What to ask next; nil at the end.
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

    /// The attributes that a response brings.
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

    /// The declaration that an entry's value is.
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

/// A procedure that is one walk.
protocol WalkingProcedure: GATTProcedure {
    var walk: AttributeWalk { get set }
    /// What was found, once the walk is over.
    var result: Output { get }
    /// Takes an attribute that was found, in the order of the handles.
    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError)
}

extension WalkingProcedure {
    /// The next request of the walk, or what it found.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Output> {
        walk.request.map { .ask($0) } ?? .done(result)
    }

    /// Adds the attributes of a response to the result.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        for entry in try walk.receive(response) { try add(entry) }
    }
}
