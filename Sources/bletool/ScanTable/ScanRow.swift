import BLEAdvertising
import BLECore

/// A device, or one of its advertising sets, in the table of a scan.
struct ScanRow: Sendable {
    /// Distinguishes devices and their advertising sets.
    struct Key: Hashable, Sendable {
        var address: DeviceAddress?
        var set: UInt8?
    }

    /// A packet as it was received.
    struct Packet: Hashable, Sendable {
        var time: Timestamp
        var rssi: Int8?
        var isScanResponse: Bool
        var payload: [UInt8]
    }

    /// The key that identifies the row.
    let key: Key
    /// The number of the device's first packet among all packets.
    let first: Int
    /// The last packet of the device.
    private(set) var event: AdvertisementEvent
    /// The last connectable packet, or nil if there was none. A device with several advertisements can send
    /// others meanwhile.
    private(set) var connectable: AdvertisementEvent?
    /// The last advertisement that is not connectable, such as a beacon, or nil if there was none.
    private var unconnectable: AdvertisementEvent?
    /// The last packets of the device's advertisements: of the connectable one, and of those that are not.
    var lastEvents: [AdvertisementEvent] {
        let both = [connectable, unconnectable].compactMap { $0 }
        return both.isEmpty ? [event] : both
    }
    /// The last name of the device, safe on a terminal.
    private(set) var name: String
    /// The names of the device's last services, or their UUIDs.
    private(set) var services: String
    /// The last beacons as text and, perhaps from other packets, the last companies whose data the device
    /// sent.
    var companyText: String { (beacons + companies).joined(separator: "; ") }
    private var beacons: [String]
    private var companies: [String]
    /// The number of received packets.
    private(set) var count = 0
    /// The last received packets, oldest first.
    private(set) var packets: [Packet] = []

    /// The maximum number of packets that a row keeps.
    static let history = 64
    /// The time for which packets count for the rate, in milliseconds.
    static let rateWindow: Int64 = 10_000

    init(_ key: Key, first: Int, _ event: AdvertisementEvent) {
        (self.key, self.first, self.event) = (key, first, event)
        (name, services, beacons, companies) = ("", "", [], [])
        keep(event)
    }

    /// Adds a packet. Removes the oldest one if there are more than `history`.
    mutating func note(_ event: AdvertisementEvent) {
        self.event = event
        keep(event)
        count += 1
        if packets.count == Self.history { packets.removeFirst() }
        packets.append(
            Packet(
                time: event.time, rssi: event.rssi, isScanResponse: event.isScanResponse,
                payload: event.payload))
    }

    /// Stores the contents of a packet. What it does not contain stays as earlier packets had it.
    private mutating func keep(_ event: AdvertisementEvent) {
        if event.isConnectable {
            connectable = event
        } else if !event.isScanResponse {
            unconnectable = event
        }
        let (name, services) = (event.shownName, event.shownServices)
        if !name.isEmpty { self.name = name }
        if !services.isEmpty { self.services = services }
        let (beacons, companies) = event.words
        if !beacons.isEmpty { self.beacons = beacons }
        if !companies.isEmpty { self.companies = companies }
    }

    /// Returns the advertisements per second over the last ten seconds, or nil if fewer than two arrived in
    /// that time. Scan responses are not counted, because this host determines their number.
    func rate(at now: Timestamp) -> Double? {
        let recent = packets.filter {
            !$0.isScanResponse && now.milliseconds - $0.time.milliseconds <= Self.rateWindow
        }
        guard recent.count > 1, let begin = recent.first?.time.milliseconds else { return nil }
        // At least one second, because chance would dominate the rate over a shorter time.
        return Double(recent.count - 1) / Double(max(1000, now.milliseconds - begin)) * 1000
    }

    /// Returns the last signal strengths in dBm, oldest first.
    func strengths(_ count: Int) -> [Int8] { packets.compactMap(\.rssi).suffix(count) }

    /// The strength for sorting: the mean of the last ones in steps of 5 dB, so that rows do not move
    /// constantly.
    var steadyStrength: Int {
        let last = strengths(8)
        guard !last.isEmpty else { return Int.min }
        return last.reduce(0) { $0 + Int($1) } / last.count / 5
    }

    /// The address, or the text in its place.
    var addressText: String { event.address?.text ?? "anonymous" }

    /// Returns whether `text` occurs in what the table shows of the device.
    func matches(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        let wanted = text.lowercased()
        return [addressText, name, companyText, services, event.address?.kind.rawValue ?? ""]
            .contains { $0.lowercased().contains(wanted) }
    }
}

extension AdvertisementEvent {
    /// The name, safe on a terminal; empty without one.
    fileprivate var shownName: String { fields.localName?.text.printable ?? "" }

    /// The names of the services, or their UUIDs.
    fileprivate var shownServices: String {
        fields.serviceUUIDs.map { service($0).printable }.joined(separator: ", ")
    }

    /// The beacons in words, and the companies of the other manufacturer data.
    fileprivate var words: (beacons: [String], companies: [String]) {
        var beacons = fields.serviceData.compactMap { beacon($0) }.filter(\.isReadable).map(\.text)
        var companies: [String] = []
        for data in fields.manufacturerData {
            if let found = beacon(data), found.isReadable {
                beacons.append(found.text)
            } else {
                companies.append(company(data.company))
            }
        }
        return (beacons, companies)
    }
}
