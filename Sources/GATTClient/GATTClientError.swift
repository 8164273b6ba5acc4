import ATT
import BLECore

/// The reason why a GATT procedure has no result.
package enum GATTClientError: Error, Hashable, Sendable {
    /// The server answered with an Error Response.
    case att(ATTErrorResponse)
    /// The server's response to the request with this opcode violates the specification.
    case misbehaving(ATTOpcode, Misbehavior)
    /// `value` is more than the `maximum` of a limit.
    case limit(Limit, maximum: Int, value: Int)

    /// A quantity that is limited in a procedure.
    package enum Limit: Hashable, Sendable {
        /// The offset in a value at which a read begins.
        case readOffset
        /// The length of a value, in octets.
        case valueLength
    }
}

/// The way in which a server violated the specification.
public enum Misbehavior: Hashable, Sendable {
    /// The server sent a response to another request.
    case unexpectedResponse(ATTOpcode)
    /// A value in the response does not have the format that its attribute's type requires.
    case malformed(DecodeError)
    /// The attribute is not among those that were requested, or comes after one that follows it. `expected`
    /// is nil if no attribute was left to request.
    case unexpectedHandle(AttributeHandle, expected: AttributeRange?)
    /// The group that begins at the first handle ends before it, or extends into the next group.
    case badGroup(AttributeHandle, end: AttributeHandle)
    /// The characteristic declared at the first handle has its value outside its own handles.
    case badValueHandle(AttributeHandle, value: AttributeHandle)
    /// The attribute is declared at a handle that belongs to no service.
    case orphan(AttributeHandle)
    /// A part of a value is longer than the MTU allows, or the whole value is longer than 512 octets.
    case overlong(octets: Int, limit: Int)
    /// The response contains more values than were requested, or fewer without a reason.
    case wrongCount(Int, expected: Int)
    /// The server's echo of a prepared write is not what was written.
    case wrongEcho(AttributeHandle, offset: Int)
}

extension GATTClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .att(let error): "\(error)"
        case .misbehaving(let request, let how): "answer to \(request): \(how)"
        case .limit(.readOffset, let maximum, let value): "a read at \(value), at most \(maximum)"
        case .limit(.valueLength, let maximum, let value): "a value of \(value) octets, at most \(maximum)"
        }
    }
}

extension Misbehavior: CustomStringConvertible {
    /// A short description of the violation.
    public var description: String {
        switch self {
        case .unexpectedResponse(let opcode): "\(opcode) does not answer it"
        case .malformed(let error): "\(error)"
        case .unexpectedHandle(let handle, let range?): "attribute \(handle) is not within \(range)"
        case .unexpectedHandle(let handle, nil): "attribute \(handle) comes after the last one"
        case .badGroup(let handle, let end): "the group at \(handle) cannot end at \(end)"
        case .badValueHandle(let handle, let value):
            "the characteristic at \(handle) cannot have its value at \(value)"
        case .orphan(let handle): "the declaration at \(handle) belongs to no service"
        case .overlong(let octets, let limit): "\(octets) octets where at most \(limit) fit"
        case .wrongCount(let count, let expected): "\(count) values instead of \(expected)"
        case .wrongEcho(let handle, let offset):
            "the write to \(handle) at \(offset) was not repeated as sent"
        }
    }
}
