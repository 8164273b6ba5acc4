import BLECore

/// Sets the scan parameters. Rejected while scanning.
package struct LESetScanParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.10.
    package static let definition = command(
        .leSetScanParameters,
        "LE_Scan_Type, LE_Scan_Interval, LE_Scan_Window, Own_Address_Type, Scanning_Filter_Policy", Self.init
    ) {
        ($0.type, $0.interval, $0.window, $0.ownAddressType, $0.filterPolicy)
    }

    /// Whether the scanner requests scan responses.
    package var type: ScanType
    /// The time from the start of one scan window to the start of the next, 2.5 ms to 10.24 s (0x0004 to
    /// 0x4000).
    package var interval: Slots
    /// The duration of a scan window, at most `interval`.
    package var window: Slots
    /// The address that scan requests carry.
    package var ownAddressType: OwnAddressType
    package var filterPolicy: ScanFilterPolicy

    package init(
        type: ScanType, interval: Slots, window: Slots, ownAddressType: OwnAddressType = .public,
        filterPolicy: ScanFilterPolicy = []
    ) {
        (self.type, self.interval, self.window) = (type, interval, window)
        (self.ownAddressType, self.filterPolicy) = (ownAddressType, filterPolicy)
    }
}

package struct LESetScanEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.11.
    package static let definition = command(
        .leSetScanEnable, "LE_Scan_Enable, Filter_Duplicates", Self.init
    ) {
        ($0.enable, $0.filterDuplicates)
    }

    package var enable: HCIFlag
    /// Whether the controller filters out repeated reports.
    package var filterDuplicates: HCIFlag

    package init(enable: HCIFlag, filterDuplicates: HCIFlag = false) {
        (self.enable, self.filterDuplicates) = (enable, filterDuplicates)
    }
}
