import BLECore

/// A command to the management socket, with its parameters. Any value of the right form can be encoded; the
/// kernel checks whether it is valid and returns a status.
package enum ManagementCommand: Hashable, Sendable {
    /// Lists the adapters. Does not concern a specific adapter.
    case readIndexList
    /// Reads the address, settings and name of an adapter.
    case readInformation
    /// Turns the radio of the adapter on or off.
    case setPowered(Bool)
    /// Sets whether pairing creates bonds. If it does not, the kernel rejects peers that request one.
    case setBondable(Bool)
    /// Enables or disables Secure Simple Pairing, which LE Secure Connections require on dual-mode adapters.
    case setSecureSimplePairing(Bool)
    /// Turns LE of the adapter on or off.
    case setLowEnergy(Bool)
    /// Replaces all long term keys that the kernel has for an adapter.
    case loadLongTermKeys([Management.LongTermKey])
    /// Lists the devices with links.
    case getConnections
    /// Sets how the user participates in pairing: an IO capability (Core Specification 5.4, Vol 3, Part H,
    /// 3.5.1).
    case setIOCapability(UInt8)
    /// Pairs with a device, and connects first if there is no link. The kernel responds when the pairing has
    /// ended.
    case pairDevice(DeviceAddress, ioCapability: UInt8)
    /// Cancels the pairing with this device.
    case cancelPairDevice(DeviceAddress)
    /// Removes all keys of a device, and ends a pairing with it that is in progress.
    case unpairDevice(DeviceAddress, disconnects: Bool)
    /// Reports that the user accepts the numeric comparison.
    case userConfirmationReply(DeviceAddress)
    /// Reports that the user rejects the numeric comparison.
    case userConfirmationNegativeReply(DeviceAddress)
    /// Reports the passkey that the user has entered.
    case userPasskeyReply(DeviceAddress, UInt32)
    /// Reports that the user has not entered a passkey.
    case userPasskeyNegativeReply(DeviceAddress)
    /// Enables or disables LE Secure Connections.
    case setSecureConnections(Management.SecureConnections)
    /// Enables or disables resolvable private addresses, and sets the key that generates them. Only while the
    /// adapter is off.
    case setPrivacy(Management.Privacy, identityKey: UInt128)
    /// Replaces all identity keys of peers that the kernel has, and from then on lets pairing request them.
    case loadIdentityKeys([Management.IdentityKey])
}

extension Management {
    package struct Opcode: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
    }

    /// The values of Set Secure Connections.
    package enum SecureConnections: UInt8, Hashable, Sendable, CaseIterable {
        /// The adapter pairs by LE legacy pairing only.
        case off = 0
        /// The adapter uses LE Secure Connections if the peer supports them.
        case on = 1
        /// The adapter rejects pairing with peers that do not support LE Secure Connections.
        case only = 2
    }

    /// The values of Set Privacy.
    package enum Privacy: UInt8, Hashable, Sendable, CaseIterable {
        /// The adapter uses its identity address.
        case off = 0
        /// The adapter uses resolvable private addresses.
        case on = 1
        /// As `on`, but with the identity address while the adapter is bondable and discoverable.
        case limited = 2
    }
}

extension ManagementCommand {
    /// The time limit for the kernel's response. Powering on a USB adapter can take seconds. Pairing has its
    /// own limit of 30 s (Core Specification 5.4, Vol 3, Part H, 3.4), after 20 s for the connection.
    var timeLimit: Duration { isLasting ? .seconds(60) : .seconds(10) }

    /// Whether the kernel accepts other commands before it has responded to this one.
    var isLasting: Bool {
        if case .pairDevice = self { true } else { false }
    }

    /// The device that the response also contains; nil for commands that do not concern a device.
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

extension ManagementCommand {
    package var opcode: Management.Opcode {
        let code: UInt16 =
            switch self {
            case .readIndexList: 0x0003
            case .readInformation: 0x0004
            case .setPowered: 0x0005
            case .setBondable: 0x0009
            case .setSecureSimplePairing: 0x000b
            case .setLowEnergy: 0x000d
            case .loadLongTermKeys: 0x0013
            case .getConnections: 0x0015
            case .setIOCapability: 0x0018
            case .pairDevice: 0x0019
            case .cancelPairDevice: 0x001a
            case .unpairDevice: 0x001b
            case .userConfirmationReply: 0x001c
            case .userConfirmationNegativeReply: 0x001d
            case .userPasskeyReply: 0x001e
            case .userPasskeyNegativeReply: 0x001f
            case .setSecureConnections: 0x002d
            case .setPrivacy: 0x002f
            case .loadIdentityKeys: 0x0030
            }
        return Management.Opcode(rawValue: code)
    }

    /// Returns the command as a packet for the socket.
    package func packet(for index: UInt16) -> Management.Packet {
        Management.Packet(code: opcode.rawValue, index: index, parameters: encoded)
    }

    /// Decodes a command; nil if its code is not one of these.
    package init?(_ packet: Management.Packet) throws(DecodeError) {
        var reader = ByteReader(packet.parameters.span, of: "management command 0x\(packet.code.hex)")
        guard let command = try Self.decode(packet.code, &reader) else { return nil }
        try reader.end()
        self = command
    }

    private static func decode(
        _ code: UInt16, _ reader: inout ByteReader
    ) throws(DecodeError) -> ManagementCommand? {
        switch code {
        case 0x0003: .readIndexList
        case 0x0004: .readInformation
        case 0x0005: .setPowered(try reader.isOn())
        case 0x0009: .setBondable(try reader.isOn())
        case 0x000b: .setSecureSimplePairing(try reader.isOn())
        case 0x000d: .setLowEnergy(try reader.isOn())
        case 0x0013: .loadLongTermKeys(try reader.list())
        case 0x0015: .getConnections
        case 0x0018: .setIOCapability(try reader.u8("IO capability"))
        case 0x0019: .pairDevice(try reader.lowEnergyPeer(), ioCapability: try reader.u8("IO capability"))
        case 0x001a: .cancelPairDevice(try reader.lowEnergyPeer())
        case 0x001b: .unpairDevice(try reader.lowEnergyPeer(), disconnects: try reader.isOn())
        case 0x001c: .userConfirmationReply(try reader.lowEnergyPeer())
        case 0x001d: .userConfirmationNegativeReply(try reader.lowEnergyPeer())
        case 0x001e: .userPasskeyReply(try reader.lowEnergyPeer(), try reader.u32("passkey"))
        case 0x001f: .userPasskeyNegativeReply(try reader.lowEnergyPeer())
        case 0x002d: .setSecureConnections(try reader.choice("secure connections"))
        case 0x002f: .setPrivacy(try reader.choice("privacy"), identityKey: try reader.u128("identity key"))
        case 0x0030: .loadIdentityKeys(try reader.list())
        default: nil
        }
    }
}

extension ManagementCommand: PacketEncodable {
    package var encodedCount: Int {
        switch self {
        case .readIndexList, .readInformation, .getConnections: 0
        case .setPowered, .setBondable, .setSecureSimplePairing, .setLowEnergy, .setIOCapability,
            .setSecureConnections:
            1
        case .cancelPairDevice, .userConfirmationReply, .userConfirmationNegativeReply,
            .userPasskeyNegativeReply:
            7
        case .pairDevice, .unpairDevice: 8
        case .userPasskeyReply: 11
        case .setPrivacy: 17
        case .loadLongTermKeys(let keys): 2 + keys.count * Management.LongTermKey.encodedCount
        case .loadIdentityKeys(let keys): 2 + keys.count * Management.IdentityKey.encodedCount
        }
    }

    /// Writes the parameters, without the header of the packet.
    package func encode(into output: inout OutputSpan<UInt8>) {
        switch self {
        case .readIndexList, .readInformation, .getConnections: break
        case .setPowered(let isOn), .setBondable(let isOn), .setSecureSimplePairing(let isOn),
            .setLowEnergy(let isOn):
            output.u8(isOn ? 1 : 0)
        case .loadLongTermKeys(let keys): output.list(keys)
        case .loadIdentityKeys(let keys): output.list(keys)
        case .setIOCapability(let capability): output.u8(capability)
        case .pairDevice(let peer, let capability):
            output.peer(peer)
            output.u8(capability)
        case .unpairDevice(let peer, let disconnects):
            output.peer(peer)
            output.u8(disconnects ? 1 : 0)
        case .cancelPairDevice(let peer), .userConfirmationReply(let peer),
            .userConfirmationNegativeReply(let peer), .userPasskeyNegativeReply(let peer):
            output.peer(peer)
        case .userPasskeyReply(let peer, let passkey):
            output.peer(peer)
            output.u32(passkey)
        case .setSecureConnections(let choice): output.u8(choice.rawValue)
        case .setPrivacy(let choice, let key):
            output.u8(choice.rawValue)
            output.u128(key)
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    fileprivate mutating func isOn() throws(DecodeError) -> Bool {
        let value = try u8("switch")
        guard value <= 1 else { throw invalid("switch", value: value, width: 1) }
        return value == 1
    }

    @_lifetime(self: copy self)
    fileprivate mutating func choice<Choice: RawRepresentable<UInt8>>(
        _ field: String
    ) throws(DecodeError) -> Choice {
        let value = try u8(field)
        guard let choice = Choice(rawValue: value) else { throw invalid(field, value: value, width: 1) }
        return choice
    }

    @_lifetime(self: copy self)
    fileprivate mutating func list<Element: PacketDecodable>() throws(DecodeError) -> [Element] {
        var elements: [Element] = []
        for _ in 0..<(try u16("count")) { elements.append(try Element(decoding: &self)) }
        return elements
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    fileprivate mutating func list(_ elements: [some PacketEncodable]) {
        u16(UInt16(truncatingIfNeeded: elements.count))
        for element in elements { element.encode(into: &self) }
    }
}
