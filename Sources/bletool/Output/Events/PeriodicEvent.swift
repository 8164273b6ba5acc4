import BLE
import BLECore

/// `sync`: what one event of a periodic train said.
struct PeriodicEvent: Event {
    var packet: PeriodicAdvertisement
    /// The time of reception.
    var time: Timestamp

    var json: JSONValue {
        [
            "event": "periodic", "address": JSONValue(packet.address),
            "addressType": JSONValue(typeOf: packet.address), "sid": JSONValue(packet.set),
            "rssi": JSONValue(packet.rssi), "txPower": JSONValue(packet.txPower),
            "data": JSONValue(hex: packet.fields.bytes), "time": JSONValue(time.description),
            "truncated": JSONValue(packet.isTruncated),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let rssi = packet.rssi.map { "\($0)" } ?? "?"
        let space = String(repeating: " ", count: max(0, 4 - rssi.count))
        let sender = Style.cyan(packet.address.description, when: colored)
        let end = packet.isTruncated ? "  truncated" : ""
        return ["\(space)\(rssi) dBm  \(sender)  set \(packet.set)  \(packet.fields.bytes.hex)\(end)"]
    }
}
