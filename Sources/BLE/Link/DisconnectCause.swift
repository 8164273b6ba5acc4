import HCI

/// The reason that a peer receives when this host ends a link: one of those that Disconnect accepts (Core
/// Specification 5.4, Vol 4, Part E, 7.1.6).
public enum DisconnectCause: UInt8, Hashable, Sendable, CaseIterable {
    /// Authentication failed: error code 0x05.
    case authenticationFailure = 0x05
    /// Remote User Terminated Connection: the usual reason for the end of a link.
    case userTerminated = 0x13
    /// Remote Device Terminated Connection due to Low Resources.
    case lowResources = 0x14
    /// Remote Device Terminated Connection due to Power Off.
    case powerOff = 0x15
    /// The error code Unsupported Remote Feature.
    case unsupportedRemoteFeature = 0x1a
    /// Pairing With Unit Key Not Supported.
    case pairingWithUnitKeyNotSupported = 0x29
    /// The error code Unacceptable Connection Parameters.
    case unacceptableConnectionParameters = 0x3b

    /// The code as a status, as in the peer's `DisconnectReason`.
    public var status: HCIStatus { HCIStatus(rawValue: rawValue) }
}
