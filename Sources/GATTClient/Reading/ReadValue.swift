import ATT
import BLECore

/// Reads a value, or its first MTU - 1 octets (Core Specification 5.4, Vol 3, Part G, 4.8.1 and 4.12.1).
package struct ReadValue: SingleRequest {
    package typealias Output = [UInt8]

    let request: ATTRequest
    var result: [UInt8]?

    package init(_ handle: AttributeHandle) { request = .read(handle) }

    func result(of response: ATTResponse) throws(GATTClientError) -> [UInt8]? {
        if case .read(let value) = response { value } else { nil }
    }
}

/// Reads a value of any length: by Read, then by Read Blob while the parts fill the PDU (Core Specification
/// 5.4, Vol 3, Part G, 4.8.1 and 4.8.3).
package struct ReadLongValue: GATTProcedure {
    private let handle: AttributeHandle
    private let start: Int
    /// The end of what is read of values that are longer than the specification permits; nil if they are an error.
    private let cut: Int?
    private var value: [UInt8] = []
    private var room = 0
    private var isWhole = false

    /// Reads the value of `handle` from `start` octets on. With `cut`, a value of more than 512 octets is no error:
    /// as many of its octets are read as are needed to have more than `cut` octets of the value.
    package init(_ handle: AttributeHandle, from start: Int = 0, cutAfter cut: Int? = nil) {
        self.handle = handle
        self.start = start
        self.cut = cut
    }

    private var limit: Int { cut.map { min($0, Int(UInt16.max)) } ?? ATTLimits.valueLength }

    private var offset: Int { start + value.count }

    /// Returns the next request, or the value.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<[UInt8]> {
        guard !isWhole else { return .done(value) }
        guard let offset = UInt16(exactly: offset), offset <= limit else {
            throw .limit(.readOffset, maximum: ATTLimits.valueLength, value: start)
        }
        room = ATTMTU(UInt16(clamping: mtu)).readValue
        return .ask(offset == 0 ? .read(handle) : .readBlob(handle, offset: offset))
    }

    /// Appends the next part of the value.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        let request: ATTOpcode = offset == 0 ? .readRequest : .readBlobRequest
        switch response {
        case .read(let part) where offset == 0, .readBlob(let part) where offset > 0:
            guard part.count <= room else {
                throw .misbehaving(request, .overlong(octets: part.count, limit: room))
            }
            value += part
            guard cut != nil || offset <= ATTLimits.valueLength else {
                throw .misbehaving(request, .overlong(octets: offset, limit: ATTLimits.valueLength))
            }
            isWhole = part.count < room || (cut == nil ? offset == limit : offset > limit)
        case .error(let error) where !value.isEmpty && Self.endings.contains(error.code):
            isWhole = true
        case .error(let error): throw .att(error)
        default: throw .misbehaving(request, .unexpectedResponse(response.opcode))
        }
    }

    /// The error codes by which servers report that a value ends exactly with the first response: Attribute
    /// Not Long, as specified; Invalid Offset; and Request Not Supported from servers without long values.
    private static let endings: Set<ATTErrorCode> = [.attributeNotLong, .invalidOffset, .requestNotSupported]
}

/// Reads the values of all attributes of a type (Core Specification 5.4, Vol 3, Part G, 4.8.2). Each value is
/// truncated to 253 octets, and to the MTU minus 4 octets; values of different lengths arrive in different
/// responses.
package struct ReadUsingUUID: WalkingProcedure {
    /// The values in ascending order of handles; at least one.
    package typealias Output = [RemoteValue]

    var walk: AttributeWalk
    private(set) var result: [RemoteValue] = []

    /// Reads the attributes of type `uuid` in `range`. If there are none, the error is the server's Attribute
    /// Not Found.
    package init(_ uuid: BluetoothUUID, in range: AttributeRange = .all) {
        walk = AttributeWalk(.values(uuid), in: range, endings: [])
    }

    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        if result.isEmpty { walk.endings = [.attributeNotFound] }
        result.append(RemoteValue(handle: entry.handle, value: Array(entry.value)))
    }
}

/// Reads the server's Database Hash by its type, because its handle can be unknown or stale (Core
/// Specification 5.4, Vol 3, Part G, 7.3): one request, whatever the answer.
package struct ReadDatabaseHash: SingleRequest {
    /// The hash's 16 octets; nil when the server has no valid one or refuses the read.
    package typealias Output = [UInt8]?

    let request = ATTRequest.readByType(.all, type: AttributeType(.databaseHash))
    var result: Output?

    package init() {}

    /// Takes the response. A server that lacks the hash, or refuses the read, yields `nil` instead of an error.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch response {
        case .readByType(let list):
            // Only a single value is accepted: two hashes would not be those of one database.
            guard list.count == 1, let first = list.first, first.value.count == Self.octets else { break }
            result = .some(Array(first.value))
            return
        case .error(let error) where error.code != .databaseOutOfSync: break
        case .error(let error): throw .att(error)
        default: throw .misbehaving(request.opcode, .unexpectedResponse(response.opcode))
        }
        result = .some(nil)
    }

    func result(of response: ATTResponse) throws(GATTClientError) -> Output? { nil }

    private static let octets = 16
}
