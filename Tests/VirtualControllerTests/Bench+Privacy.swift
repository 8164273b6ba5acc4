import BLECore
import HCI
import Testing
import VirtualController

/// Helpers for tests of privacy. Each hexadecimal digit of a controller's key is its number.
extension Bench {
    static func key(_ id: ID) -> UInt128 { UInt128(id.number) * 0x1111_1111_1111_1111_1111_1111_1111_1111 }

    /// Adds `peer` to the resolving list of `id`, by default with the keys of both controllers.
    mutating func introduce(
        _ peer: ID, to id: ID, peerKey: UInt128? = nil, localKey: UInt128? = nil,
        mode: LESetPrivacyMode.Mode = .network
    ) {
        let identity = HCIAddress(address(peer))
        perform(
            LEAddDeviceToResolvingList(
                peer: identity, peerKey: peerKey ?? Self.key(peer), localKey: localKey ?? Self.key(id)),
            on: id)
        if mode != .network { perform(LESetPrivacyMode(peer: identity, mode: mode), on: id) }
    }

    mutating func resolve(on id: ID, _ enable: HCIFlag = true) {
        perform(LESetAddressResolutionEnable(enable: enable), on: id)
    }

    /// Advertises with a private address that is generated for `peer`.
    mutating func advertisePrivately(
        on id: ID, towards peer: ID, _ properties: SetParameters.Properties = .connectable,
        data: [UInt8] = [], filter: AdvertisingFilterPolicy = []
    ) {
        var parameters = Self.parameters(0, properties, target: address(peer))
        parameters.ownAddressType = .resolvableOrRandom
        parameters.filterPolicy = filter
        make(parameters, on: id, data: data)
        enable(on: id)
    }

    func resolved(_ id: ID) -> HCIAddress { HCIAddress(address(id).value, type: .randomIdentity) }
}
