import BLECore

/// The type of an AD structure: the octet after its length (Assigned Numbers, 2.3; formats in the Core
/// Specification Supplement v11, Part A).
public struct AdvertisingDataType: RawRepresentable, Hashable, Sendable {
    /// The number of the type in the SIG's Assigned Numbers.
    public let rawValue: UInt8

    /// Creates a type from its number, which does not need to have a name.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    package init(_ rawValue: UInt8) { self.rawValue = rawValue }
}

extension AdvertisingDataType {
    /// The discoverability of the device (1.3).
    public static let flags = Self(0x01)
    /// Some of the 16-bit service UUIDs (1.1).
    public static let incompleteServiceUUIDs16 = Self(0x02)
    /// All 16-bit service UUIDs (1.1).
    public static let completeServiceUUIDs16 = Self(0x03)
    /// Some of the 32-bit service UUIDs (1.1).
    public static let incompleteServiceUUIDs32 = Self(0x04)
    /// All 32-bit service UUIDs (1.1).
    public static let completeServiceUUIDs32 = Self(0x05)
    /// Some of the 128-bit service UUIDs (1.1).
    public static let incompleteServiceUUIDs128 = Self(0x06)
    /// All 128-bit service UUIDs (1.1).
    public static let completeServiceUUIDs128 = Self(0x07)
    /// The beginning of the name (1.2).
    public static let shortenedLocalName = Self(0x08)
    /// The complete name of the device (1.2).
    public static let completeLocalName = Self(0x09)
    /// The transmit power, in dBm (1.5).
    public static let txPowerLevel = Self(0x0a)
    /// BR/EDR class of device (1.6).
    public static let classOfDevice = Self(0x0d)
    /// BR/EDR pairing hash, P-192 (1.6).
    public static let simplePairingHashC192 = Self(0x0e)
    /// BR/EDR pairing randomizer, P-192 (1.6).
    public static let simplePairingRandomizerR192 = Self(0x0f)
    /// The TK of LE legacy pairing in out-of-band data (1.8). In extended inquiry responses the same number
    /// is the Device ID.
    public static let securityManagerTKValue = Self(0x10)
    /// The available out-of-band data of LE pairing (1.7).
    public static let securityManagerOutOfBandFlags = Self(0x11)
    /// The connection intervals that the peripheral prefers (1.9).
    public static let peripheralConnectionIntervalRange = Self(0x12)
    /// 16-bit UUIDs of services that the sender searches for (1.10).
    public static let solicitedServiceUUIDs16 = Self(0x14)
    /// 128-bit UUIDs of services that the sender searches for (1.10).
    public static let solicitedServiceUUIDs128 = Self(0x15)
    /// Data of a service with a 16-bit UUID (1.11).
    public static let serviceData16 = Self(0x16)
    /// The public addresses of the devices that the advertisement is directed at (1.13).
    public static let publicTargetAddress = Self(0x17)
    /// The random addresses of the devices that the advertisement is directed at (1.14).
    public static let randomTargetAddress = Self(0x18)
    /// The appearance of the device (1.12).
    public static let appearance = Self(0x19)
    /// The advertising interval in two octets (1.15).
    public static let advertisingInterval = Self(0x1a)
    /// The sender's address, in out-of-band data (1.16).
    public static let leBluetoothDeviceAddress = Self(0x1b)
    /// The roles of the sender, in out-of-band data (1.17).
    public static let leRole = Self(0x1c)
    /// BR/EDR pairing hash, P-256 (1.6).
    public static let simplePairingHashC256 = Self(0x1d)
    /// BR/EDR pairing randomizer, P-256 (1.6).
    public static let simplePairingRandomizerR256 = Self(0x1e)
    /// 32-bit UUIDs of services that the sender searches for (1.10).
    public static let solicitedServiceUUIDs32 = Self(0x1f)
    /// Data of a service with a 32-bit UUID (1.11).
    public static let serviceData32 = Self(0x20)
    /// Data of a service with a 128-bit UUID (1.11).
    public static let serviceData128 = Self(0x21)
    /// The confirmation value of LE Secure Connections, in out-of-band data (1.7).
    public static let secureConnectionsConfirmation = Self(0x22)
    /// The random value of LE Secure Connections, in out-of-band data (1.7).
    public static let secureConnectionsRandom = Self(0x23)
    /// A URI whose scheme is one code point (1.18).
    public static let uri = Self(0x24)
    /// The location of the device (Indoor Positioning Service).
    public static let indoorPositioning = Self(0x25)
    /// Services on other transports (Transport Discovery Service).
    public static let transportDiscoveryData = Self(0x26)
    /// Link Layer features (1.19).
    public static let leSupportedFeatures = Self(0x27)
    /// A new channel map of a periodic train (1.20).
    public static let channelMapUpdateIndication = Self(0x28)
    /// Mesh provisioning bearer (Mesh Protocol).
    public static let pbADV = Self(0x29)
    /// Mesh network PDU (Mesh Protocol).
    public static let meshMessage = Self(0x2a)
    /// Mesh beacon (Mesh Protocol).
    public static let meshBeacon = Self(0x2b)
    /// The parameters for receiving a broadcast isochronous group (1.21).
    public static let bigInfo = Self(0x2c)
    /// The code that decrypts a broadcast isochronous group (1.22).
    public static let broadcastCode = Self(0x2d)
    /// The coordinated set of the device (Coordinated Set Identification Service).
    public static let resolvableSetIdentifier = Self(0x2e)
    /// The advertising interval in three or four octets (1.15).
    public static let advertisingIntervalLong = Self(0x2f)
    /// The name of an audio broadcast (Public Broadcast Profile).
    public static let broadcastName = Self(0x30)
    /// Other fields, encrypted (1.23).
    public static let encryptedAdvertisingData = Self(0x31)
    /// The timing of responses to a periodic train (1.24).
    public static let periodicAdvertisingResponseTiming = Self(0x32)
    /// Commands to shelf labels and their responses (Electronic Shelf Label Profile).
    public static let electronicShelfLabel = Self(0x34)
    /// The features of a 3D display (3D Synchronization Profile).
    public static let threeDInformation = Self(0x3d)
    /// Data in a format that the company of the leading identifier defines (1.4).
    public static let manufacturerSpecificData = Self(0xff)
}

extension AdvertisingDataType: CustomStringConvertible {
    /// The name in Assigned Numbers, 2.3, if the type is assigned.
    public var name: String? { Self.names[rawValue] }

    /// The name of the type, or its number as `0x99`.
    public var description: String { name ?? "0x" + rawValue.hex }

    /// Every type that Assigned Numbers lists, in the order of the numbers.
    package static var assigned: [AdvertisingDataType] { names.keys.sorted().map { Self($0) } }

    private static let names: [UInt8: String] = [
        0x01: "Flags",
        0x02: "Incomplete List of 16-bit Service Class UUIDs",
        0x03: "Complete List of 16-bit Service Class UUIDs",
        0x04: "Incomplete List of 32-bit Service Class UUIDs",
        0x05: "Complete List of 32-bit Service Class UUIDs",
        0x06: "Incomplete List of 128-bit Service Class UUIDs",
        0x07: "Complete List of 128-bit Service Class UUIDs",
        0x08: "Shortened Local Name",
        0x09: "Complete Local Name",
        0x0a: "Tx Power Level",
        0x0d: "Class of Device",
        0x0e: "Simple Pairing Hash C-192",
        0x0f: "Simple Pairing Randomizer R-192",
        0x10: "Security Manager TK Value",
        0x11: "Security Manager Out of Band Flags",
        0x12: "Peripheral Connection Interval Range",
        0x14: "List of 16-bit Service Solicitation UUIDs",
        0x15: "List of 128-bit Service Solicitation UUIDs",
        0x16: "Service Data - 16-bit UUID",
        0x17: "Public Target Address",
        0x18: "Random Target Address",
        0x19: "Appearance",
        0x1a: "Advertising Interval",
        0x1b: "LE Bluetooth Device Address",
        0x1c: "LE Role",
        0x1d: "Simple Pairing Hash C-256",
        0x1e: "Simple Pairing Randomizer R-256",
        0x1f: "List of 32-bit Service Solicitation UUIDs",
        0x20: "Service Data - 32-bit UUID",
        0x21: "Service Data - 128-bit UUID",
        0x22: "LE Secure Connections Confirmation Value",
        0x23: "LE Secure Connections Random Value",
        0x24: "URI",
        0x25: "Indoor Positioning",
        0x26: "Transport Discovery Data",
        0x27: "LE Supported Features",
        0x28: "Channel Map Update Indication",
        0x29: "PB-ADV",
        0x2a: "Mesh Message",
        0x2b: "Mesh Beacon",
        0x2c: "BIGInfo",
        0x2d: "Broadcast_Code",
        0x2e: "Resolvable Set Identifier",
        0x2f: "Advertising Interval - long",
        0x30: "Broadcast_Name",
        0x31: "Encrypted Advertising Data",
        0x32: "Periodic Advertising Response Timing Information",
        0x34: "Electronic Shelf Label",
        0x3d: "3D Information Data",
        0xff: "Manufacturer Specific Data",
    ]
}
