import BLECore

/// Says how to scan on each PHY. Refused while scanning.
package struct LESetExtendedScanParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.64.
    package static let definition = command(
        .leSetExtendedScanParameters, "Own_Address_Type, Scanning_Filter_Policy, Scanning_PHYs", Self.init
    ) {
        ($0.ownAddressType, $0.filterPolicy, $0.phys)
    }

    /// How to scan on one PHY.
    package struct Scanning: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("Scan_Type, Scan_Interval, Scan_Window", Self.init) {
            ($0.type, $0.interval, $0.window)
        }
        package static let packetName = "scan parameters"

        /// Whether to ask for scan responses.
        package var type: ScanType
        /// From the start of one window to that of the next, 2.5 ms to 40.959375 s.
        package var interval: Slots
        /// How long to listen, at most `interval`.
        package var window: Slots

        package init(type: ScanType, interval: Slots, window: Slots) {
            (self.type, self.interval, self.window) = (type, interval, window)
        }
    }

    /// The address that scan requests carry.
    package var ownAddressType: OwnAddressType
    package var filterPolicy: ScanFilterPolicy
    /// How to scan on LE 1M, LE Coded or both.
    package var phys: PerPHY<Scanning>

    package init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanFilterPolicy = [], phys: PerPHY<Scanning>
    ) {
        (self.ownAddressType, self.filterPolicy, self.phys) = (ownAddressType, filterPolicy, phys)
    }
}

/// Starts or stops scanning with the extended family.
package struct LESetExtendedScanEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.65.
    package static let definition = command(
        .leSetExtendedScanEnable, "Enable, Filter_Duplicates, Duration, Period", Self.init
    ) {
        ($0.enable, $0.filterDuplicates, $0.duration, $0.period)
    }

    /// Which repeated reports the controller leaves out.
    package struct DuplicateFilter: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let off = DuplicateFilter(rawValue: 0x00)
        /// All repeated reports, across the scan periods.
        package static let on = DuplicateFilter(rawValue: 0x01)
        /// Filters duplicates and starts afresh in each scan period.
        package static let eachPeriod = DuplicateFilter(rawValue: 0x02)
    }

    package var enable: HCIFlag
    /// Which repeated reports to leave out.
    package var filterDuplicates: DuplicateFilter
    /// How long to scan; zero for ever.
    package var duration: Centiseconds
    /// From one start of scanning to the next, longer than `duration`; zero to scan once.
    package var period: ScanPeriod

    package init(
        enable: HCIFlag, filterDuplicates: DuplicateFilter = .off,
        duration: Centiseconds = Centiseconds(rawValue: 0), period: ScanPeriod = ScanPeriod(rawValue: 0)
    ) {
        (self.enable, self.filterDuplicates) = (enable, filterDuplicates)
        (self.duration, self.period) = (duration, period)
    }
}

/// Connects to an advertiser of either family. LE Enhanced Connection Complete follows when it answers or
/// the host cancels.
package struct LEExtendedCreateConnection: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.66.
    package static let definition = command(
        .leExtendedCreateConnection,
        "Initiator_Filter_Policy, Own_Address_Type, Peer_Address, Initiating_PHYs", Self.init
    ) {
        ($0.filterPolicy, $0.ownAddressType, $0.peer, $0.phys)
    }
    /// LE Enhanced Connection Complete follows.
    package static let answer = HCIAnswer.status

    /// How to connect on one PHY.
    package struct Initiating: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Scan_Interval, Scan_Window, Connection_Interval_Min", Self.init
        ) {
            ($0.scanInterval, $0.scanWindow, $0.parameters)
        }
        package static let packetName = "initiating parameters"

        /// From the start of one window to that of the next, 2.5 ms to 40.959375 s.
        package var scanInterval: Slots
        /// How long to listen, at most `scanInterval`. Neither counts for LE 2M.
        package var scanWindow: Slots
        /// What the connection should be like.
        package var parameters: LEConnectionParameters

        package init(scanInterval: Slots, scanWindow: Slots, parameters: LEConnectionParameters) {
            (self.scanInterval, self.scanWindow) = (scanInterval, scanWindow)
            self.parameters = parameters
        }
    }

    /// Whether to use the filter accept list.
    package var filterPolicy: InitiatorFilterPolicy
    /// The address that the connection request carries.
    package var ownAddressType: OwnAddressType
    /// The advertiser; not used with the accept list.
    package var peer: HCIAddress
    /// How to connect on each PHY; one of LE 1M and LE Coded must be there.
    package var phys: PerPHY<Initiating>

    package init(
        filterPolicy: InitiatorFilterPolicy = .peer, ownAddressType: OwnAddressType = .public,
        peer: HCIAddress, phys: PerPHY<Initiating>
    ) {
        (self.filterPolicy, self.ownAddressType) = (filterPolicy, ownAddressType)
        (self.peer, self.phys) = (peer, phys)
    }
}
