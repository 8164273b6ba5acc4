import BLECore

/// The reason for which a pairing failed (Core Specification 5.4, Vol 3, Part H, 3.5.5, Table 3.7).
public struct PairingFailureReason: RawRepresentable, Hashable, Sendable {
    /// The octet of Pairing Failed (Core Specification 5.4, Vol 3, Part H, 3.5.5).
    public let rawValue: UInt8

    /// Creates a reason from its octet, which can be unknown.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user cancelled passkey entry, or entered nothing.
    public static let passkeyEntryFailed = PairingFailureReason(rawValue: 0x01)
    /// The out-of-band data is not available.
    public static let oobNotAvailable = PairingFailureReason(rawValue: 0x02)
    /// The IO capabilities do not allow the required authentication.
    public static let authenticationRequirements = PairingFailureReason(rawValue: 0x03)
    /// The confirm value does not match the calculated value.
    public static let confirmValueFailed = PairingFailureReason(rawValue: 0x04)
    /// The device does not support pairing (0x05).
    public static let pairingNotSupported = PairingFailureReason(rawValue: 0x05)
    /// The encryption key size is insufficient.
    public static let encryptionKeySize = PairingFailureReason(rawValue: 0x06)
    /// The device does not support the command.
    public static let commandNotSupported = PairingFailureReason(rawValue: 0x07)
    /// The device does not specify the reason (0x08).
    public static let unspecifiedReason = PairingFailureReason(rawValue: 0x08)
    /// Too little time has passed since the last attempt.
    public static let repeatedAttempts = PairingFailureReason(rawValue: 0x09)
    /// The command has the wrong length or a parameter out of range.
    public static let invalidParameters = PairingFailureReason(rawValue: 0x0a)
    /// The DHKey Check value does not match the calculated value.
    public static let dhKeyCheckFailed = PairingFailureReason(rawValue: 0x0b)
    /// The two devices displayed different numbers.
    public static let numericComparisonFailed = PairingFailureReason(rawValue: 0x0c)
    /// A pairing over BR/EDR is under way.
    public static let brEDRPairingInProgress = PairingFailureReason(rawValue: 0x0d)
    /// The key of one transport must not be used to derive a key for the other transport.
    public static let crossTransportKeyDerivationNotAllowed = PairingFailureReason(rawValue: 0x0e)
    /// The device rejects a key that was distributed.
    public static let keyRejected = PairingFailureReason(rawValue: 0x0f)
    /// The device cannot pair at present (0x10).
    public static let busy = PairingFailureReason(rawValue: 0x10)

    private static let names = [
        "Passkey Entry Failed", "OOB Not Available", "Authentication Requirements", "Confirm Value Failed",
        "Pairing Not Supported", "Encryption Key Size", "Command Not Supported", "Unspecified Reason",
        "Repeated Attempts", "Invalid Parameters", "DHKey Check Failed", "Numeric Comparison Failed",
        "BR/EDR pairing in progress", "Cross-transport Key Derivation/Generation not allowed", "Key Rejected",
        "Busy",
    ]
}

extension PairingFailureReason: CustomStringConvertible {
    /// The specification's name, or `0x11` for an unknown reason.
    public var description: String {
        rawValue >= 1 && rawValue <= Self.names.count ? Self.names[Int(rawValue) - 1] : "0x" + rawValue.hex
    }
}
