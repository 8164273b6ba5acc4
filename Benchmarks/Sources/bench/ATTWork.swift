import ATT
import BLECore

/// Measures the PDUs of a busy link in both directions. PDUs with only fixed fields must not allocate; a PDU
/// with a value can allocate that value.
func measureATT(_ meter: inout Meter) {
    let value = [UInt8](0..<20)
    let readRequest: [UInt8] = [0x0a, 0x03, 0x00]
    let readResponse = [0x0b] + value + [0x14, 0x15]
    let notification = [0x1b, 0x2a, 0x00] + value
    let longNotification: [UInt8] = [0x1b, 0x2a, 0x00] + [UInt8](repeating: 7, count: 241)
    let groups: [UInt8] =
        [0x11, 0x06] + [0x01, 0x00, 0x05, 0x00, 0x00, 0x18] + [0x06, 0x00, 0x09, 0x00, 0x01, 0x18]
        + [0x0a, 0x00, 0xff, 0xff, 0x0f, 0x18]
    let information: [UInt8] = [0x05, 0x01] + (1...5).flatMap { [$0, 0x00, 0x03, 0x28] as [UInt8] }

    meter.measure("decode Read Request", allocations: 0) { keep(try? ATTRequest(readRequest)) }
    meter.measure("decode Read Response, 22 octets", allocations: 1) { keep(try? ATTResponse(readResponse)) }
    meter.measure("decode Notification, 20 octets", allocations: 1) { keep(try? ATTUnsolicited(notification)) }
    meter.measure("decode Notification, 241 octets", allocations: 1) { keep(try? ATTUnsolicited(longNotification)) }
    meter.measure("decode Read By Group Type Response, 3 entries", allocations: 1) {
        guard case .readByGroupType(let list)? = try? ATTResponse(groups) else { return }
        for group in list { keep(group) }
    }
    meter.measure("decode Find Information Response, 5 entries", allocations: 1) {
        guard case .findInformation(let list)? = try? ATTResponse(information) else { return }
        for entry in list { keep(entry) }
    }

    var output = [UInt8]()
    output.reserveCapacity(ATTMTU.maximum.octets)
    func measureEncoding(_ name: String, _ pdu: some PacketEncodable) {
        meter.measure(name, allocations: 0) {
            output.removeAll(keepingCapacity: true)
            output.append(addingCapacity: pdu.encodedCount) { pdu.encode(into: &$0) }
            keep(output)
        }
    }
    measureEncoding("encode Read Request", ATTRequest.read(3))
    measureEncoding(
        "encode Error Response", ATTResponse.error(ATTErrorResponse(.readRequest, 3, .readNotPermitted)))
    measureEncoding("encode Notification, 20 octets", ATTUnsolicited.notification(0x2a, value: value))
    meter.measure("encode Notification, 20 octets, as an array", allocations: 1) {
        keep(ATTUnsolicited.notification(0x2a, value: value).encoded)
    }
}
