import BLECore

/// Adds a peer to the resolving list, with the keys for resolving its private addresses and for generating
/// own private addresses for it.
package struct LEAddDeviceToResolvingList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.38.
    package static let definition = command(
        .leAddDeviceToResolvingList, "Peer_Identity_Address, Peer_IRK, Local_IRK", Self.init
    ) {
        ($0.peer, $0.peerKey, $0.localKey)
    }

    package var peer: HCIAddress
    /// The peer's identity resolving key; zero if it has none.
    package var peerKey: UInt128
    /// The own identity resolving key for that peer; zero if there is none.
    package var localKey: UInt128

    package init(peer: HCIAddress, peerKey: UInt128, localKey: UInt128) {
        (self.peer, self.peerKey, self.localKey) = (peer, peerKey, localKey)
    }
}

/// Removes a peer and its keys from the resolving list.
package struct LERemoveDeviceFromResolvingList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.39.
    package static let definition = command(
        .leRemoveDeviceFromResolvingList, "Peer_Identity_Address", Self.init
    ) {
        $0.peer
    }

    package var peer: HCIAddress

    package init(peer: HCIAddress) { self.peer = peer }
}

/// Removes all peers and their keys from the resolving list.
package struct LEClearResolvingList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.40.
    package static let definition = command(.leClearResolvingList, "", Self.init) { _ in }

    package init() {}
}

/// Reads the capacity of the resolving list.
package struct LEReadResolvingListSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.41.
    package static let definition = command(.leReadResolvingListSize, "", Self.init) { _ in }
    /// The maximum number of devices in the list.
    package typealias ReturnParameters = Returned<UInt8>

    package init() {}
}

/// Reads the private address that a peer uses now.
package struct LEReadPeerResolvableAddress: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.42.
    package static let definition = command(
        .leReadPeerResolvableAddress, "Peer_Identity_Address", Self.init
    ) {
        $0.peer
    }
    package typealias ReturnParameters = ReturnedResolvableAddress

    package var peer: HCIAddress

    package init(peer: HCIAddress) { self.peer = peer }
}

/// Reads the private address that this device uses now for a peer.
package struct LEReadLocalResolvableAddress: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.43.
    package static let definition = command(
        .leReadLocalResolvableAddress, "Peer_Identity_Address", Self.init
    ) {
        $0.peer
    }
    package typealias ReturnParameters = ReturnedResolvableAddress

    package var peer: HCIAddress

    /// Creates a command that reads the address for `peer`.
    package init(peer: HCIAddress) { self.peer = peer }
}

/// A resolvable private address that a controller returned.
package struct ReturnedResolvableAddress: HCIParameters {
    /// The address in 6 octets, without its type, which is always random.
    package static let layout = HCILayout(
        "Peer_Resolvable_Address", { (bare: BareAddress) in Self(address: bare.random) }
    ) {
        BareAddress($0.address)
    }
    package static let packetName = "resolvable private address"

    package var address: DeviceAddress

    package init(address: DeviceAddress) { self.address = address }
}

/// Enables or disables address resolution by the controller.
package struct LESetAddressResolutionEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.44.
    package static let definition = command(
        .leSetAddressResolutionEnable, "Address_Resolution_Enable", Self.init
    ) {
        $0.enable
    }

    /// Whether the controller resolves addresses.
    package var enable: HCIFlag

    package init(enable: HCIFlag) { self.enable = enable }
}

/// Sets how often the controller generates new private addresses.
package struct LESetResolvablePrivateAddressTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.45.
    package static let definition = command(.leSetResolvablePrivateAddressTimeout, "RPA_Timeout", Self.init) {
        $0.seconds
    }

    /// The interval in seconds, 1 to 3,600; 900 after a reset.
    package var seconds: UInt16

    /// Creates a command for an interval in seconds, 1 to 3,600.
    package init(seconds: UInt16) { self.seconds = seconds }
}

/// Sets whether the controller also accepts the identity address of a peer in the resolving list.
package struct LESetPrivacyMode: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.77.
    package static let definition = command(
        .leSetPrivacyMode, "Peer_Identity_Address, Privacy_Mode", Self.init
    ) {
        ($0.peer, $0.mode)
    }

    /// The addresses that the controller accepts from a peer.
    package struct Mode: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The controller accepts only private addresses of this peer.
        package static let network = Mode(rawValue: 0x00)
        /// The controller accepts the peer's identity address as well.
        package static let device = Mode(rawValue: 0x01)
    }

    package var peer: HCIAddress
    /// The addresses that the controller accepts from the peer.
    package var mode: Mode

    package init(peer: HCIAddress, mode: Mode) { (self.peer, self.mode) = (peer, mode) }
}
