import BLECore

/// Adds an advertising set to the periodic advertiser list. Rejected while a sync is being created.
package struct LEAddDeviceToPeriodicAdvertiserList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.70.
    package static let definition = command(
        .leAddDeviceToPeriodicAdvertiserList, "Advertiser_Address", Self.init
    ) {
        $0.advertiser
    }

    package var advertiser: PeriodicAdvertiser

    package init(advertiser: PeriodicAdvertiser) { self.advertiser = advertiser }
}

/// Removes an advertising set from the periodic advertiser list. Rejected while a sync is being created.
package struct LERemoveDeviceFromPeriodicAdvertiserList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.71.
    package static let definition = command(
        .leRemoveDeviceFromPeriodicAdvertiserList, "Advertiser_Address", Self.init
    ) {
        $0.advertiser
    }

    package var advertiser: PeriodicAdvertiser

    package init(advertiser: PeriodicAdvertiser) { self.advertiser = advertiser }
}

/// Clears the periodic advertiser list. Rejected while a sync is being created.
package struct LEClearPeriodicAdvertiserList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.72.
    package static let definition = command(.leClearPeriodicAdvertiserList, "", Self.init) { _ in }

    package init() {}
}

/// Reads the capacity of the periodic advertiser list.
package struct LEReadPeriodicAdvertiserListSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.73.
    package static let definition = command(.leReadPeriodicAdvertiserListSize, "", Self.init) { _ in }
    /// The maximum number of advertising sets in the list, at least 1.
    package typealias ReturnParameters = Returned<UInt8>

    package init() {}
}
