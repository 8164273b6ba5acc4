import BLECore
import HCI

/// One advertising packet, with what is known of its sender from its other packets.
public struct Advertisement: Hashable, Sendable {
    /// The packet as the controller reported it. Its address is nil when the advertiser is anonymous.
    public var report: AdvertisingReport
    /// The bonded device that hides behind a private address. Where the controller resolves those, it is also the
    /// report's address.
    public var identity: DeviceAddress?
    /// The sender's fields: of its last advertisement, then of its last scan response.
    public var fields: AdvertisingData
    /// Whether the sender takes connections, as its last advertisement said; a scan response does not say.
    public var isConnectable: Bool
    /// When it was received, by the loop's clock.
    public var received: Instant

    /// The sender.
    public var address: DeviceAddress? { report.address }
    /// Strength at the antenna in dBm; nil when the controller does not know.
    public var rssi: Int8? { report.rssi }
    /// Whether the end of the packet's data is missing: the controller lost it, or had no room for it.
    public var isTruncated: Bool { report.dataStatus == .truncated }
    /// The name, whole or shortened.
    public var name: String? { fields.localName?.text }
}

extension Advertisement: CustomStringConvertible {
    /// `C0:11:22:33:44:55/random -50 dBm "Thermometer" 1809`.
    public var description: String {
        var parts = [address.map { "\($0)" } ?? "anonymous"]
        if let rssi { parts.append("\(rssi) dBm") }
        if let name { parts.append(name.debugDescription) }
        parts += fields.serviceUUIDs.map { "\($0)" }
        return parts.joined(separator: " ")
    }
}
