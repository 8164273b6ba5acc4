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
