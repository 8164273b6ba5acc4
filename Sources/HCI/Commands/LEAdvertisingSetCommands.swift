import BLECore

/// Reads the maximum length of the data of an advertising set.
package struct LEReadMaximumAdvertisingDataLength: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.57.
    package static let definition = command(.leReadMaximumAdvertisingDataLength, "", Self.init) { _ in }
    /// The maximum length in octets, 31 to 1,650.
    package typealias ReturnParameters = Returned<UInt16>

    package init() {}
}

/// Reads the number of advertising sets that the controller supports at once. It can change while sets exist.
package struct LEReadNumberOfSupportedAdvertisingSets: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.58.
    package static let definition = command(.leReadNumberOfSupportedAdvertisingSets, "", Self.init) { _ in }
    /// The number of sets, 1 to 240.
    package typealias ReturnParameters = Returned<UInt8>

    package init() {}
}

/// Removes an advertising set. Rejected while the set is enabled.
package struct LERemoveAdvertisingSet: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.59.
    package static let definition = command(.leRemoveAdvertisingSet, "Advertising_Handle", Self.init) {
        $0.set
    }

    package var set: AdvertisingHandle

    package init(set: AdvertisingHandle) { self.set = set }
}

/// Removes all advertising sets. Rejected while a set is enabled.
package struct LEClearAdvertisingSets: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.60.
    package static let definition = command(.leClearAdvertisingSets, "", Self.init) { _ in }

    package init() {}
}
