import ATT
import BLECore

/// What an attribute's value becomes by writing.
extension Attribute {
    /// The value after a write of one PDU (Core Specification 5.4, Vol 3, Part F, 3.4.5.1): a fixed length
    /// keeps what a shorter write does not reach. A CCCD is all or nothing.
    func replacing(_ new: [UInt8]) throws(RequestResponder.Interruption) -> GATTWrite {
        guard new.count <= length.maximum else { throw .refused(.invalidAttributeValueLength, handle) }
        guard case .fixed(let count) = length, new.count < count, !isClientConfiguration else {
            return write(new)
        }
        return write(new + value[new.count...])
    }

    /// The value after prepared writes, in order (3.4.6.3). Parts that begin at 0 make a new value, as a long
    /// write does; others change the one that is there.
    func applying(_ parts: [PreparedWrite]) throws(RequestResponder.Interruption) -> GATTWrite {
        var new = parts.first?.offset == 0 && !isFixed ? [] : value
        if isClientConfiguration { new = [] }
        for part in parts {
            guard part.offset <= new.count else { throw .refused(.invalidOffset, handle) }
            let end = part.offset + part.value.count
            guard end <= length.maximum else { throw .refused(.invalidAttributeValueLength, handle) }
            new.replaceSubrange(part.offset..<min(end, new.count), with: part.value)
        }
        return write(new)
    }

    private var isFixed: Bool { if case .fixed = length { true } else { false } }

    private var isClientConfiguration: Bool { if case .clientConfiguration = kind { true } else { false } }

    private func write(_ value: [UInt8]) -> GATTWrite { GATTWrite(handle: handle, uuid: type, value: value) }
}
