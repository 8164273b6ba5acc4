import BLECore
import HCI

extension OwnAddressType {
    /// Whether the controller makes private addresses when the resolving list has a key.
    var isPrivate: Bool { self == .resolvableOrPublic || self == .resolvableOrRandom }

    /// Whether the address that is not made by the controller is the public one.
    var isPublic: Bool { self == .public || self == .resolvableOrPublic }
}

extension VirtualController {
    /// Whether the controller supports LL Privacy.
    var hasPrivacy: Bool { configuration.resolvingListSize > 0 }

    /// Refuses unknown address types, and those that need a resolving list (7.8.5).
    func check(_ type: OwnAddressType) throws(HCIStatus) {
        try Self.check(type.rawValue <= OwnAddressType.resolvableOrRandom.rawValue)
        try Self.check(!type.isPrivate || hasPrivacy, .unsupportedFeatureOrParameterValue)
    }

    /// The own address of that type, when nothing has to be hidden. Without a public address, or before the
    /// host has set a random one, there is none (7.8.9, 7.8.11, 7.8.12).
    func ownAddress(_ type: OwnAddressType) throws(HCIStatus) -> DeviceAddress {
        try check(type)
        guard let address = type.isPublic ? configuration.publicAddress : settings.randomAddress else {
            throw .invalidCommandParameters
        }
        return address
    }

    /// The own address of that type towards a peer: one that the controller makes, or else the other.
    mutating func ownAddress(
        _ type: OwnAddressType, towards peer: DeviceAddress?, at now: Instant
    ) throws(HCIStatus) -> DeviceAddress {
        try check(type)
        if let address = privateAddress(type, towards: peer, at: now) { return address }
        return try ownAddress(type)
    }

    /// The private address to use towards a peer at `now`, if the type requires one and the list has a key.
    mutating func privateAddress(
        _ type: OwnAddressType, towards peer: DeviceAddress?, at now: Instant
    ) -> DeviceAddress? {
        guard type.isPrivate, let peer else { return nil }
        return settings.resolvingList.ownAddress(towards: peer, at: now, &random)
    }
}
