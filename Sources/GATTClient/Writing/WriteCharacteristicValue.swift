import ATT
import BLECore

/// Writes a value of any length: by one Write Request if it fits, otherwise in parts that take effect
/// together (Core Specification 5.4, Vol 3, Part G, 4.9.3 and 4.9.4).
package struct WriteCharacteristicValue: GATTProcedure {
    private enum Form {
        case undecided
        case short(WriteValue)
        case long(WriteLongValue)
    }

    private let handle: AttributeHandle
    private let value: [UInt8]
    private var form = Form.undecided

    /// Writes `value`, up to 512 octets, to `handle`.
    package init(_ handle: AttributeHandle, _ value: [UInt8]) {
        self.handle = handle
        self.value = value
    }

    /// Returns the next request, or no value when everything is written.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<Void> {
        switch form {
        case .undecided:
            // The MTU may have grown since the procedure was created, so the current one decides.
            let fits = value.count <= ATTMTU(UInt16(clamping: mtu)).writeValue
            form = fits ? .short(WriteValue(handle, value)) : .long(WriteLongValue(handle, value))
            return try next(mtu: mtu)
        case .short(var write):
            defer { form = .short(write) }
            return try write.next(mtu: mtu)
        case .long(var write):
            defer { form = .long(write) }
            return try write.next(mtu: mtu)
        }
    }

    /// Passes the response to the write that sent the request.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch form {
        case .undecided: break
        case .short(var write):
            defer { form = .short(write) }
            try write.receive(response)
        case .long(var write):
            defer { form = .long(write) }
            try write.receive(response)
        }
    }

    /// The request that empties the queue, if the queue may contain something.
    package var undo: ATTRequest? {
        if case .long(let write) = form { write.undo } else { nil }
    }
}
