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
        let bits = configuration.rawValue
        self.init(descriptor, [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)])
    }

    func result(of response: ATTResponse) throws(GATTClientError) -> Void? {
        response == .write ? () : nil
    }
}
