import BLECore

/// The addresses by which two devices made a link. Pairing binds its keys to them (Core Specification 5.4, Vol 3, Part
/// H, 2.2.3 and 2.2.7), whatever identities they stand for.
struct AddressesOnAir: Hashable, Sendable {
    let own: DeviceAddress
    let peer: DeviceAddress
}
