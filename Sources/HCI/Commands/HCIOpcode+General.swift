/// The commands for every controller that a Low Energy host uses, with their sections in the Core
/// Specification 5.4, Vol 4, Part E.
extension HCIOpcode {
    /// The Disconnect command, section 7.1.6.
    package static let disconnect = HCIOpcode(rawValue: 0x0406)
    /// Read Remote Version Information, 7.1.23.
    package static let readRemoteVersionInformation = HCIOpcode(rawValue: 0x041d)
    /// Set Event Mask, 7.3.1.
    package static let setEventMask = HCIOpcode(rawValue: 0x0c01)
    /// The Reset command, section 7.3.2.
    package static let reset = HCIOpcode(rawValue: 0x0c03)
    /// Write Local Name, 7.3.11.
    package static let writeLocalName = HCIOpcode(rawValue: 0x0c13)
    /// Read Local Name, 7.3.12.
    package static let readLocalName = HCIOpcode(rawValue: 0x0c14)
    /// Write Scan Enable, 7.3.18.
    package static let writeScanEnable = HCIOpcode(rawValue: 0x0c1a)
    /// Read Class of Device, 7.3.25.
    package static let readClassOfDevice = HCIOpcode(rawValue: 0x0c23)
    /// Write Class of Device, 7.3.26.
    package static let writeClassOfDevice = HCIOpcode(rawValue: 0x0c24)
    /// Read Transmit Power Level, 7.3.35.
    package static let readTransmitPowerLevel = HCIOpcode(rawValue: 0x0c2d)
    /// Set Controller To Host Flow Control, 7.3.38.
    package static let setControllerToHostFlowControl = HCIOpcode(rawValue: 0x0c31)
    /// Host Buffer Size, 7.3.39.
    package static let hostBufferSize = HCIOpcode(rawValue: 0x0c33)
    /// Host Number Of Completed Packets, 7.3.40.
    package static let hostNumberOfCompletedPackets = HCIOpcode(rawValue: 0x0c35)
    /// Write Simple Pairing Mode, 7.3.59.
    package static let writeSimplePairingMode = HCIOpcode(rawValue: 0x0c56)
    /// Set Event Mask Page 2, 7.3.69.
    package static let setEventMaskPage2 = HCIOpcode(rawValue: 0x0c63)
    /// Read LE Host Support, 7.3.78.
    package static let readLEHostSupport = HCIOpcode(rawValue: 0x0c6c)
    /// Write LE Host Support, 7.3.79.
    package static let writeLEHostSupport = HCIOpcode(rawValue: 0x0c6d)
    /// Write Secure Connections Host Support, 7.3.92.
    package static let writeSecureConnectionsHostSupport = HCIOpcode(rawValue: 0x0c7a)
    /// Read Authenticated Payload Timeout, 7.3.93.
    package static let readAuthenticatedPayloadTimeout = HCIOpcode(rawValue: 0x0c7b)
    /// Write Authenticated Payload Timeout, 7.3.94.
    package static let writeAuthenticatedPayloadTimeout = HCIOpcode(rawValue: 0x0c7c)
    /// Read Local Version Information, 7.4.1.
    package static let readLocalVersionInformation = HCIOpcode(rawValue: 0x1001)
    /// Read Local Supported Commands, 7.4.2.
    package static let readLocalSupportedCommands = HCIOpcode(rawValue: 0x1002)
    /// Read Local Supported Features, 7.4.3.
    package static let readLocalSupportedFeatures = HCIOpcode(rawValue: 0x1003)
    /// Read Local Extended Features, 7.4.4.
    package static let readLocalExtendedFeatures = HCIOpcode(rawValue: 0x1004)
    /// Read Buffer Size, 7.4.5.
    package static let readBufferSize = HCIOpcode(rawValue: 0x1005)
    /// The Read BD_ADDR command, section 7.4.6.
    package static let readBDADDR = HCIOpcode(rawValue: 0x1009)
    /// The Read RSSI command, section 7.5.4.
    package static let readRSSI = HCIOpcode(rawValue: 0x1405)
    /// Read Encryption Key Size, 7.5.7.
    package static let readEncryptionKeySize = HCIOpcode(rawValue: 0x1408)
}
