import BLEAdvertising
import BLECore
import HCI

/// The packets that were received of each device, so that an advertisement and its scan response are reported
/// as one, and the advertising sets of one address separately. Bounded: when there are more devices than
/// `limit`, or their payloads together take more octets than `octetLimit`, the least recently received ones
/// are evicted.
struct DeviceTable: Sendable {
    fileprivate struct Device: Sendable {
        var advertisement: [UInt8] = []
        var scanResponse: [UInt8] = []
        /// The data of both, as they are reported.
        var fields: [UInt8] = []
        /// A hash of `fields`.
        var fingerprint = 0
        var isConnectable = false

        /// The octets that the entry stores.
        var octets: Int { advertisement.count + scanResponse.count + fields.count }
    }

    /// A packet with what is known of its sender.
    struct Sighting {
        var advertisement: Advertisement
        var sender: Sender
        /// A hash of the reported fields.
        var fingerprint: Int
    }

    /// The default maximum number of remembered devices.
    static let limit = 4096
    /// The maximum number of remembered devices.
    let limit: Int
    private let octetLimit: Int
    private var devices: RecencyTable<Sender, Device>
    private var octets = 0
    private var reports = 0
    /// The number of devices that were evicted.
    private var evictions = 0

    /// Creates a table of at most `limit` devices, at least 1, by default with 1 KiB for each.
    init(limit: Int = Self.limit, octetLimit: Int? = nil) {
        self.limit = min(max(limit, 1), Int(Int32.max))
        devices = RecencyTable(limit: self.limit)
        self.octetLimit = octetLimit ?? self.limit << 10
    }

    var statistics: ScanStatistics {
        ScanStatistics(reports: reports, devices: devices.count, evictions: evictions)
    }

    /// Adds a report, and returns it with the sender's other fields. `identity` is the identity behind the
    /// report's address, if it is known, so that the sender stays the same when the address changes.
    mutating func merge(
        _ report: AdvertisingReport, of identity: DeviceAddress? = nil, at now: Instant
    ) -> Sighting {
        reports += 1
        guard let address = report.address else {
            return Sighting(
                advertisement: Advertisement(
                    report: report, identity: nil, fields: AdvertisingData(report.data),
                    isConnectable: report.type.contains(.connectable), received: now),
                sender: Sender(anonymous: report.data, set: report.sid),
                fingerprint: report.data.hashValue)
        }
        let sender = sender(of: report, identity ?? address)
        let ((fields, fingerprint, isConnectable, growth), evicted) = devices.use(sender, first: Device()) {
            device in
            let before = device.octets
            device.take(report)
            let growth = device.octets - before
            return (device.fields, device.fingerprint, device.isConnectable, growth)
        }
        octets += growth
        if let evicted { forget(evicted) }
        while octets > octetLimit, devices.count > 1, let oldest = devices.removeOldest() { forget(oldest) }
        return Sighting(
            advertisement: Advertisement(
                report: report, identity: identity, fields: AdvertisingData(fields),
                isConnectable: isConnectable, received: now),
            sender: sender, fingerprint: fingerprint)
    }

    /// Returns the sender of a report. The scan response of a set need not name the set (Core Specification
    /// 5.4, Vol 6, Part B, 2.3.2.3): then it belongs to the only known set of the address, if there is
    /// exactly one.
    private func sender(of report: AdvertisingReport, _ address: DeviceAddress) -> Sender {
        let plain = Sender(address, of: report)
        guard report.sid == nil, report.type.isDisjoint(with: .legacy), report.type.contains(.scanResponse)
        else { return plain }
        let known = (0...0x0f).map { (sid: UInt8) in Sender(address, set: sid) }.filter {
            devices[peek: $0] != nil
        }
        return known.count == 1 ? known[0] : plain
    }

    /// Returns a name that a device advertises, if it does and is remembered.
    func name(of address: DeviceAddress) -> String? {
        for sender in Sender.all(of: address) {
            let fields = devices[peek: sender].map { AdvertisingData($0.fields) }
            if let name = fields?.localName?.text { return name }
        }
        return nil
    }

    private mutating func forget(_ device: Device) {
        evictions += 1
        octets -= device.octets
    }
}

extension DeviceTable.Device {
    /// Stores the payload of a report in place of the last one of its kind.
    fileprivate mutating func take(_ report: AdvertisingReport) {
        if report.type.contains(.scanResponse) {
            if scanResponse == report.data, !fields.isEmpty { return }
            scanResponse = report.data
        } else {
            isConnectable = report.type.contains(.connectable)
            // A packet that is not scannable is of another kind: the scan response to an earlier packet does
            // not belong to it.
            let keeps = report.type.contains(.scannable) || scanResponse.isEmpty
            if keeps, advertisement == report.data, !fields.isEmpty { return }
            advertisement = report.data
            if !keeps { scanResponse = [] }
        }
        fields = scanResponse.isEmpty ? advertisement : Self.significant(advertisement) + scanResponse
        fingerprint = fields.hashValue
    }

    /// The payload without the zeros that end it early, so that more can follow.
    private static func significant(_ payload: [UInt8]) -> ArraySlice<UInt8> {
        var end = 0
        while end < payload.count, payload[end] != 0 { end += 1 + Int(payload[end]) }
        return payload[..<min(end, payload.count)]
    }
}
