import ATT
import BLECore

/// Writes a value that fits one request: up to MTU - 3 octets (Core Specification 5.4, Vol 3, Part G, 4.9.3
/// and 4.12.3).
package struct WriteValue: SingleRequest {
    /// Nothing but that it is done.
    package typealias Output = Void

    let request: ATTRequest
    var result: Void?

    package init(_ handle: AttributeHandle, _ value: [UInt8]) { request = .write(handle, value: value) }

    /// Subscribes to a characteristic, or ends that, by its Client Characteristic Configuration descriptor
    /// (3.3.3.3 and 4.10, 4.11).
    package init(_ descriptor: AttributeHandle, configuration: ClientCharacteristicConfiguration) {
        self.init(descriptor, [UInt8](littleEndian: configuration.rawValue))
    }

    func result(of response: ATTResponse) throws(GATTClientError) -> Void? {
        response == .write ? () : nil
    }
}

/// Writes a value of any length: parts that the server queues and then writes at once (Core Specification
/// 5.4, Vol 3, Part G, 4.9.4 and 4.12.4).
package struct WriteLongValue: PreparingProcedure {
    /// Nothing but that it is done.
    package typealias Output = Void

    var writes: PreparedWrites

    /// Writes `value` to `handle`, from `start` octets into what is there. Together at most 512 octets.
    package init(_ handle: AttributeHandle, _ value: [UInt8], at start: UInt16 = 0) {
        writes = PreparedWrites([.init(handle: handle, value: value, start: start)], comparesEcho: false)
    }
}

/// Writes one value or several at once, after the server has repeated every part of them rightly (Core
/// Specification 5.4, Vol 3, Part G, 4.9.5).
package struct ReliableWrite: PreparingProcedure {
    /// Nothing but that it is done.
    package typealias Output = Void

    var writes: PreparedWrites

    /// Writes each value to its handle, in order. At most 512 octets each.
    package init(_ values: [(handle: AttributeHandle, value: [UInt8])]) {
        let writes = values.map { PreparedWrites.Write(handle: $0.handle, value: $0.value, start: 0) }
        self.writes = PreparedWrites(writes, comparesEcho: true)
    }
}
