import BLEAdvertising
import BLECore
import HCI

/// One advertising packet, with what is known of its sender from its other packets.
public struct Advertisement: Hashable, Sendable {
    /// The packet as the controller reported it.
    package var report: AdvertisingReport
    /// The identity of the bonded device that uses a private address. Where the controller resolves private
    /// addresses, it is also `address`.
    public var identity: DeviceAddress?
    /// The sender's fields: of its last advertisement, then of its last scan response.
    public var fields: AdvertisingData
    /// Whether the sender accepts connections, according to its last advertisement; a scan response does not
    /// contain this.
    public var isConnectable: Bool
    /// The time at which the packet was received, by the loop's clock.
    public var received: Instant

    /// The sender's address; nil when the advertiser is anonymous.
    public var address: DeviceAddress? { report.address }
    /// The local name, complete or shortened; nil if none was received.
    public var name: String? { fields.localName?.text }
    /// The received signal strength in dBm; nil when the controller does not know it.
    public var rssi: Int8? { report.rssi }
    /// The transmit power in dBm, if the header of the packet includes it; only extended packets do.
    public var txPower: Int8? { report.txPower }
    /// The octets of this packet's advertising data.
    public var data: [UInt8] { report.data }
    /// Whether the end of the payload is missing: the controller lost it, or had no room for it.
    public var isTruncated: Bool { report.dataStatus == .truncated }
    /// Whether the packet is a scan response.
    public var isScanResponse: Bool { report.type.contains(.scanResponse) }
    /// Whether the sender accepts scan requests for the packet.
    public var isScannable: Bool { report.type.contains(.scannable) }
    /// Whether the packet is a legacy one, which Bluetooth 4 supports, and not one of extended advertising.
    public var isLegacy: Bool { report.type.contains(.legacy) }
    /// The PHY on which the advertising began.
    public var primaryPHY: PHY { report.primaryPHY }
    /// The PHY of the payload; nil for legacy packets.
    public var secondaryPHY: PHY? { report.secondaryPHY }
    /// The number of the advertising set, 0 to 15 (Advertising SID); nil for legacy packets.
    public var sid: UInt8? { report.sid }
}

extension Advertisement: CustomStringConvertible {
    /// One line, such as `C0:11:22:33:44:55/random -50 dBm "Thermometer" 1809`.
    public var description: String {
        var parts = [address.map { "\($0)" } ?? "anonymous"]
        if let rssi { parts.append("\(rssi) dBm") }
        if let name { parts.append("\"\(name.printable)\"") }
        parts += fields.serviceUUIDs.map { "\($0)" }
        return parts.joined(separator: " ")
    }
}
