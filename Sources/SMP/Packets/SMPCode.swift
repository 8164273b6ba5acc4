import BLECore

/// The code in the first octet of an SMP packet, which identifies its type (Core Specification 5.4, Vol 3,
/// Part H, 3.3, Table 3.3).
package struct SMPCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The code of Pairing Request (3.5.1).
    package static let pairingRequest = SMPCode(rawValue: 0x01)
    /// The code of Pairing Response (3.5.2).
    package static let pairingResponse = SMPCode(rawValue: 0x02)
    /// The code of Pairing Confirm (3.5.3).
    package static let pairingConfirm = SMPCode(rawValue: 0x03)
    /// The code of Pairing Random (3.5.4).
    package static let pairingRandom = SMPCode(rawValue: 0x04)
    /// The code of Pairing Failed (3.5.5).
    package static let pairingFailed = SMPCode(rawValue: 0x05)
    /// The code of Encryption Information (3.6.2).
    package static let encryptionInformation = SMPCode(rawValue: 0x06)
    /// The code of Central Identification (3.6.3).
    package static let centralIdentification = SMPCode(rawValue: 0x07)
    /// The code of Identity Information (3.6.4).
    package static let identityInformation = SMPCode(rawValue: 0x08)
    /// The code of Identity Address Information (3.6.5).
    package static let identityAddressInformation = SMPCode(rawValue: 0x09)
    /// The code of Signing Information (3.6.6).
    package static let signingInformation = SMPCode(rawValue: 0x0a)
    /// The code of Security Request (3.6.7).
    package static let securityRequest = SMPCode(rawValue: 0x0b)
    /// The code of Pairing Public Key (3.5.6).
    package static let pairingPublicKey = SMPCode(rawValue: 0x0c)
    /// The code of Pairing DHKey Check (3.5.7).
    package static let pairingDHKeyCheck = SMPCode(rawValue: 0x0d)
    /// The code of Pairing Keypress Notification (3.5.8).
    package static let pairingKeypressNotification = SMPCode(rawValue: 0x0e)

    /// The name of each code, and the size of its packet in octets, including the code. All SMP packets of a
    /// code have the same length.
    private static let table: [(name: String, octets: Int)] = [
        ("Pairing Request", 7), ("Pairing Response", 7), ("Pairing Confirm", 17), ("Pairing Random", 17),
        ("Pairing Failed", 2), ("Encryption Information", 17), ("Central Identification", 11),
        ("Identity Information", 17), ("Identity Address Information", 8), ("Signing Information", 17),
        ("Security Request", 2), ("Pairing Public Key", 65), ("Pairing DHKey Check", 17),
        ("Pairing Keypress Notification", 2),
    ]

    private var entry: (name: String, octets: Int)? {
        rawValue >= 1 && rawValue <= Self.table.count ? Self.table[Int(rawValue) - 1] : nil
    }

    /// The size of a packet with this code in octets; nil if the code is reserved for future use.
    package var octets: Int? { entry?.octets }
}

extension SMPCode: CustomStringConvertible {
    /// The specification's name, or `0x0f` for a reserved code.
    package var description: String { entry?.name ?? "0x" + rawValue.hex }
}
