import ATT
import BLECore

/// Reads a value of any length: Read, then Read Blob while the parts fill the PDU (Core Specification 5.4,
/// Vol 3, Part G, 4.8.1 and 4.8.3).
package struct ReadLongValue: GATTProcedure {
    private let handle: AttributeHandle
    private let start: Int
    private var value: [UInt8] = []
    private var room = 0
    private var isWhole = false

    /// Reads the value of `handle` from `start` octets on.
    package init(_ handle: AttributeHandle, from start: Int = 0) {
        self.handle = handle
        self.start = start
    }

    private var offset: Int { start + value.count }

    /// The next request, or the value.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<[UInt8]> {
        guard !isWhole else { return .done(value) }
        guard let offset = UInt16(exactly: offset), offset <= ATTLimits.valueLength else {
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
            guard offset <= ATTLimits.valueLength else {
                throw .misbehaving(request, .overlong(octets: offset, limit: ATTLimits.valueLength))
            }
            isWhole = part.count < room || offset == ATTLimits.valueLength
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
