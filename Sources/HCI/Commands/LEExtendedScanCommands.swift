import BLECore

/// Sets the scan parameters for each PHY. Rejected while scanning.
package struct LESetExtendedScanParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.64.
    package static let definition = command(
        .leSetExtendedScanParameters, "Own_Address_Type, Scanning_Filter_Policy, Scanning_PHYs", Self.init
    ) {
        ($0.ownAddressType, $0.filterPolicy, $0.phys)
    }

    /// The scan parameters for one PHY.
    package struct Scanning: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("Scan_Type, Scan_Interval, Scan_Window", Self.init) {
            ($0.type, $0.interval, $0.window)
        }
        package static let packetName = "scan parameters"

        /// Whether the scanner requests scan responses.
        package var type: ScanType
        /// The time from the start of one scan window to the start of the next, 2.5 ms to 40.959375 s.
        package var interval: Slots
        /// The duration of a scan window, at most `interval`.
        package var window: Slots

        package init(type: ScanType, interval: Slots, window: Slots) {
            (self.type, self.interval, self.window) = (type, interval, window)
        }
    }

    /// The address that scan requests carry.
    package var ownAddressType: OwnAddressType
    package var filterPolicy: ScanFilterPolicy
    /// The scan parameters for LE 1M, LE Coded or both.
    package var phys: PerPHY<Scanning>

    package init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanFilterPolicy = [], phys: PerPHY<Scanning>
    ) {
        (self.ownAddressType, self.filterPolicy, self.phys) = (ownAddressType, filterPolicy, phys)
    }
}

/// Starts or stops extended scanning.
package struct LESetExtendedScanEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.65.
    package static let definition = command(
        .leSetExtendedScanEnable, "Enable, Filter_Duplicates, Duration, Period", Self.init
    ) {
        ($0.enable, $0.filterDuplicates, $0.duration, $0.period)
    }

    /// The repeated reports that the controller filters out.
    package struct DuplicateFilter: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let off = DuplicateFilter(rawValue: 0x00)
        /// Filters out all repeated reports, across scan periods.
        package static let on = DuplicateFilter(rawValue: 0x01)
        /// Filters out repeated reports within each scan period.
        package static let eachPeriod = DuplicateFilter(rawValue: 0x02)
    }

    package var enable: HCIFlag
    /// The repeated reports to filter out.
    package var filterDuplicates: DuplicateFilter
    /// The duration of the scan; zero for no limit.
    package var duration: Centiseconds
    /// The time from the start of one scan to the start of the next, longer than `duration`; zero to scan
    /// once.
    package var period: ScanPeriod

    package init(
        enable: HCIFlag, filterDuplicates: DuplicateFilter = .off,
        duration: Centiseconds = Centiseconds(rawValue: 0), period: ScanPeriod = ScanPeriod(rawValue: 0)
    ) {
        (self.enable, self.filterDuplicates) = (enable, filterDuplicates)
        (self.duration, self.period) = (duration, period)
    }
}

/// Connects to a legacy or extended advertiser. LE Enhanced Connection Complete follows when the connection
/// is created or the host cancels.
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

    /// The scan and connection parameters for one PHY.
    package struct Initiating: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Scan_Interval, Scan_Window, Connection_Interval_Min", Self.init
        ) {
            ($0.scanInterval, $0.scanWindow, $0.parameters)
        }
        package static let packetName = "initiating parameters"

        /// The time from the start of one scan window to the start of the next, 2.5 ms to 40.959375 s.
        package var scanInterval: Slots
        /// The duration of a scan window, at most `scanInterval`. Both are ignored for LE 2M.
        package var scanWindow: Slots
        /// The requested connection parameters.
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
    /// The advertiser; ignored when the accept list is used.
    package var peer: HCIAddress
    /// The parameters for each PHY; LE 1M or LE Coded must be included.
    package var phys: PerPHY<Initiating>

    package init(
        filterPolicy: InitiatorFilterPolicy = .peer, ownAddressType: OwnAddressType = .public,
        peer: HCIAddress, phys: PerPHY<Initiating>
    ) {
        (self.filterPolicy, self.ownAddressType) = (filterPolicy, ownAddressType)
        (self.peer, self.phys) = (peer, phys)
    }
}
