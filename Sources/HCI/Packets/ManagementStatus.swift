import BLECore

/// The status of a command to the kernel's management interface (BlueZ, doc/mgmt-api.txt).
public struct ManagementStatus: RawRepresentable, Hashable, Sendable, Error {
    /// The status octet of the kernel's management interface.
    public let rawValue: UInt8
    /// Creates a status from the number that the kernel reports.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The command was successful, status 0x00.
    public static let success = ManagementStatus(rawValue: 0x00)
    /// The command failed; the kernel gives no further reason.
    public static let failed = ManagementStatus(rawValue: 0x03)
    /// The pairing with the peer failed.
    public static let authenticationFailed = ManagementStatus(rawValue: 0x05)
    /// The kernel has no keys of the device.
    public static let notPaired = ManagementStatus(rawValue: 0x06)
    /// The adapter is busy with another operation.
    public static let busy = ManagementStatus(rawValue: 0x0a)
    /// The adapter does not exist.
    public static let invalidIndex = ManagementStatus(rawValue: 0x11)
    /// The radio is blocked by rfkill.
    public static let rfkilled = ManagementStatus(rawValue: 0x12)
    /// The caller lacks CAP_NET_ADMIN.
    public static let permissionDenied = ManagementStatus(rawValue: 0x14)
}

extension ManagementStatus: CustomStringConvertible {
    /// The text for the status in BlueZ, or its number.
    public var description: String {
        let texts = [
            "success", "unknown command", "not connected", "failed", "connect failed",
            "authentication failed", "not paired", "no resources", "timeout", "already connected", "busy",
            "rejected", "not supported", "invalid parameters", "disconnected", "not powered", "cancelled",
            "invalid index", "blocked by rfkill", "already paired", "permission denied",
            "connection lost", "invalid authentication data",
        ]
        let index = Int(rawValue)
        return texts.indices.contains(index) ? texts[index] : "management status 0x\(rawValue.hex)"
    }
}
