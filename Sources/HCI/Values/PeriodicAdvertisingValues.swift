import BLECore

/// The number that a controller assigns to a periodic train with which it is synchronized, 0x0000 to 0x0eff.
package struct SyncHandle: HCICode {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// The packets of a periodic train with which a controller does not synchronize, by their constant tone
/// extension (Core Specification 5.4, Vol 4, Part E, 7.8.67).
package struct ExcludedToneExtensions: OptionSet, HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Packets with an AoA constant tone extension.
    package static let angleOfArrival = ExcludedToneExtensions(rawValue: 1 << 0)
    /// Packets with an AoD extension of 1 µs slots.
    package static let angleOfDeparture1us = ExcludedToneExtensions(rawValue: 1 << 1)
    /// Packets with an AoD extension of 2 µs slots.
    package static let angleOfDeparture2us = ExcludedToneExtensions(rawValue: 1 << 2)
    /// Packets with an extension of type 3, which is reserved.
    package static let type3 = ExcludedToneExtensions(rawValue: 1 << 3)
    /// The packets without a constant tone extension.
    package static let none = ExcludedToneExtensions(rawValue: 1 << 4)
}

/// An advertising set of another device in the periodic advertiser list (Core Specification 5.4, Vol 4, Part
/// E, 7.8.70).
package struct PeriodicAdvertiser: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout("Advertiser_Address, Advertising_SID", Self.init) {
        ($0.address, $0.sid)
    }
    package static let packetName = "periodic advertiser"

    /// The advertiser: its public or random address, or its identity address.
    package var address: HCIAddress
    /// The advertising set identifier (SID), 0x00 to 0x0f.
    package var sid: UInt8

    /// Creates an entry for set `sid` of the advertiser `address`.
    package init(address: HCIAddress, sid: UInt8) { (self.address, self.sid) = (address, sid) }
}

/// The handling of a train that a connected peer transfers (Core Specification 5.4, Vol 4, Part E, 7.8.91).
package struct SyncTransferParameters: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout("Mode, Skip, Sync_Timeout, CTE_Type", Self.init) {
        ($0.mode, $0.skip, $0.timeout, $0.excluded)
    }
    package static let packetName = "sync transfer parameters"

    /// Whether to synchronize with the train, and what to report.
    package struct Mode: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Does not synchronize, and does not report the transfer.
        package static let ignore = Mode(rawValue: 0x00)
        /// Synchronizes without reports to the host.
        package static let withoutReports = Mode(rawValue: 0x01)
        /// Synchronizes and reports to the host.
        package static let withReports = Mode(rawValue: 0x02)
        /// Synchronizes and reports to the host, the same data only once.
        package static let filteringDuplicates = Mode(rawValue: 0x03)
    }

    /// Whether to synchronize, and whether to report.
    package var mode: Mode
    /// The number of packets that the controller can skip after each received packet, 0 to 499.
    package var skip: UInt16
    /// The time without a received packet after which the train is lost, 100 ms to 163.84 s (0x000a to
    /// 0x4000).
    package var timeout: Centiseconds
    /// The packets with which the controller does not synchronize.
    package var excluded: ExcludedToneExtensions

    package init(mode: Mode, skip: UInt16 = 0, timeout: Centiseconds, excluded: ExcludedToneExtensions = []) {
        (self.mode, self.skip, self.timeout, self.excluded) = (mode, skip, timeout, excluded)
    }
}
