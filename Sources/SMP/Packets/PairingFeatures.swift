import BLECore

/// The capabilities and requirements of a device that pairs: the body of Pairing Request and Pairing Response
/// (Core Specification 5.4, Vol 3, Part H, 3.5.1 and 3.5.2). Values out of range are decoded unchanged; the
/// pairing rejects them, because the failure reason depends on the field.
package struct PairingFeatures: Hashable, Sendable {
    /// The input and output capability of the device.
    package var ioCapability: IOCapability
    /// Whether the device has out-of-band data of its peer.
    package var oobData: OOBData
    /// The AuthReq field of the packet.
    package var authentication: AuthenticationRequirements
    /// The maximum encryption key size that the device supports, 7 to 16 octets.
    package var maximumKeySize: UInt8
    /// The keys that the initiator is to distribute.
    package var initiatorKeys: KeyDistribution
    /// The keys that the responder is to distribute.
    package var responderKeys: KeyDistribution

    package init(
        ioCapability: IOCapability, oobData: OOBData = .notPresent,
        authentication: AuthenticationRequirements,
        maximumKeySize: UInt8 = 16, initiatorKeys: KeyDistribution = [], responderKeys: KeyDistribution = []
    ) {
        self.ioCapability = ioCapability
        self.oobData = oobData
        self.authentication = authentication
        self.maximumKeySize = maximumKeySize
        self.initiatorKeys = initiatorKeys
        self.responderKeys = responderKeys
    }
}

extension PairingFeatures: PacketCodable {
    package static var packetName: String { "Pairing features" }

    /// Reads the six octets after the code.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        ioCapability = IOCapability(rawValue: try reader.u8("IO capability"))
        oobData = OOBData(rawValue: try reader.u8("OOB data flag"))
        authentication = AuthenticationRequirements(rawValue: try reader.u8("AuthReq"))
        maximumKeySize = try reader.u8("maximum encryption key size")
        initiatorKeys = KeyDistribution(rawValue: try reader.u8("initiator key distribution"))
        responderKeys = KeyDistribution(rawValue: try reader.u8("responder key distribution"))
    }

    package var encodedCount: Int { 6 }

    /// Writes the six octets after the code.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(ioCapability.rawValue)
        output.u8(oobData.rawValue)
        output.u8(authentication.rawValue)
        output.u8(maximumKeySize)
        output.u8(initiatorKeys.rawValue)
        output.u8(responderKeys.rawValue)
    }
}

/// The input and output capability of a device (3.5.1, Table 3.4).
public struct IOCapability: RawRepresentable, Hashable, Sendable {
    /// The octet of Pairing Request and Pairing Response.
    public let rawValue: UInt8

    /// Creates a capability from its octet, which can be unknown.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device can display six digits.
    public static let displayOnly = IOCapability(rawValue: 0x00)
    /// The device can display six digits and accept yes or no.
    public static let displayYesNo = IOCapability(rawValue: 0x01)
    /// The device can accept six digits.
    public static let keyboardOnly = IOCapability(rawValue: 0x02)
    /// The device can neither display nor accept digits.
    public static let noInputNoOutput = IOCapability(rawValue: 0x03)
    /// The device can display and accept six digits.
    public static let keyboardDisplay = IOCapability(rawValue: 0x04)

    private static let names = [
        "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay",
    ]
}

extension IOCapability: CustomStringConvertible {
    /// The specification's name, or `0x05` for an unknown value.
    public var description: String {
        rawValue < Self.names.count ? Self.names[Int(rawValue)] : "0x" + rawValue.hex
    }
}

/// Whether a device has out-of-band data of its peer (3.5.1, Table 3.5).
package struct OOBData: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let notPresent = OOBData(rawValue: 0x00)
    package static let present = OOBData(rawValue: 0x01)
}

/// The requirements of a device for a pairing: the AuthReq field (3.5.1, Figure 3.3).
package struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
    /// All eight bits, including the reserved bits.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device stores the keys after the pairing.
    package static let bonding = AuthenticationRequirements(rawValue: 0x01)
    /// The device requires protection against a man in the middle.
    package static let mitm = AuthenticationRequirements(rawValue: 0x04)
    /// The device supports LE Secure Connections pairing.
    package static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    /// The device supports keypress notifications while a passkey is entered.
    package static let keypress = AuthenticationRequirements(rawValue: 0x10)
    /// The device supports the h7 function to derive keys for the other transport.
    package static let ct2 = AuthenticationRequirements(rawValue: 0x20)
}

/// The keys that a device distributes (3.6.1, Figure 3.11).
package struct KeyDistribution: OptionSet, Hashable, Sendable {
    /// All eight bits, including the reserved bits.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The long term key; ignored with LE Secure Connections.
    package static let encryption = KeyDistribution(rawValue: 0x01)
    /// The identity resolving key and the identity address.
    package static let identity = KeyDistribution(rawValue: 0x02)
    /// The connection signature resolving key (CSRK).
    package static let signing = KeyDistribution(rawValue: 0x04)
    /// The BR/EDR link key derived from the long term key.
    package static let link = KeyDistribution(rawValue: 0x08)
}
