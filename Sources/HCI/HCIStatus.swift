import BLECore

/// How a command, connection or procedure ended (Core Specification 5.4, Vol 1, Part F, 1.3 and 2). The
/// same codes are the reasons of a disconnection.
public struct HCIStatus: HCICode, Error {
    /// The error code of the controller (Core Specification 5.4, Vol 1, Part F).
    public let rawValue: UInt8

    /// Creates a status from its code (Vol 1, Part F).
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension HCIStatus: CustomStringConvertible {
    /// The specification's text and the code: "Command Disallowed (0x0c)".
    public var description: String {
        let name = Self.names[rawValue].map { "\($0) " } ?? ""
        return "\(name)(0x\(rawValue.hex))"
    }

    private static let names: [UInt8: String] = [
        0x00: "Success",
        0x01: "Unknown HCI Command",
        0x02: "Unknown Connection Identifier",
        0x03: "Hardware Failure",
        0x04: "Page Timeout",
        0x05: "Authentication Failure",
        0x06: "PIN or Key Missing",
        0x07: "Memory Capacity Exceeded",
        0x08: "Connection Timeout",
        0x09: "Connection Limit Exceeded",
        0x0a: "Synchronous Connection Limit To A Device Exceeded",
        0x0b: "Connection Already Exists",
        0x0c: "Command Disallowed",
        0x0d: "Connection Rejected due to Limited Resources",
        0x0e: "Connection Rejected Due To Security Reasons",
        0x0f: "Connection Rejected due to Unacceptable BD_ADDR",
        0x10: "Connection Accept Timeout Exceeded",
        0x11: "Unsupported Feature or Parameter Value",
        0x12: "Invalid HCI Command Parameters",
        0x13: "Remote User Terminated Connection",
        0x14: "Remote Device Terminated Connection due to Low Resources",
        0x15: "Remote Device Terminated Connection due to Power Off",
        0x16: "Connection Terminated By Local Host",
        0x17: "Repeated Attempts",
        0x18: "Pairing Not Allowed",
        0x19: "Unknown LMP PDU",
        0x1a: "Unsupported Remote Feature",
        0x1b: "SCO Offset Rejected",
        0x1c: "SCO Interval Rejected",
        0x1d: "SCO Air Mode Rejected",
        0x1e: "Invalid LMP Parameters / Invalid LL Parameters",
        0x1f: "Unspecified Error",
        0x20: "Unsupported LMP Parameter Value / Unsupported LL Parameter Value",
        0x21: "Role Change Not Allowed",
        0x22: "LMP Response Timeout / LL Response Timeout",
        0x23: "LMP Error Transaction Collision / LL Procedure Collision",
        0x24: "LMP PDU Not Allowed",
        0x25: "Encryption Mode Not Acceptable",
        0x26: "Link Key cannot be Changed",
        0x27: "Requested QoS Not Supported",
        0x28: "Instant Passed",
        0x29: "Pairing With Unit Key Not Supported",
        0x2a: "Different Transaction Collision",
        0x2c: "QoS Unacceptable Parameter",
        0x2d: "QoS Rejected",
        0x2e: "Channel Classification Not Supported",
        0x2f: "Insufficient Security",
        0x30: "Parameter Out Of Mandatory Range",
        0x32: "Role Switch Pending",
        0x34: "Reserved Slot Violation",
        0x35: "Role Switch Failed",
        0x36: "Extended Inquiry Response Too Large",
        0x37: "Secure Simple Pairing Not Supported By Host",
        0x38: "Host Busy - Pairing",
        0x39: "Connection Rejected due to No Suitable Channel Found",
        0x3a: "Controller Busy",
        0x3b: "Unacceptable Connection Parameters",
        0x3c: "Advertising Timeout",
        0x3d: "Connection Terminated due to MIC Failure",
        0x3e: "Connection Failed to be Established / Synchronization Timeout",
        0x40: "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging",
        0x41: "Type0 Submap Not Defined",
        0x42: "Unknown Advertising Identifier",
        0x43: "Limit Reached",
        0x44: "Operation Cancelled by Host",
        0x45: "Packet Too Long",
        0x46: "Too Late",
        0x47: "Too Early",
    ]
}

extension HCIStatus {
    package static let success = HCIStatus(rawValue: 0x00)
    package static let unknownCommand = HCIStatus(rawValue: 0x01)
    package static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    package static let hardwareFailure = HCIStatus(rawValue: 0x03)
    package static let pageTimeout = HCIStatus(rawValue: 0x04)
    /// Authentication Failure: pairing or authentication failed, for example with a wrong key.
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    /// The device has no key for the link, as after its bond was deleted (0x06).
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    package static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// Connection Timeout: the supervision timeout of the link has expired.
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// Connection Limit Exceeded: the controller supports no more connections.
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    /// Synchronous Connection Limit To A Device Exceeded.
    package static let synchronousConnectionLimitExceeded = HCIStatus(rawValue: 0x0a)
    package static let connectionAlreadyExists = HCIStatus(rawValue: 0x0b)
    /// Command Disallowed: the controller cannot execute the command in its current state.
    public static let commandDisallowed = HCIStatus(rawValue: 0x0c)
    /// Connection Rejected due to Limited Resources.
    package static let connectionRejectedLimitedResources = HCIStatus(rawValue: 0x0d)
    /// Connection Rejected Due To Security Reasons.
    package static let connectionRejectedSecurityReasons = HCIStatus(rawValue: 0x0e)
    /// Connection Rejected due to Unacceptable BD_ADDR.
    package static let connectionRejectedUnacceptableAddress = HCIStatus(rawValue: 0x0f)
    package static let connectionAcceptTimeoutExceeded = HCIStatus(rawValue: 0x10)
    package static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    package static let invalidCommandParameters = HCIStatus(rawValue: 0x12)
    /// The peer's host ended the connection (0x13).
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    /// Remote Device Terminated Connection due to Low Resources.
    public static let remoteDeviceTerminatedLowResources = HCIStatus(rawValue: 0x14)
    /// Remote Device Terminated Connection due to Power Off.
    public static let remoteDeviceTerminatedPowerOff = HCIStatus(rawValue: 0x15)
    /// This host ended the connection (0x16).
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    package static let repeatedAttempts = HCIStatus(rawValue: 0x17)
    package static let pairingNotAllowed = HCIStatus(rawValue: 0x18)
    package static let unknownLMPPDU = HCIStatus(rawValue: 0x19)
    package static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1a)
    package static let scoOffsetRejected = HCIStatus(rawValue: 0x1b)
    package static let scoIntervalRejected = HCIStatus(rawValue: 0x1c)
    package static let scoAirModeRejected = HCIStatus(rawValue: 0x1d)
    /// Invalid LMP Parameters / Invalid LL Parameters.
    package static let invalidLLParameters = HCIStatus(rawValue: 0x1e)
    package static let unspecifiedError = HCIStatus(rawValue: 0x1f)
    /// Unsupported LMP Parameter Value / Unsupported LL Parameter Value.
    package static let unsupportedLLParameterValue = HCIStatus(rawValue: 0x20)
    package static let roleChangeNotAllowed = HCIStatus(rawValue: 0x21)
    /// LMP Response Timeout / LL Response Timeout.
    package static let llResponseTimeout = HCIStatus(rawValue: 0x22)
    /// LMP Error Transaction Collision / LL Procedure Collision.
    package static let llProcedureCollision = HCIStatus(rawValue: 0x23)
    package static let lmpPDUNotAllowed = HCIStatus(rawValue: 0x24)
    package static let encryptionModeNotAcceptable = HCIStatus(rawValue: 0x25)
    package static let linkKeyCannotBeChanged = HCIStatus(rawValue: 0x26)
    package static let requestedQoSNotSupported = HCIStatus(rawValue: 0x27)
    package static let instantPassed = HCIStatus(rawValue: 0x28)
    /// Pairing With Unit Key Not Supported.
    package static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    package static let differentTransactionCollision = HCIStatus(rawValue: 0x2a)
    package static let qosUnacceptableParameter = HCIStatus(rawValue: 0x2c)
    package static let qosRejected = HCIStatus(rawValue: 0x2d)
    package static let channelClassificationNotSupported = HCIStatus(rawValue: 0x2e)
    package static let insufficientSecurity = HCIStatus(rawValue: 0x2f)
    package static let parameterOutOfMandatoryRange = HCIStatus(rawValue: 0x30)
    package static let roleSwitchPending = HCIStatus(rawValue: 0x32)
    package static let reservedSlotViolation = HCIStatus(rawValue: 0x34)
    package static let roleSwitchFailed = HCIStatus(rawValue: 0x35)
    package static let extendedInquiryResponseTooLarge = HCIStatus(rawValue: 0x36)
    /// Secure Simple Pairing Not Supported By Host.
    package static let secureSimplePairingNotSupportedByHost = HCIStatus(rawValue: 0x37)
    package static let hostBusyPairing = HCIStatus(rawValue: 0x38)
    /// Connection Rejected due to No Suitable Channel Found.
    package static let connectionRejectedNoSuitableChannel = HCIStatus(rawValue: 0x39)
    package static let controllerBusy = HCIStatus(rawValue: 0x3a)
    package static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3b)
    package static let advertisingTimeout = HCIStatus(rawValue: 0x3c)
    /// Connection Terminated due to MIC Failure.
    package static let connectionTerminatedMICFailure = HCIStatus(rawValue: 0x3d)
    /// Connection Failed to be Established / Synchronization Timeout.
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3e)
    /// Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging.
    package static let coarseClockAdjustmentRejected = HCIStatus(rawValue: 0x40)
    package static let type0SubmapNotDefined = HCIStatus(rawValue: 0x41)
    package static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    package static let limitReached = HCIStatus(rawValue: 0x43)
    package static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    package static let packetTooLong = HCIStatus(rawValue: 0x45)
    package static let tooLate = HCIStatus(rawValue: 0x46)
    package static let tooEarly = HCIStatus(rawValue: 0x47)
}
