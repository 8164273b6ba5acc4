import ATT
import BLECore

/// Writes a value that fits one request: up to MTU - 3 octets (Core Specification 5.4, Vol 3, Part G, 4.9.3
/// and 4.12.3).
package struct WriteValue: SingleRequest {
    /// Nothing: the result only shows that the value is written.
    package typealias Output = Void

    let request: ATTRequest
    var result: Void?

    package init(_ handle: AttributeHandle, _ value: [UInt8]) { request = .write(handle, value: value) }

    /// Subscribes to a characteristic, or unsubscribes, by its Client Characteristic Configuration descriptor
    /// (3.3.3.3 and 4.10, 4.11).
    package init(_ descriptor: AttributeHandle, configuration: ClientCharacteristicConfiguration) {
        self.init(descriptor, [UInt8](littleEndian: configuration.rawValue))
    }

    func result(of response: ATTResponse) throws(GATTClientError) -> Void? {
        response == .write ? () : nil
    }
}

/// Writes a value of any length, in parts that the server queues and then writes at once (Core Specification
/// 5.4, Vol 3, Part G, 4.9.4 and 4.12.4).
package struct WriteLongValue: PreparingProcedure {
    /// Nothing: the result only shows that the value is written.
    package typealias Output = Void

    var writes: PreparedWrites

    /// Writes `value` to `handle`, from offset `start` of the present value on. `start` and the length of
    /// `value` are at most 512 octets together.
    package init(_ handle: AttributeHandle, _ value: [UInt8], at start: UInt16 = 0) {
        writes = PreparedWrites([.init(handle: handle, value: value, start: start)], comparesEcho: false)
    }
}

/// Writes one or more values at once, after the server has echoed every part of them correctly (Core
/// Specification 5.4, Vol 3, Part G, 4.9.5).
package struct ReliableWrite: PreparingProcedure {
    /// Nothing: the result only shows that the values are written.
    package typealias Output = Void

    var writes: PreparedWrites

    /// Writes each value to its handle, in order. At most 512 octets each.
    package init(_ values: [(handle: AttributeHandle, value: [UInt8])]) {
        let writes = values.map { PreparedWrites.Write(handle: $0.handle, value: $0.value, start: 0) }
        self.writes = PreparedWrites(writes, comparesEcho: true)
    }
}
