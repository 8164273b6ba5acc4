import ATT
import BLECore

/// Reads several values at once, joined: only a caller that knows their lengths can separate them (Core
/// Specification 5.4, Vol 3, Part G, 4.8.4).
package struct ReadMultiple: SingleRequest {
    /// The values, one after the other; truncated to MTU - 1 octets.
    package typealias Output = [UInt8]

    let request: ATTRequest
    var result: [UInt8]?

    /// Reads the values of two handles or more.
    package init(_ handles: [AttributeHandle]) { request = .readMultiple(handles) }

    func result(of response: ATTResponse) throws(GATTClientError) -> [UInt8]? {
        if case .readMultiple(let values) = response { values } else { nil }
    }
}

/// Reads several values at once, each with its length (Core Specification 5.4, Vol 3, Part G, 4.8.5).
package struct ReadMultipleVariable: GATTProcedure {
    private let handles: [AttributeHandle]
    private var values: [RemoteValue]?
    private var room = 0

    /// Reads the values of two handles or more.
    package init(_ handles: [AttributeHandle]) { self.handles = handles }

    /// Returns the request, or the values in the order of the handles. If they do not all fit the response,
    /// the last one is truncated, and those after it are missing.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<[RemoteValue]> {
        room = ATTMTU(UInt16(clamping: mtu)).readValue
        return values.map { .done($0) } ?? .ask(.readMultipleVariable(handles))
    }

    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        let request = ATTOpcode.readMultipleVariableRequest
        switch response {
        case .error(let error): throw .att(error)
        case .readMultipleVariable(let list):
            let octets = list.bytes.count
            guard octets <= room else { throw .misbehaving(request, .overlong(octets: octets, limit: room)) }
            let found = zip(handles, list).map {
                RemoteValue(handle: $0, value: Array($1.value), length: $1.length)
            }
            // Only a full response can lack values, or the end of one.
            let isWhole = found.count == handles.count && found.last?.isTruncated != true
            guard list.count <= handles.count, isWhole || octets == room else {
                throw .misbehaving(request, .wrongCount(list.count, expected: handles.count))
            }
            values = found
        default: throw .misbehaving(request, .unexpectedResponse(response.opcode))
        }
    }
}
