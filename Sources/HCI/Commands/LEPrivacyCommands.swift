import BLECore

/// Gives the controller the keys to resolve a peer's private addresses and to make own ones for it.
public struct LEAddDeviceToResolvingList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.38.
    public static let definition = command(
        .leAddDeviceToResolvingList, "peer identity, peer IRK, local IRK", Self.init
    ) {
        ($0.peer, $0.peerKey, $0.localKey)
    }

    /// The peer's identity address.
    public var peer: HCIAddress
    /// The peer's identity resolving key; zero when it has none.
    public var peerKey: UInt128
    /// The own identity resolving key for that peer; zero for none.
    public var localKey: UInt128

    /// Adds `peer`.
    public init(peer: HCIAddress, peerKey: UInt128, localKey: UInt128) {
        (self.peer, self.peerKey, self.localKey) = (peer, peerKey, localKey)
    }
}

/// Makes the controller forget a peer's keys.
public struct LERemoveDeviceFromResolvingList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.39.
    public static let definition = command(.leRemoveDeviceFromResolvingList, "peer identity", Self.init) {
        $0.peer
    }

    /// The peer's identity address.
    public var peer: HCIAddress

    /// Removes `peer`.
    public init(peer: HCIAddress) { self.peer = peer }
}

/// Makes the controller forget all peers' keys.
public struct LEClearResolvingList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.40.
    public static let definition = command(.leClearResolvingList, "", Self.init) { _ in }

    /// Empties it.
    public init() {}
}

/// Asks how long the resolving list may grow.
public struct LEReadResolvingListSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.41.
    public static let definition = command(.leReadResolvingListSize, "", Self.init) { _ in }
    /// The most devices in the list.
    public typealias ReturnParameters = Returned<UInt8>

    /// A question for it.
    public init() {}
}

/// Asks which private address a peer uses now.
public struct LEReadPeerResolvableAddress: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.42.
    public static let definition = command(.leReadPeerResolvableAddress, "peer identity", Self.init) {
        $0.peer
    }
    /// The address.
    public typealias ReturnParameters = ReturnedResolvableAddress

    /// The peer's identity address.
    public var peer: HCIAddress

    /// Asks for `peer`.
    public init(peer: HCIAddress) { self.peer = peer }
}

/// Asks which private address this device uses now towards a peer.
public struct LEReadLocalResolvableAddress: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.43.
    public static let definition = command(.leReadLocalResolvableAddress, "peer identity", Self.init) {
        $0.peer
    }
    /// The address.
    public typealias ReturnParameters = ReturnedResolvableAddress

    /// The peer's identity address.
    public var peer: HCIAddress

    /// Asks for the address towards `peer`.
    public init(peer: HCIAddress) { self.peer = peer }
}

/// A resolvable private address that a controller told.
public struct ReturnedResolvableAddress: HCIParameters {
    /// The address.
    public static let layout = HCILayout("address", { (bare: BareAddress) in Self(address: bare.random) }) {
        BareAddress($0.address)
    }
    /// For errors.
    public static let packetName = "resolvable private address"

    /// The address.
    public var address: DeviceAddress

    /// That address.
    public init(address: DeviceAddress) { self.address = address }
}

/// Makes the controller use the resolving list, or not.
public struct LESetAddressResolutionEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.44.
    public static let definition = command(.leSetAddressResolutionEnable, "enable", Self.init) { $0.enable }

    /// Whether to use it.
    public var enable: HCIFlag

    /// Switches it on or off.
    public init(enable: HCIFlag) { self.enable = enable }
}

/// Says how often the controller makes new private addresses.
public struct LESetResolvablePrivateAddressTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.45.
    public static let definition = command(.leSetResolvablePrivateAddressTimeout, "timeout", Self.init) {
        $0.seconds
    }

    /// 1 to 3,600 s; 900 after a reset.
    public var seconds: UInt16

    /// A new address every `seconds`.
    public init(seconds: UInt16) { self.seconds = seconds }
}

/// Says whether a peer of the resolving list may also show its identity address.
public struct LESetPrivacyMode: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.77.
    public static let definition = command(.leSetPrivacyMode, "peer identity, mode", Self.init) {
        ($0.peer, $0.mode)
    }

    /// What is taken from a peer.
    public struct Mode: HCICode {
        /// The octet.
        public let rawValue: UInt8

        /// The mode of that octet.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Private addresses only.
        public static let network = Mode(rawValue: 0x00)
        /// The identity address as well.
        public static let device = Mode(rawValue: 0x01)
    }

    /// The peer's identity address.
    public var peer: HCIAddress
    /// What is taken from it.
    public var mode: Mode

    /// `mode` for `peer`.
    public init(peer: HCIAddress, mode: Mode) { (self.peer, self.mode) = (peer, mode) }
}
