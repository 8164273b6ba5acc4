import BLECore

/// The reason for which a server rejects a request (Core Specification 5.4, Vol 3, Part F, 3.4.1.1, Table
/// 3.4). The codes 0x80 to 0x9f belong to the application; 0xe0 to 0xff are the common profile codes of the
/// Core Specification Supplement.
///
/// A server's handler throws a code to answer with it.
public struct ATTErrorCode: Error, RawRepresentable, Hashable, Sendable {
    /// The octet of Error Response (Core Specification 5.4, Vol 3, Part F, 3.4.1.1).
    public let rawValue: UInt8

    /// Creates a code from its octet, which need not have a name here.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a code from its octet, which need not have a name here.
    @inlinable
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Returns the error of the application with this number, 0x80 to 0x9f; nil for other numbers.
    @inlinable
    public static func application(_ number: UInt8) -> ATTErrorCode? {
        (0x80...0x9f).contains(number) ? ATTErrorCode(number) : nil
    }

    /// Whether the profile above GATT defines the meaning of the code.
    @inlinable package var isApplication: Bool { (0x80...0x9f).contains(rawValue) }

    /// Whether the code is a common profile code, which all profiles share.
    @inlinable package var isCommonProfile: Bool { rawValue >= 0xe0 }
}

extension ATTErrorCode {
    /// The handle names no attribute of this server.
    public static let invalidHandle = ATTErrorCode(0x01)
    /// The attribute cannot be read (0x02).
    public static let readNotPermitted = ATTErrorCode(0x02)
    /// The attribute cannot be written (0x03).
    public static let writeNotPermitted = ATTErrorCode(0x03)
    /// The server cannot decode the request: its PDU is malformed.
    public static let invalidPDU = ATTErrorCode(0x04)
    /// The attribute requires an authenticated link (0x05).
    public static let insufficientAuthentication = ATTErrorCode(0x05)
    /// The server does not support the request.
    public static let requestNotSupported = ATTErrorCode(0x06)
    /// The offset is past the end of the value.
    public static let invalidOffset = ATTErrorCode(0x07)
    /// The application does not authorize this client (0x08).
    public static let insufficientAuthorization = ATTErrorCode(0x08)
    /// Too many prepared writes are queued.
    public static let prepareQueueFull = ATTErrorCode(0x09)
    /// The range contains no attribute that matches the request.
    public static let attributeNotFound = ATTErrorCode(0x0a)
    /// The value of the attribute cannot be read in parts.
    public static let attributeNotLong = ATTErrorCode(0x0b)
    /// The encryption key is shorter than the attribute requires (0x0c).
    public static let encryptionKeySizeTooShort = ATTErrorCode(0x0c)
    /// The attribute does not accept a value of this length.
    public static let invalidAttributeValueLength = ATTErrorCode(0x0d)
    /// An error occurred that has no code of its own.
    public static let unlikelyError = ATTErrorCode(0x0e)
    /// The attribute requires an encrypted link (0x0f).
    public static let insufficientEncryption = ATTErrorCode(0x0f)
    /// The attribute type is not a grouping type.
    public static let unsupportedGroupType = ATTErrorCode(0x10)
    /// The server lacks the resources for the request.
    public static let insufficientResources = ATTErrorCode(0x11)
    /// The client has to discover the database again before it continues.
    public static let databaseOutOfSync = ATTErrorCode(0x12)
    /// A field of the PDU has a value that is not allowed.
    public static let valueNotAllowed = ATTErrorCode(0x13)
    /// The common profile code for a write that the server rejects because of its state.
    public static let writeRequestRejected = ATTErrorCode(0xfc)
    /// The common profile code for a Client Characteristic Configuration that the characteristic does not
    /// support.
    public static let clientCharacteristicConfigurationImproper = ATTErrorCode(0xfd)
    /// The common profile code for a request that cannot run while another one is in progress.
    public static let procedureAlreadyInProgress = ATTErrorCode(0xfe)
    /// The common profile code for a value outside its range.
    public static let outOfRange = ATTErrorCode(0xff)

    /// The specification's name; nil for application errors and codes that it reserves.
    public var name: String? {
        switch self {
        case .invalidHandle: "Invalid Handle"
        case .readNotPermitted: "Read Not Permitted"
        case .writeNotPermitted: "Write Not Permitted"
        case .invalidPDU: "Invalid PDU"
        case .insufficientAuthentication: "Insufficient Authentication"
        case .requestNotSupported: "Request Not Supported"
        case .invalidOffset: "Invalid Offset"
        case .insufficientAuthorization: "Insufficient Authorization"
        case .prepareQueueFull: "Prepare Queue Full"
        case .attributeNotFound: "Attribute Not Found"
        case .attributeNotLong: "Attribute Not Long"
        case .encryptionKeySizeTooShort: "Encryption Key Size Too Short"
        case .invalidAttributeValueLength: "Invalid Attribute Value Length"
        case .unlikelyError: "Unlikely Error"
        case .insufficientEncryption: "Insufficient Encryption"
        case .unsupportedGroupType: "Unsupported Group Type"
        case .insufficientResources: "Insufficient Resources"
        case .databaseOutOfSync: "Database Out Of Sync"
        case .valueNotAllowed: "Value Not Allowed"
        case .writeRequestRejected: "Write Request Rejected"
        case .clientCharacteristicConfigurationImproper:
            "Client Characteristic Configuration Descriptor Improperly Configured"
        case .procedureAlreadyInProgress: "Procedure Already In Progress"
        case .outOfRange: "Out Of Range"
        default: nil
        }
    }
}

extension ATTErrorCode: CustomStringConvertible {
    /// `Invalid Handle (0x01)`, `application error 0x80`.
    public var description: String {
        let number = "0x" + rawValue.hex
        if let name { return "\(name) (\(number))" }
        if isApplication { return "application error \(number)" }
        return (isCommonProfile ? "common profile error " : "reserved error ") + number
    }
}
