import BLECore

/// The result of a command, connection or procedure (Core Specification 5.4, Vol 1, Part F, 1.3 and 2). The
/// same codes are used as reasons for a disconnection.
public struct HCIStatus: HCICode, Error {
    /// The error code of the controller (Core Specification 5.4, Vol 1, Part F).
    public let rawValue: UInt8

    /// Creates a status from its code (Vol 1, Part F).
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension HCIStatus: CustomStringConvertible {
    /// The name in the specification and the code: "Command Disallowed (0x0c)".
    public var description: String {
        let name = Self.names[self].map { "\($0) " } ?? ""
        return "\(name)(0x\(rawValue.hex))"
    }

    private static let names: [HCIStatus: String] = [
        .success: "Success",
        .unknownCommand: "Unknown HCI Command",
        .unknownConnectionIdentifier: "Unknown Connection Identifier",
        .hardwareFailure: "Hardware Failure",
        .pageTimeout: "Page Timeout",
        .authenticationFailure: "Authentication Failure",
        .pinOrKeyMissing: "PIN or Key Missing",
        .memoryCapacityExceeded: "Memory Capacity Exceeded",
        .connectionTimeout: "Connection Timeout",
        .connectionLimitExceeded: "Connection Limit Exceeded",
        .synchronousConnectionLimitExceeded: "Synchronous Connection Limit To A Device Exceeded",
        .connectionAlreadyExists: "Connection Already Exists",
        .commandDisallowed: "Command Disallowed",
        .connectionRejectedLimitedResources: "Connection Rejected due to Limited Resources",
        .connectionRejectedSecurityReasons: "Connection Rejected Due To Security Reasons",
        .connectionRejectedUnacceptableAddress: "Connection Rejected due to Unacceptable BD_ADDR",
        .connectionAcceptTimeoutExceeded: "Connection Accept Timeout Exceeded",
        .unsupportedFeatureOrParameterValue: "Unsupported Feature or Parameter Value",
        .invalidCommandParameters: "Invalid HCI Command Parameters",
        .remoteUserTerminatedConnection: "Remote User Terminated Connection",
        .remoteDeviceTerminatedLowResources: "Remote Device Terminated Connection due to Low Resources",
        .remoteDeviceTerminatedPowerOff: "Remote Device Terminated Connection due to Power Off",
        .connectionTerminatedByLocalHost: "Connection Terminated By Local Host",
        .repeatedAttempts: "Repeated Attempts",
        .pairingNotAllowed: "Pairing Not Allowed",
        .unknownLMPPDU: "Unknown LMP PDU",
        .unsupportedRemoteFeature: "Unsupported Remote Feature",
        .scoOffsetRejected: "SCO Offset Rejected",
        .scoIntervalRejected: "SCO Interval Rejected",
        .scoAirModeRejected: "SCO Air Mode Rejected",
        .invalidLLParameters: "Invalid LMP Parameters / Invalid LL Parameters",
        .unspecifiedError: "Unspecified Error",
        .unsupportedLLParameterValue: "Unsupported LMP Parameter Value / Unsupported LL Parameter Value",
        .roleChangeNotAllowed: "Role Change Not Allowed",
        .llResponseTimeout: "LMP Response Timeout / LL Response Timeout",
        .llProcedureCollision: "LMP Error Transaction Collision / LL Procedure Collision",
        .lmpPDUNotAllowed: "LMP PDU Not Allowed",
        .encryptionModeNotAcceptable: "Encryption Mode Not Acceptable",
        .linkKeyCannotBeChanged: "Link Key cannot be Changed",
        .requestedQoSNotSupported: "Requested QoS Not Supported",
        .instantPassed: "Instant Passed",
        .pairingWithUnitKeyNotSupported: "Pairing With Unit Key Not Supported",
        .differentTransactionCollision: "Different Transaction Collision",
        .qosUnacceptableParameter: "QoS Unacceptable Parameter",
        .qosRejected: "QoS Rejected",
        .channelClassificationNotSupported: "Channel Classification Not Supported",
        .insufficientSecurity: "Insufficient Security",
        .parameterOutOfMandatoryRange: "Parameter Out Of Mandatory Range",
        .roleSwitchPending: "Role Switch Pending",
        .reservedSlotViolation: "Reserved Slot Violation",
        .roleSwitchFailed: "Role Switch Failed",
        .extendedInquiryResponseTooLarge: "Extended Inquiry Response Too Large",
        .secureSimplePairingNotSupportedByHost: "Secure Simple Pairing Not Supported By Host",
        .hostBusyPairing: "Host Busy - Pairing",
        .connectionRejectedNoSuitableChannel: "Connection Rejected due to No Suitable Channel Found",
        .controllerBusy: "Controller Busy",
        .unacceptableConnectionParameters: "Unacceptable Connection Parameters",
        .advertisingTimeout: "Advertising Timeout",
        .connectionTerminatedMICFailure: "Connection Terminated due to MIC Failure",
        .connectionFailedToBeEstablished: "Connection Failed to be Established / Synchronization Timeout",
        .coarseClockAdjustmentRejected:
            "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging",
        .type0SubmapNotDefined: "Type0 Submap Not Defined",
        .unknownAdvertisingIdentifier: "Unknown Advertising Identifier",
        .limitReached: "Limit Reached",
        .operationCancelledByHost: "Operation Cancelled by Host",
        .packetTooLong: "Packet Too Long",
        .tooLate: "Too Late",
        .tooEarly: "Too Early",
    ]
}

extension HCIStatus {
    /// The command or procedure was successful, 0x00.
    public static let success = HCIStatus(rawValue: 0x00)
    /// The error code Unknown HCI Command, 0x01.
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    /// The error code Unknown Connection Identifier, 0x02.
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    /// The error code Hardware Failure, 0x03.
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    package static let pageTimeout = HCIStatus(rawValue: 0x04)
    /// Authentication Failure: pairing or authentication failed, for example with a wrong key.
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    /// The device has no key for the link, for example because its bond was deleted (0x06).
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    /// The error code Memory Capacity Exceeded, 0x07.
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// Connection Timeout: the supervision timeout of the link has expired.
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// Connection Limit Exceeded: the controller supports no more connections.
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    /// Synchronous Connection Limit To A Device Exceeded.
    package static let synchronousConnectionLimitExceeded = HCIStatus(rawValue: 0x0a)
    /// The error code Connection Already Exists, 0x0b.
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0b)
    /// Command Disallowed: the controller cannot execute the command in its current state.
    public static let commandDisallowed = HCIStatus(rawValue: 0x0c)
    /// The error code Connection Rejected due to Limited Resources, 0x0d.
    public static let connectionRejectedLimitedResources = HCIStatus(rawValue: 0x0d)
    /// The error code Connection Rejected Due To Security Reasons, 0x0e.
    public static let connectionRejectedSecurityReasons = HCIStatus(rawValue: 0x0e)
    /// The error code Connection Rejected due to Unacceptable BD_ADDR, 0x0f.
    public static let connectionRejectedUnacceptableAddress = HCIStatus(rawValue: 0x0f)
    package static let connectionAcceptTimeoutExceeded = HCIStatus(rawValue: 0x10)
    /// The error code Unsupported Feature or Parameter Value, 0x11.
    public static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    /// The error code Invalid HCI Command Parameters, 0x12.
    public static let invalidCommandParameters = HCIStatus(rawValue: 0x12)
    /// The peer's host ended the connection (0x13).
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    /// Remote Device Terminated Connection due to Low Resources.
    public static let remoteDeviceTerminatedLowResources = HCIStatus(rawValue: 0x14)
    /// Remote Device Terminated Connection due to Power Off.
    public static let remoteDeviceTerminatedPowerOff = HCIStatus(rawValue: 0x15)
    /// This host ended the connection (0x16).
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    /// The error code Repeated Attempts, 0x17.
    public static let repeatedAttempts = HCIStatus(rawValue: 0x17)
    /// The error code Pairing Not Allowed, 0x18.
    public static let pairingNotAllowed = HCIStatus(rawValue: 0x18)
    package static let unknownLMPPDU = HCIStatus(rawValue: 0x19)
    /// The error code Unsupported Remote Feature, 0x1a.
    public static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1a)
    package static let scoOffsetRejected = HCIStatus(rawValue: 0x1b)
    package static let scoIntervalRejected = HCIStatus(rawValue: 0x1c)
    package static let scoAirModeRejected = HCIStatus(rawValue: 0x1d)
    /// The error code Invalid LMP Parameters / Invalid LL Parameters, 0x1e.
    public static let invalidLLParameters = HCIStatus(rawValue: 0x1e)
    /// The error code Unspecified Error, 0x1f.
    public static let unspecifiedError = HCIStatus(rawValue: 0x1f)
    /// The error code Unsupported LMP Parameter Value / Unsupported LL Parameter Value, 0x20.
    public static let unsupportedLLParameterValue = HCIStatus(rawValue: 0x20)
    package static let roleChangeNotAllowed = HCIStatus(rawValue: 0x21)
    /// The error code LMP Response Timeout / LL Response Timeout, 0x22.
    public static let llResponseTimeout = HCIStatus(rawValue: 0x22)
    /// The error code LMP Error Transaction Collision / LL Procedure Collision, 0x23.
    public static let llProcedureCollision = HCIStatus(rawValue: 0x23)
    package static let lmpPDUNotAllowed = HCIStatus(rawValue: 0x24)
    package static let encryptionModeNotAcceptable = HCIStatus(rawValue: 0x25)
    package static let linkKeyCannotBeChanged = HCIStatus(rawValue: 0x26)
    package static let requestedQoSNotSupported = HCIStatus(rawValue: 0x27)
    /// The error code Instant Passed, 0x28.
    public static let instantPassed = HCIStatus(rawValue: 0x28)
    /// The error code Pairing With Unit Key Not Supported, 0x29.
    public static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    /// The error code Different Transaction Collision, 0x2a.
    public static let differentTransactionCollision = HCIStatus(rawValue: 0x2a)
    package static let qosUnacceptableParameter = HCIStatus(rawValue: 0x2c)
    package static let qosRejected = HCIStatus(rawValue: 0x2d)
    package static let channelClassificationNotSupported = HCIStatus(rawValue: 0x2e)
    /// The error code Insufficient Security, 0x2f.
    public static let insufficientSecurity = HCIStatus(rawValue: 0x2f)
    package static let parameterOutOfMandatoryRange = HCIStatus(rawValue: 0x30)
    package static let roleSwitchPending = HCIStatus(rawValue: 0x32)
    package static let reservedSlotViolation = HCIStatus(rawValue: 0x34)
    package static let roleSwitchFailed = HCIStatus(rawValue: 0x35)
    package static let extendedInquiryResponseTooLarge = HCIStatus(rawValue: 0x36)
    /// Secure Simple Pairing Not Supported By Host.
    package static let secureSimplePairingNotSupportedByHost = HCIStatus(rawValue: 0x37)
    package static let hostBusyPairing = HCIStatus(rawValue: 0x38)
    /// The error code Connection Rejected due to No Suitable Channel Found, 0x39.
    public static let connectionRejectedNoSuitableChannel = HCIStatus(rawValue: 0x39)
    /// The error code Controller Busy, 0x3a.
    public static let controllerBusy = HCIStatus(rawValue: 0x3a)
    /// The error code Unacceptable Connection Parameters, 0x3b.
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3b)
    /// The error code Advertising Timeout, 0x3c.
    public static let advertisingTimeout = HCIStatus(rawValue: 0x3c)
    /// The error code Connection Terminated due to MIC Failure, 0x3d.
    public static let connectionTerminatedMICFailure = HCIStatus(rawValue: 0x3d)
    /// Connection Failed to be Established / Synchronization Timeout.
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3e)
    /// Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging.
    package static let coarseClockAdjustmentRejected = HCIStatus(rawValue: 0x40)
    package static let type0SubmapNotDefined = HCIStatus(rawValue: 0x41)
    /// The error code Unknown Advertising Identifier, 0x42.
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    /// The error code Limit Reached, 0x43.
    public static let limitReached = HCIStatus(rawValue: 0x43)
    /// The error code Operation Cancelled by Host, 0x44.
    public static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    /// The error code Packet Too Long, 0x45.
    public static let packetTooLong = HCIStatus(rawValue: 0x45)
    /// The error code Too Late, 0x46.
    public static let tooLate = HCIStatus(rawValue: 0x46)
    /// The error code Too Early, 0x47.
    public static let tooEarly = HCIStatus(rawValue: 0x47)
}
