import BLEAdvertising
import BLECore

/// A device, or one of its advertising sets, as a table of a scan remembers it.
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

    /// What identifies the row.
    let key: Key
    /// Numbers the device's first packet among all.
    let first: Int
    /// Its last packet, with all that it said.
    private(set) var event: AdvertisementEvent
    /// The last packet that the device could be connected by; nil when there was none. A device with several advertisements
    /// may send others meanwhile.
    private(set) var connectable: AdvertisementEvent?
    /// The last name that it had, fit for a terminal.
    private(set) var name: String
    /// The names of the last services that it had, or their UUIDs.
    private(set) var services: String
    /// Its last beacons in words and, from other packets perhaps, the last companies whose data it sent.
    var says: String { (beacons + companies).joined(separator: "; ") }
    private var beacons: [String]
    private var companies: [String]
    /// The number of received packets.
    private(set) var count = 0
    /// The last of them, oldest first.
    private(set) var packets: [Packet] = []

    /// The number of packets that a row remembers.
    static let history = 64
    /// How long packets count for the rate.
    static let rateWindow: Int64 = 10_000

    init(_ key: Key, first: Int, _ event: AdvertisementEvent) {
        (self.key, self.first, self.event) = (key, first, event)
        (name, services, beacons, companies) = ("", "", [], [])
        keep(event)
    }

    /// Adds a packet. Of more than `history`, the oldest is forgotten.
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

    /// Keeps what a packet says; of what it does not say, what an earlier one has said stays.
    private mutating func keep(_ event: AdvertisementEvent) {
        if event.isConnectable { connectable = event }
        let (name, services) = (event.shownName, event.shownServices)
        if !name.isEmpty { self.name = name }
        if !services.isEmpty { self.services = services }
        let (beacons, companies) = event.words
        if !beacons.isEmpty { self.beacons = beacons }
        if !companies.isEmpty { self.companies = companies }
    }

    /// Advertisements in a second, over the last ten; nil before there are two. Scan responses are not counted: there are as
    /// many as this host asks for.
    func rate(at now: Timestamp) -> Double? {
        let recent = packets.filter {
            !$0.isScanResponse && now.milliseconds - $0.time.milliseconds <= Self.rateWindow
        }
        guard recent.count > 1, let begin = recent.first?.time.milliseconds else { return nil }
        // Over less than a second chance would say more than the device.
        return Double(recent.count - 1) / Double(max(1000, now.milliseconds - begin)) * 1000
    }

    /// Returns the last signal strengths in dBm, oldest first.
    func strengths(_ count: Int) -> [Int8] { packets.compactMap(\.rssi).suffix(count) }

    /// The strength that rows are sorted by: the mean of the last ones in steps of 5 dB, so that rows stay
    /// where they are.
    var steadyStrength: Int {
        let last = strengths(8)
        guard !last.isEmpty else { return Int.min }
        return last.reduce(0) { $0 + Int($1) } / last.count / 5
    }

    /// The address, or what stands for it.
    var addressText: String { event.address?.text ?? "anonymous" }

    /// Whether `text` occurs in what the table shows of it.
    func matches(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        let wanted = text.lowercased()
        return [addressText, name, says, services, event.address?.kind.rawValue ?? ""]
            .contains { $0.lowercased().contains(wanted) }
    }
}

extension AdvertisementEvent {
    /// The name, fit for a terminal; empty without one.
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
