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
    }

    /// Adds a packet. Of more than `history`, the oldest is forgotten.
    mutating func note(_ event: AdvertisementEvent) {
        self.event = event
        count += 1
        if packets.count == Self.history { packets.removeFirst() }
        packets.append(
            Packet(
                time: event.time, rssi: event.rssi, isScanResponse: event.isScanResponse,
                payload: event.payload))
    }

    /// Advertisements in a second, over the last ten; nil before there are two. Scan responses are not
    /// counted: there are as many as this host asks for.
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

    /// The name, fit for a terminal.
    var name: String { event.fields.localName?.text.printable ?? "" }

    /// Its beacons in words, or the companies whose data it sends.
    var says: String {
        let companies = event.fields.manufacturerData.map { data in
            event.beacon(data).flatMap { $0.isReadable ? $0.text : nil } ?? event.company(data.company)
        }
        let beacons = event.fields.serviceData.compactMap { event.beacon($0) }.filter(\.isReadable).map(
            \.text)
        return (beacons + companies).joined(separator: "; ")
    }

    /// The names of its services, or their UUIDs.
    var services: String {
        event.fields.serviceUUIDs.map { event.service($0).printable }.joined(separator: ", ")
    }

    /// Whether `text` occurs in what the table shows of it.
    func matches(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        let wanted = text.lowercased()
        return [addressText, name, says, services, event.address?.kind.rawValue ?? ""]
            .contains { $0.lowercased().contains(wanted) }
    }
}
