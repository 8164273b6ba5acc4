import ATT
import BLECore

/// Reads the server's Database Hash by its type, since its handle may be unknown or stale (Core
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
            // One value alone: two hashes would be a database that is not one.
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
