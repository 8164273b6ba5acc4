import BLEAdvertising
import BLECore
import HCI

/// The sender whose packets belong together: one advertising set of a device. Legacy advertising has no
/// number of its set, but packets that are not scannable (a beacon) are not of the same set as scannable ones
/// (a service beside it), and beacons with data of different companies and services are different sets. An
/// anonymous advertiser is distinguished from others only by its data.
struct Sender: Hashable, Sendable {
    /// The address, its type, and the set's number.
    private let source: UInt64
    /// A hash of an anonymous advertiser's data; for a beacon in legacy packets, a hash of the companies and
    /// services in its data.
    private let content: UInt64

    private enum Pseudoset {
        static let legacyScannable: UInt64 = 0xff
        static let legacyOther: UInt64 = 0xfd
        static let unnumbered: UInt64 = 0xfe
    }

    /// Creates the sender for the set `sid` of a device.
    init(_ address: DeviceAddress, set sid: UInt8) { self.init(address, UInt64(sid)) }

    /// Returns the senders under which a device can be known, except beacons in legacy packets.
    static func all(of address: DeviceAddress) -> [Sender] {
        let sets = [Pseudoset.legacyScannable, Pseudoset.legacyOther, Pseudoset.unnumbered] + Array(0...0x0f)
        return sets.map { Sender(address, $0) }
    }

    /// Creates the sender of a report from a device.
    init(_ address: DeviceAddress, of report: AdvertisingReport) {
        let pseudoset =
            switch (report.type.contains(.legacy), report.type.contains(.scannable)) {
            case (true, true): Pseudoset.legacyScannable
            case (true, false): Pseudoset.legacyOther
            case (false, _): Pseudoset.unnumbered
            }
        let isBeacon = report.sid == nil && pseudoset == Pseudoset.legacyOther
        self.init(
            address, report.sid.map(UInt64.init) ?? pseudoset,
            content: isBeacon ? Self.subjects(of: report.data) : 0)
    }

    /// Returns a hash of the companies and services that have data, whatever the data contain.
    private static func subjects(of data: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0
        for structure in AdvertisingData(data).structures {
            guard structure.type == .manufacturerSpecificData || structure.type == .serviceData16,
                structure.content.count >= 2
            else { continue }
            let start = structure.content.lowerBound
            let subject = [structure.type.rawValue, data[start], data[start + 1]]
            hash = subject.reduce(hash) { ($0 << 8 | $0 >> 56) ^ UInt64($1) }
        }
        return hash
    }

    /// Creates the key under which the advertiser of a packet is known.
    init(_ advertisement: Advertisement) {
        let report = advertisement.report
        if let address = report.address {
            self.init(address, of: report)
        } else {
            self.init(anonymous: report.data, set: report.sid)
        }
    }

    private init(_ address: DeviceAddress, _ set: UInt64, content: UInt64 = 0) {
        source = address.value | UInt64(address.type.rawValue) << 48 | set << 56
        self.content = content
    }

    /// Creates the sender of an anonymous packet.
    init(anonymous data: [UInt8], set sid: UInt8?) {
        source = 0xff << 48 | (sid.map(UInt64.init) ?? Pseudoset.unnumbered) << 56
        content = UInt64(truncatingIfNeeded: data.hashValue)
    }
}
