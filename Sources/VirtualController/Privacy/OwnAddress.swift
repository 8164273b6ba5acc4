import BLECore
import HCI

extension OwnAddressType {
    /// Whether the controller generates private addresses if the resolving list has a key.
    var isPrivate: Bool { self == .resolvableOrPublic || self == .resolvableOrRandom }

    /// Whether the address that the controller does not generate is the public address.
    var isPublic: Bool { self == .public || self == .resolvableOrPublic }
}

extension VirtualController {
    /// Whether the controller supports LL Privacy.
    var hasPrivacy: Bool { configuration.resolvingListSize > 0 }

    /// Rejects unknown address types and, on a controller without a resolving list, types that require one
    /// (7.8.5).
    func check(_ type: OwnAddressType) throws(HCIStatus) {
        try Self.check(type.rawValue <= OwnAddressType.resolvableOrRandom.rawValue)
        try Self.check(!type.isPrivate || hasPrivacy, .unsupportedFeatureOrParameterValue)
    }

    /// Returns the own address of a type, without privacy. Throws if there is no public address, or before
    /// the host has set a random address (7.8.9, 7.8.11, 7.8.12).
    func ownAddress(_ type: OwnAddressType) throws(HCIStatus) -> DeviceAddress {
        try check(type)
        guard let address = type.isPublic ? configuration.publicAddress : settings.randomAddress else {
            throw .invalidCommandParameters
        }
        return address
    }

    /// Returns the own address of a type towards a peer: a private address that the controller generates or,
    /// without one, the public or random address.
    mutating func ownAddress(
        _ type: OwnAddressType, towards peer: DeviceAddress?, at now: Instant
    ) throws(HCIStatus) -> DeviceAddress {
        try check(type)
        if let address = privateAddress(type, towards: peer, at: now) { return address }
        return try ownAddress(type)
    }

    /// Returns the private address to use towards a peer at `now`, if the type requires one and the list has
    /// a key.
    mutating func privateAddress(
        _ type: OwnAddressType, towards peer: DeviceAddress?, at now: Instant
    ) -> DeviceAddress? {
        guard type.isPrivate, let peer else { return nil }
        return settings.resolvingList.ownAddress(towards: peer, at: now, &random)
    }
}
