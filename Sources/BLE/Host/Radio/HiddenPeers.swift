import BLECore

/// The bonded peers that can use private addresses that the controller does not know.
struct HiddenPeers {
    let bonds: BondTable
    /// The address by which the peers know this host.
    let identity: DeviceAddress
    /// The controller's resolving list.
    let list: PeerKeyList

    /// Returns whether the device that uses an address is one of them. The identity behind a private address must have
    /// been looked up.
    func contains(_ peer: DeviceAddress) -> Bool {
        !list.contains(peer) && bonds.known(behind: peer, at: identity)?.isHidden == true
    }
}
