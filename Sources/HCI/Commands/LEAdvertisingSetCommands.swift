import BLECore

/// Asks how many octets the data of an advertising set may have.
public struct LEReadMaximumAdvertisingDataLength: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.57.
    public static let definition = command(.leReadMaximumAdvertisingDataLength, "", Self.init) { _ in }
    /// Octets, 31 to 1,650.
    public typealias ReturnParameters = Returned<UInt16>

    /// A question for it.
    public init() {}
}

/// Asks how many advertising sets there can be at once. The answer may change while sets exist.
public struct LEReadNumberOfSupportedAdvertisingSets: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.58.
    public static let definition = command(.leReadNumberOfSupportedAdvertisingSets, "", Self.init) { _ in }
    /// How many, 1 to 240.
    public typealias ReturnParameters = Returned<UInt8>

    /// A question for it.
    public init() {}
}

/// Removes an advertising set. Refused while it is sent.
public struct LERemoveAdvertisingSet: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.59.
    public static let definition = command(.leRemoveAdvertisingSet, "advertising handle", Self.init) {
        $0.set
    }

    /// The set.
    public var set: AdvertisingHandle

    /// Removes `set`.
    public init(set: AdvertisingHandle) { self.set = set }
}

/// Removes all advertising sets. Refused while one is sent.
public struct LEClearAdvertisingSets: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.60.
    public static let definition = command(.leClearAdvertisingSets, "", Self.init) { _ in }

    /// Removes them.
    public init() {}
}
