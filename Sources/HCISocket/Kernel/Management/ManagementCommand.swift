import BLECore

/// A command to the management socket, with its parameters. A value of the right form is always taken: whether it
/// makes sense is for the kernel to say, with a status.
package enum ManagementCommand: Hashable, Sendable {
    /// Lists the adapters. About no adapter.
    case readIndexList
    /// Reads address, settings and name of an adapter.
    case readInformation
    /// Turns the radio of the adapter on or off.
    case setPowered(Bool)
    /// Whether pairing makes bonds; while it does not, the kernel refuses peers that want one.
    case setBondable(Bool)
    /// Switches Secure Simple Pairing, without which dual-mode adapters have no LE Secure Connections.
    case setSecureSimplePairing(Bool)
    /// Turns LE of the adapter on or off.
    case setLowEnergy(Bool)
    /// Replaces all long term keys that the kernel has of an adapter.
    case loadLongTermKeys([Management.LongTermKey])
    /// Lists the devices that there are links to.
    case getConnections
    /// How the user is reached when devices pair: an IO capability (Core Specification 5.4, Vol 3, Part H, 3.5.1).
    case setIOCapability(UInt8)
    /// Pairs, and connects before where there is no link. It is answered when the pairing has ended.
    case pairDevice(DeviceAddress, ioCapability: UInt8)
    /// Ends what Pair Device began.
    case cancelPairDevice(DeviceAddress)
    /// Forgets all keys of a device, and ends a pairing with it that is under way.
    case unpairDevice(DeviceAddress, disconnects: Bool)
    /// The user says yes.
    case userConfirmationReply(DeviceAddress)
    /// The user says no.
    case userConfirmationNegativeReply(DeviceAddress)
    /// The user has typed a passkey.
    case userPasskeyReply(DeviceAddress, UInt32)
    /// The user has typed none.
    case userPasskeyNegativeReply(DeviceAddress)
    /// Switches LE Secure Connections.
    case setSecureConnections(Management.SecureConnections)
    /// Switches resolvable private addresses, and gives the key that they are made with. Only while the adapter is
    /// off.
    case setPrivacy(Management.Privacy, identityKey: UInt128)
    /// Replaces all identity keys that the kernel has of peers, and from then on lets pairing ask for theirs.
    case loadIdentityKeys([Management.IdentityKey])
}

extension Management {
    package struct Opcode: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt16
        /// The command with that number.
        package init(rawValue: UInt16) { self.rawValue = rawValue }
    }

    /// What Set Secure Connections sets.
    package enum SecureConnections: UInt8, Hashable, Sendable, CaseIterable {
        /// The adapter pairs by LE legacy pairing only.
        case off = 0
        /// Where the peer has them too.
        case on = 1
        /// Pairing with peers that have not got them is refused.
        case only = 2
    }

    /// What Set Privacy sets.
    package enum Privacy: UInt8, Hashable, Sendable, CaseIterable {
        /// The identity address is used.
        case off = 0
        /// A resolvable private address is.
        case on = 1
        /// The same, but for the identity address while the adapter is bondable and discoverable.
        case limited = 2
    }
}

extension ManagementCommand {
    /// How long the kernel may take: powering a USB adapter on can take seconds. Pairing has 30 s of its own (Core
    /// Specification 5.4, Vol 3, Part H, 3.4), after 20 s for the connection.
    var timeLimit: Duration { isLasting ? .seconds(60) : .seconds(10) }

    /// Whether the kernel takes other commands before it has answered this one.
    var isLasting: Bool {
        if case .pairDevice = self { true } else { false }
    }

    /// The device that the answer names too; nil for commands that are about none.
    var peer: DeviceAddress? {
        switch self {
        case .pairDevice(let peer, _), .unpairDevice(let peer, _), .userPasskeyReply(let peer, _): peer
        case .cancelPairDevice(let peer), .userConfirmationReply(let peer),
            .userConfirmationNegativeReply(let peer), .userPasskeyNegativeReply(let peer):
            peer
        default: nil
        }
    }
}
