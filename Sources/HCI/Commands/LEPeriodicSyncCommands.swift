import BLECore

/// Synchronizes with a periodic train when a scan receives its announcement, so the controller must be
/// scanning meanwhile. LE Periodic Advertising Sync Established follows when the first packet is received or
/// the host cancels.
package struct LEPeriodicAdvertisingCreateSync: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.67.
    package static let definition = command(
        .lePeriodicAdvertisingCreateSync,
        "Options, Advertising_SID, Advertiser_Address, Skip, Sync_Timeout, Sync_CTE_Type", Self.init
    ) {
        ($0.options, $0.sid, $0.advertiser, $0.skip, $0.timeout, $0.excluded)
    }
    /// LE Periodic Advertising Sync Established follows.
    package static let answer = HCIAnswer.status

    /// How the controller selects the advertiser, and what it reports.
    package struct Options: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Synchronizes with any advertiser in the periodic advertiser list; the command's SID and address
        /// are ignored.
        package static let advertiserList = Options(rawValue: 1 << 0)
        /// Sends no reports until LE Set Periodic Advertising Receive Enable.
        package static let withoutReports = Options(rawValue: 1 << 1)
        /// Reports the same data only once.
        package static let filterDuplicates = Options(rawValue: 1 << 2)
    }

    /// How the controller selects the advertiser, and what it reports.
    package var options: Options
    /// The number of the advertising set, 0x00 to 0x0f.
    package var sid: UInt8
    /// The advertiser: its public or random address, or its identity address.
    package var advertiser: HCIAddress
    /// The number of packets that the controller can skip after each received packet, 0 to 499.
    package var skip: UInt16
    /// The time without a received packet after which the train is lost, 100 ms to 163.84 s (0x000a to
    /// 0x4000).
    package var timeout: Centiseconds
    /// The packets with which the controller does not synchronize.
    package var excluded: ExcludedToneExtensions

    /// Creates a command that synchronizes with set `sid` of `advertiser`.
    package init(
        options: Options = [], sid: UInt8, advertiser: HCIAddress, skip: UInt16 = 0, timeout: Centiseconds,
        excluded: ExcludedToneExtensions = []
    ) {
        (self.options, self.sid, self.advertiser) = (options, sid, advertiser)
        (self.skip, self.timeout, self.excluded) = (skip, timeout, excluded)
    }
}

/// Cancels the synchronization with a train before it is established. LE Periodic Advertising Sync
/// Established follows, with Operation Cancelled by Host.
package struct LEPeriodicAdvertisingCreateSyncCancel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.68.
    package static let definition = command(.lePeriodicAdvertisingCreateSyncCancel, "", Self.init) { _ in }

    package init() {}
}

/// Ends the synchronization with a train. No event follows.
package struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.69.
    package static let definition = command(.lePeriodicAdvertisingTerminateSync, "Sync_Handle", Self.init) {
        $0.sync
    }

    package var sync: SyncHandle

    /// Creates a command that stops receiving the train `sync`.
    package init(sync: SyncHandle) { self.sync = sync }
}

/// Enables or disables the reports of a train.
package struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.88.
    package static let definition = command(
        .leSetPeriodicAdvertisingReceiveEnable, "Sync_Handle, Enable", Self.init
    ) {
        ($0.sync, $0.enable)
    }

    /// Whether the controller reports the packets of a train, and whether it filters out repeated data.
    package struct Enable: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The controller reports the packets of the train.
        package static let reports = Enable(rawValue: 1 << 0)
        /// The controller reports the same data only once; for trains that identify their data (ADI).
        package static let filterDuplicates = Enable(rawValue: 1 << 1)
    }

    package var sync: SyncHandle
    package var enable: Enable

    package init(sync: SyncHandle, enable: Enable) { (self.sync, self.enable) = (sync, enable) }
}
