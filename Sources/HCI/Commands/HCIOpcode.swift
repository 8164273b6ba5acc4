import BLECore

/// The opcode of a command: a group in the upper 6 bits, and a command in that group in the lower 10 (Core
/// Specification 5.4, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: HCICode {
    /// The group (OGF, 6 bits) and the command in it (OCF, 10 bits).
    public let rawValue: UInt16

    /// Creates an opcode: the OGF in the upper 6 bits and the OCF in the lower 10 (Vol 4, Part E, 5.4.1).
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates the opcode of command `ocf` (10 bits) in group `ogf` (6 bits); higher bits are ignored.
    package init(ogf: UInt8, ocf: UInt16) {
        rawValue = UInt16(ogf & 0x3f) << 10 | ocf & 0x03ff
    }

    /// The group (opcode group field); 0x08 is Low Energy, 0x3f is vendor-specific.
    package var ogf: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 10) }

    /// The command within the group (opcode command field).
    package var ocf: UInt16 { rawValue & 0x03ff }

    /// The opcode that stands for no command: a controller uses it to grant command credits (4.4).
    package static let none = HCIOpcode(rawValue: 0x0000)
}

extension HCIOpcode: CustomStringConvertible {
    /// The name in the specification, "LE Set Scan Enable", or the number, "0xfc01".
    public var description: String { Self.names[self] ?? Self.namesOfOthers[rawValue] ?? "0x" + rawValue.hex }
}

/// The general commands that a Low Energy host uses, with their sections in the Core Specification 5.4, Vol
/// 4, Part E.
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

/// The Low Energy commands (OGF 0x08), with their sections in the Core Specification 5.4, Vol 4, Part E.
extension HCIOpcode {
    /// LE Set Event Mask, 7.8.1.
    package static let leSetEventMask = HCIOpcode(rawValue: 0x2001)
    /// LE Read Buffer Size [v1], 7.8.2.
    package static let leReadBufferSize = HCIOpcode(rawValue: 0x2002)
    /// LE Read Local Supported Features, 7.8.3.
    package static let leReadLocalSupportedFeatures = HCIOpcode(rawValue: 0x2003)
    /// LE Set Random Address, 7.8.4.
    package static let leSetRandomAddress = HCIOpcode(rawValue: 0x2005)
    /// LE Set Advertising Parameters, 7.8.5.
    package static let leSetAdvertisingParameters = HCIOpcode(rawValue: 0x2006)
    /// LE Read Advertising Physical Channel Tx Power, 7.8.6.
    package static let leReadAdvertisingPhysicalChannelTxPower = HCIOpcode(rawValue: 0x2007)
    /// LE Set Advertising Data, 7.8.7.
    package static let leSetAdvertisingData = HCIOpcode(rawValue: 0x2008)
    /// LE Set Scan Response Data, 7.8.8.
    package static let leSetScanResponseData = HCIOpcode(rawValue: 0x2009)
    /// LE Set Advertising Enable, 7.8.9.
    package static let leSetAdvertisingEnable = HCIOpcode(rawValue: 0x200a)
    /// LE Set Scan Parameters, 7.8.10.
    package static let leSetScanParameters = HCIOpcode(rawValue: 0x200b)
    /// LE Set Scan Enable, 7.8.11.
    package static let leSetScanEnable = HCIOpcode(rawValue: 0x200c)
    /// LE Create Connection, 7.8.12.
    package static let leCreateConnection = HCIOpcode(rawValue: 0x200d)
    /// LE Create Connection Cancel, 7.8.13.
    package static let leCreateConnectionCancel = HCIOpcode(rawValue: 0x200e)
    /// LE Read Filter Accept List Size, 7.8.14.
    package static let leReadFilterAcceptListSize = HCIOpcode(rawValue: 0x200f)
    /// LE Clear Filter Accept List, 7.8.15.
    package static let leClearFilterAcceptList = HCIOpcode(rawValue: 0x2010)
    /// LE Add Device To Filter Accept List, 7.8.16.
    package static let leAddDeviceToFilterAcceptList = HCIOpcode(rawValue: 0x2011)
    /// LE Remove Device From Filter Accept List, 7.8.17.
    package static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(rawValue: 0x2012)
    /// LE Connection Update, 7.8.18.
    package static let leConnectionUpdate = HCIOpcode(rawValue: 0x2013)
    /// LE Set Host Channel Classification, 7.8.19.
    package static let leSetHostChannelClassification = HCIOpcode(rawValue: 0x2014)
    /// LE Read Channel Map, 7.8.20.
    package static let leReadChannelMap = HCIOpcode(rawValue: 0x2015)
    /// LE Read Remote Features, 7.8.21.
    package static let leReadRemoteFeatures = HCIOpcode(rawValue: 0x2016)
    /// The LE Encrypt command, section 7.8.22.
    package static let leEncrypt = HCIOpcode(rawValue: 0x2017)
    /// The LE Rand command, section 7.8.23.
    package static let leRand = HCIOpcode(rawValue: 0x2018)
    /// LE Enable Encryption, 7.8.24.
    package static let leEnableEncryption = HCIOpcode(rawValue: 0x2019)
    /// LE Long Term Key Request Reply, 7.8.25.
    package static let leLongTermKeyRequestReply = HCIOpcode(rawValue: 0x201a)
    /// LE Long Term Key Request Negative Reply, 7.8.26.
    package static let leLongTermKeyRequestNegativeReply = HCIOpcode(rawValue: 0x201b)
    /// LE Read Supported States, 7.8.27.
    package static let leReadSupportedStates = HCIOpcode(rawValue: 0x201c)
    /// LE Receiver Test [v1], 7.8.28.
    package static let leReceiverTest = HCIOpcode(rawValue: 0x201d)
    /// LE Transmitter Test [v1], 7.8.29.
    package static let leTransmitterTest = HCIOpcode(rawValue: 0x201e)
    /// LE Test End, 7.8.30.
    package static let leTestEnd = HCIOpcode(rawValue: 0x201f)
    /// LE Remote Connection Parameter Request Reply, 7.8.31.
    package static let leRemoteConnectionParameterRequestReply = HCIOpcode(rawValue: 0x2020)
    /// LE Remote Connection Parameter Request Negative Reply, 7.8.32.
    package static let leRemoteConnectionParameterRequestNegativeReply = HCIOpcode(rawValue: 0x2021)
    /// LE Set Data Length, 7.8.33.
    package static let leSetDataLength = HCIOpcode(rawValue: 0x2022)
    /// LE Read Suggested Default Data Length, 7.8.34.
    package static let leReadSuggestedDefaultDataLength = HCIOpcode(rawValue: 0x2023)
    /// LE Write Suggested Default Data Length, 7.8.35.
    package static let leWriteSuggestedDefaultDataLength = HCIOpcode(rawValue: 0x2024)
    /// LE Read Local P-256 Public Key, 7.8.36.
    package static let leReadLocalP256PublicKey = HCIOpcode(rawValue: 0x2025)
    /// LE Generate DHKey [v1], 7.8.37.
    package static let leGenerateDHKey = HCIOpcode(rawValue: 0x2026)
    /// LE Add Device To Resolving List, 7.8.38.
    package static let leAddDeviceToResolvingList = HCIOpcode(rawValue: 0x2027)
    /// LE Remove Device From Resolving List, 7.8.39.
    package static let leRemoveDeviceFromResolvingList = HCIOpcode(rawValue: 0x2028)
    /// LE Clear Resolving List, 7.8.40.
    package static let leClearResolvingList = HCIOpcode(rawValue: 0x2029)
    /// LE Read Resolving List Size, 7.8.41.
    package static let leReadResolvingListSize = HCIOpcode(rawValue: 0x202a)
    /// LE Read Peer Resolvable Address, 7.8.42.
    package static let leReadPeerResolvableAddress = HCIOpcode(rawValue: 0x202b)
    /// LE Read Local Resolvable Address, 7.8.43.
    package static let leReadLocalResolvableAddress = HCIOpcode(rawValue: 0x202c)
    /// LE Set Address Resolution Enable, 7.8.44.
    package static let leSetAddressResolutionEnable = HCIOpcode(rawValue: 0x202d)
    /// LE Set Resolvable Private Address Timeout, 7.8.45.
    package static let leSetResolvablePrivateAddressTimeout = HCIOpcode(rawValue: 0x202e)
    /// LE Read Maximum Data Length, 7.8.46.
    package static let leReadMaximumDataLength = HCIOpcode(rawValue: 0x202f)
    /// LE Read PHY, 7.8.47.
    package static let leReadPHY = HCIOpcode(rawValue: 0x2030)
    /// LE Set Default PHY, 7.8.48.
    package static let leSetDefaultPHY = HCIOpcode(rawValue: 0x2031)
    /// LE Set PHY, 7.8.49.
    package static let leSetPHY = HCIOpcode(rawValue: 0x2032)
    /// LE Receiver Test [v2], 7.8.28.
    package static let leReceiverTestV2 = HCIOpcode(rawValue: 0x2033)
    /// LE Transmitter Test [v2], 7.8.29.
    package static let leTransmitterTestV2 = HCIOpcode(rawValue: 0x2034)
    /// LE Set Advertising Set Random Address, 7.8.52.
    package static let leSetAdvertisingSetRandomAddress = HCIOpcode(rawValue: 0x2035)
    /// LE Set Extended Advertising Parameters [v1], 7.8.53.
    package static let leSetExtendedAdvertisingParameters = HCIOpcode(rawValue: 0x2036)
    /// LE Set Extended Advertising Data, 7.8.54.
    package static let leSetExtendedAdvertisingData = HCIOpcode(rawValue: 0x2037)
    /// LE Set Extended Scan Response Data, 7.8.55.
    package static let leSetExtendedScanResponseData = HCIOpcode(rawValue: 0x2038)
    /// LE Set Extended Advertising Enable, 7.8.56.
    package static let leSetExtendedAdvertisingEnable = HCIOpcode(rawValue: 0x2039)
    /// LE Read Maximum Advertising Data Length, 7.8.57.
    package static let leReadMaximumAdvertisingDataLength = HCIOpcode(rawValue: 0x203a)
    /// LE Read Number of Supported Advertising Sets, 7.8.58.
    package static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(rawValue: 0x203b)
    /// LE Remove Advertising Set, 7.8.59.
    package static let leRemoveAdvertisingSet = HCIOpcode(rawValue: 0x203c)
    /// LE Clear Advertising Sets, 7.8.60.
    package static let leClearAdvertisingSets = HCIOpcode(rawValue: 0x203d)
    /// LE Set Periodic Advertising Parameters [v1], 7.8.61.
    package static let leSetPeriodicAdvertisingParameters = HCIOpcode(rawValue: 0x203e)
    /// LE Set Periodic Advertising Data, 7.8.62.
    package static let leSetPeriodicAdvertisingData = HCIOpcode(rawValue: 0x203f)
    /// LE Set Periodic Advertising Enable, 7.8.63.
    package static let leSetPeriodicAdvertisingEnable = HCIOpcode(rawValue: 0x2040)
    /// LE Set Extended Scan Parameters, 7.8.64.
    package static let leSetExtendedScanParameters = HCIOpcode(rawValue: 0x2041)
    /// LE Set Extended Scan Enable, 7.8.65.
    package static let leSetExtendedScanEnable = HCIOpcode(rawValue: 0x2042)
    /// LE Extended Create Connection [v1], 7.8.66.
    package static let leExtendedCreateConnection = HCIOpcode(rawValue: 0x2043)
    /// LE Periodic Advertising Create Sync, 7.8.67.
    package static let lePeriodicAdvertisingCreateSync = HCIOpcode(rawValue: 0x2044)
    /// LE Periodic Advertising Create Sync Cancel, 7.8.68.
    package static let lePeriodicAdvertisingCreateSyncCancel = HCIOpcode(rawValue: 0x2045)
    /// LE Periodic Advertising Terminate Sync, 7.8.69.
    package static let lePeriodicAdvertisingTerminateSync = HCIOpcode(rawValue: 0x2046)
    /// LE Add Device To Periodic Advertiser List, 7.8.70.
    package static let leAddDeviceToPeriodicAdvertiserList = HCIOpcode(rawValue: 0x2047)
    /// LE Remove Device From Periodic Advertiser List, 7.8.71.
    package static let leRemoveDeviceFromPeriodicAdvertiserList = HCIOpcode(rawValue: 0x2048)
    /// LE Clear Periodic Advertiser List, 7.8.72.
    package static let leClearPeriodicAdvertiserList = HCIOpcode(rawValue: 0x2049)
    /// LE Read Periodic Advertiser List Size, 7.8.73.
    package static let leReadPeriodicAdvertiserListSize = HCIOpcode(rawValue: 0x204a)
    /// LE Read Transmit Power, 7.8.74.
    package static let leReadTransmitPower = HCIOpcode(rawValue: 0x204b)
    /// LE Read RF Path Compensation, 7.8.75.
    package static let leReadRFPathCompensation = HCIOpcode(rawValue: 0x204c)
    /// LE Write RF Path Compensation, 7.8.76.
    package static let leWriteRFPathCompensation = HCIOpcode(rawValue: 0x204d)
    /// LE Set Privacy Mode, 7.8.77.
    package static let leSetPrivacyMode = HCIOpcode(rawValue: 0x204e)
    /// LE Receiver Test [v3], 7.8.28.
    package static let leReceiverTestV3 = HCIOpcode(rawValue: 0x204f)
    /// LE Transmitter Test [v3], 7.8.29.
    package static let leTransmitterTestV3 = HCIOpcode(rawValue: 0x2050)
    /// LE Set Connectionless CTE Transmit Parameters, 7.8.80.
    package static let leSetConnectionlessCTETransmitParameters = HCIOpcode(rawValue: 0x2051)
    /// LE Set Connectionless CTE Transmit Enable, 7.8.81.
    package static let leSetConnectionlessCTETransmitEnable = HCIOpcode(rawValue: 0x2052)
    /// LE Set Connectionless IQ Sampling Enable, 7.8.82.
    package static let leSetConnectionlessIQSamplingEnable = HCIOpcode(rawValue: 0x2053)
    /// LE Set Connection CTE Receive Parameters, 7.8.83.
    package static let leSetConnectionCTEReceiveParameters = HCIOpcode(rawValue: 0x2054)
    /// LE Set Connection CTE Transmit Parameters, 7.8.84.
    package static let leSetConnectionCTETransmitParameters = HCIOpcode(rawValue: 0x2055)
    /// LE Connection CTE Request Enable, 7.8.85.
    package static let leConnectionCTERequestEnable = HCIOpcode(rawValue: 0x2056)
    /// LE Connection CTE Response Enable, 7.8.86.
    package static let leConnectionCTEResponseEnable = HCIOpcode(rawValue: 0x2057)
    /// LE Read Antenna Information, 7.8.87.
    package static let leReadAntennaInformation = HCIOpcode(rawValue: 0x2058)
    /// LE Set Periodic Advertising Receive Enable, 7.8.88.
    package static let leSetPeriodicAdvertisingReceiveEnable = HCIOpcode(rawValue: 0x2059)
    /// LE Periodic Advertising Sync Transfer, 7.8.89.
    package static let lePeriodicAdvertisingSyncTransfer = HCIOpcode(rawValue: 0x205a)
    /// LE Periodic Advertising Set Info Transfer, 7.8.90.
    package static let lePeriodicAdvertisingSetInfoTransfer = HCIOpcode(rawValue: 0x205b)
    /// LE Set Periodic Advertising Sync Transfer Parameters, 7.8.91.
    package static let leSetPeriodicAdvertisingSyncTransferParameters = HCIOpcode(rawValue: 0x205c)
    /// LE Set Default Periodic Advertising Sync Transfer Parameters, 7.8.92.
    package static let leSetDefaultPeriodicAdvertisingSyncTransferParameters = HCIOpcode(rawValue: 0x205d)
    /// LE Generate DHKey [v2], 7.8.37.
    package static let leGenerateDHKeyV2 = HCIOpcode(rawValue: 0x205e)
    /// LE Modify Sleep Clock Accuracy, 7.8.94.
    package static let leModifySleepClockAccuracy = HCIOpcode(rawValue: 0x205f)
    /// LE Read Buffer Size [v2], 7.8.2.
    package static let leReadBufferSizeV2 = HCIOpcode(rawValue: 0x2060)
    /// LE Read ISO TX Sync, 7.8.96.
    package static let leReadISOTXSync = HCIOpcode(rawValue: 0x2061)
    /// LE Set CIG Parameters, 7.8.97.
    package static let leSetCIGParameters = HCIOpcode(rawValue: 0x2062)
    /// LE Set CIG Parameters Test, 7.8.98.
    package static let leSetCIGParametersTest = HCIOpcode(rawValue: 0x2063)
    /// LE Create CIS, 7.8.99.
    package static let leCreateCIS = HCIOpcode(rawValue: 0x2064)
    /// LE Remove CIG, 7.8.100.
    package static let leRemoveCIG = HCIOpcode(rawValue: 0x2065)
    /// LE Accept CIS Request, 7.8.101.
    package static let leAcceptCISRequest = HCIOpcode(rawValue: 0x2066)
    /// LE Reject CIS Request, 7.8.102.
    package static let leRejectCISRequest = HCIOpcode(rawValue: 0x2067)
    /// LE Create BIG, 7.8.103.
    package static let leCreateBIG = HCIOpcode(rawValue: 0x2068)
    /// LE Create BIG Test, 7.8.104.
    package static let leCreateBIGTest = HCIOpcode(rawValue: 0x2069)
    /// LE Terminate BIG, 7.8.105.
    package static let leTerminateBIG = HCIOpcode(rawValue: 0x206a)
    /// LE BIG Create Sync, 7.8.106.
    package static let leBIGCreateSync = HCIOpcode(rawValue: 0x206b)
    /// LE BIG Terminate Sync, 7.8.107.
    package static let leBIGTerminateSync = HCIOpcode(rawValue: 0x206c)
    /// LE Request Peer SCA, 7.8.108.
    package static let leRequestPeerSCA = HCIOpcode(rawValue: 0x206d)
    /// LE Setup ISO Data Path, 7.8.109.
    package static let leSetupISODataPath = HCIOpcode(rawValue: 0x206e)
    /// LE Remove ISO Data Path, 7.8.110.
    package static let leRemoveISODataPath = HCIOpcode(rawValue: 0x206f)
    /// LE ISO Transmit Test, 7.8.111.
    package static let leISOTransmitTest = HCIOpcode(rawValue: 0x2070)
    /// LE ISO Receive Test, 7.8.112.
    package static let leISOReceiveTest = HCIOpcode(rawValue: 0x2071)
    /// LE ISO Read Test Counters, 7.8.113.
    package static let leISOReadTestCounters = HCIOpcode(rawValue: 0x2072)
    /// LE ISO Test End, 7.8.114.
    package static let leISOTestEnd = HCIOpcode(rawValue: 0x2073)
    /// LE Set Host Feature, 7.8.115.
    package static let leSetHostFeature = HCIOpcode(rawValue: 0x2074)
    /// LE Read ISO Link Quality, 7.8.116.
    package static let leReadISOLinkQuality = HCIOpcode(rawValue: 0x2075)
    /// LE Enhanced Read Transmit Power Level, 7.8.117.
    package static let leEnhancedReadTransmitPowerLevel = HCIOpcode(rawValue: 0x2076)
    /// LE Read Remote Transmit Power Level, 7.8.118.
    package static let leReadRemoteTransmitPowerLevel = HCIOpcode(rawValue: 0x2077)
    /// LE Set Path Loss Reporting Parameters, 7.8.119.
    package static let leSetPathLossReportingParameters = HCIOpcode(rawValue: 0x2078)
    /// LE Set Path Loss Reporting Enable, 7.8.120.
    package static let leSetPathLossReportingEnable = HCIOpcode(rawValue: 0x2079)
    /// LE Set Transmit Power Reporting Enable, 7.8.121.
    package static let leSetTransmitPowerReportingEnable = HCIOpcode(rawValue: 0x207a)
    /// LE Transmitter Test [v4], 7.8.29.
    package static let leTransmitterTestV4 = HCIOpcode(rawValue: 0x207b)
    /// LE Set Data Related Address Changes, 7.8.122.
    package static let leSetDataRelatedAddressChanges = HCIOpcode(rawValue: 0x207c)
    /// LE Set Default Subrate, 7.8.123.
    package static let leSetDefaultSubrate = HCIOpcode(rawValue: 0x207d)
    /// LE Subrate Request, 7.8.124.
    package static let leSubrateRequest = HCIOpcode(rawValue: 0x207e)
    /// LE Set Extended Advertising Parameters [v2], 7.8.53.
    package static let leSetExtendedAdvertisingParametersV2 = HCIOpcode(rawValue: 0x207f)
    /// LE Set Periodic Advertising Subevent Data, 7.8.125.
    package static let leSetPeriodicAdvertisingSubeventData = HCIOpcode(rawValue: 0x2082)
    /// LE Set Periodic Advertising Response Data, 7.8.126.
    package static let leSetPeriodicAdvertisingResponseData = HCIOpcode(rawValue: 0x2083)
    /// LE Set Periodic Sync Subevent, 7.8.127.
    package static let leSetPeriodicSyncSubevent = HCIOpcode(rawValue: 0x2084)
    /// LE Extended Create Connection [v2], 7.8.66.
    package static let leExtendedCreateConnectionV2 = HCIOpcode(rawValue: 0x2085)
    /// LE Set Periodic Advertising Parameters [v2], 7.8.61.
    package static let leSetPeriodicAdvertisingParametersV2 = HCIOpcode(rawValue: 0x2086)
}

extension HCIOpcode {
    /// The names of the commands above in the specification.
    private static let names: [HCIOpcode: String] = [
        .disconnect: "Disconnect",
        .readRemoteVersionInformation: "Read Remote Version Information",
        .setEventMask: "Set Event Mask",
        .reset: "Reset",
        .writeLocalName: "Write Local Name",
        .readLocalName: "Read Local Name",
        .writeScanEnable: "Write Scan Enable",
        .readClassOfDevice: "Read Class of Device",
        .writeClassOfDevice: "Write Class of Device",
        .readTransmitPowerLevel: "Read Transmit Power Level",
        .setControllerToHostFlowControl: "Set Controller To Host Flow Control",
        .hostBufferSize: "Host Buffer Size",
        .hostNumberOfCompletedPackets: "Host Number Of Completed Packets",
        .writeSimplePairingMode: "Write Simple Pairing Mode",
        .setEventMaskPage2: "Set Event Mask Page 2",
        .readLEHostSupport: "Read LE Host Support",
        .writeLEHostSupport: "Write LE Host Support",
        .writeSecureConnectionsHostSupport: "Write Secure Connections Host Support",
        .readAuthenticatedPayloadTimeout: "Read Authenticated Payload Timeout",
        .writeAuthenticatedPayloadTimeout: "Write Authenticated Payload Timeout",
        .readLocalVersionInformation: "Read Local Version Information",
        .readLocalSupportedCommands: "Read Local Supported Commands",
        .readLocalSupportedFeatures: "Read Local Supported Features",
        .readLocalExtendedFeatures: "Read Local Extended Features",
        .readBufferSize: "Read Buffer Size",
        .readBDADDR: "Read BD_ADDR",
        .readRSSI: "Read RSSI",
        .readEncryptionKeySize: "Read Encryption Key Size",
        .leSetEventMask: "LE Set Event Mask",
        .leReadBufferSize: "LE Read Buffer Size [v1]",
        .leReadLocalSupportedFeatures: "LE Read Local Supported Features",
        .leSetRandomAddress: "LE Set Random Address",
        .leSetAdvertisingParameters: "LE Set Advertising Parameters",
        .leReadAdvertisingPhysicalChannelTxPower: "LE Read Advertising Physical Channel Tx Power",
        .leSetAdvertisingData: "LE Set Advertising Data",
        .leSetScanResponseData: "LE Set Scan Response Data",
        .leSetAdvertisingEnable: "LE Set Advertising Enable",
        .leSetScanParameters: "LE Set Scan Parameters",
        .leSetScanEnable: "LE Set Scan Enable",
        .leCreateConnection: "LE Create Connection",
        .leCreateConnectionCancel: "LE Create Connection Cancel",
        .leReadFilterAcceptListSize: "LE Read Filter Accept List Size",
        .leClearFilterAcceptList: "LE Clear Filter Accept List",
        .leAddDeviceToFilterAcceptList: "LE Add Device To Filter Accept List",
        .leRemoveDeviceFromFilterAcceptList: "LE Remove Device From Filter Accept List",
        .leConnectionUpdate: "LE Connection Update",
        .leSetHostChannelClassification: "LE Set Host Channel Classification",
        .leReadChannelMap: "LE Read Channel Map",
        .leReadRemoteFeatures: "LE Read Remote Features",
        .leEncrypt: "LE Encrypt",
        .leRand: "LE Rand",
        .leEnableEncryption: "LE Enable Encryption",
        .leLongTermKeyRequestReply: "LE Long Term Key Request Reply",
        .leLongTermKeyRequestNegativeReply: "LE Long Term Key Request Negative Reply",
        .leReadSupportedStates: "LE Read Supported States",
        .leReceiverTest: "LE Receiver Test [v1]",
        .leTransmitterTest: "LE Transmitter Test [v1]",
        .leTestEnd: "LE Test End",
        .leRemoteConnectionParameterRequestReply: "LE Remote Connection Parameter Request Reply",
        .leRemoteConnectionParameterRequestNegativeReply:
            "LE Remote Connection Parameter Request Negative Reply",
        .leSetDataLength: "LE Set Data Length",
        .leReadSuggestedDefaultDataLength: "LE Read Suggested Default Data Length",
        .leWriteSuggestedDefaultDataLength: "LE Write Suggested Default Data Length",
        .leReadLocalP256PublicKey: "LE Read Local P-256 Public Key",
        .leGenerateDHKey: "LE Generate DHKey [v1]",
        .leAddDeviceToResolvingList: "LE Add Device To Resolving List",
        .leRemoveDeviceFromResolvingList: "LE Remove Device From Resolving List",
        .leClearResolvingList: "LE Clear Resolving List",
        .leReadResolvingListSize: "LE Read Resolving List Size",
        .leReadPeerResolvableAddress: "LE Read Peer Resolvable Address",
        .leReadLocalResolvableAddress: "LE Read Local Resolvable Address",
        .leSetAddressResolutionEnable: "LE Set Address Resolution Enable",
        .leSetResolvablePrivateAddressTimeout: "LE Set Resolvable Private Address Timeout",
        .leReadMaximumDataLength: "LE Read Maximum Data Length",
        .leReadPHY: "LE Read PHY",
        .leSetDefaultPHY: "LE Set Default PHY",
        .leSetPHY: "LE Set PHY",
        .leReceiverTestV2: "LE Receiver Test [v2]",
        .leTransmitterTestV2: "LE Transmitter Test [v2]",
        .leSetAdvertisingSetRandomAddress: "LE Set Advertising Set Random Address",
        .leSetExtendedAdvertisingParameters: "LE Set Extended Advertising Parameters [v1]",
        .leSetExtendedAdvertisingData: "LE Set Extended Advertising Data",
        .leSetExtendedScanResponseData: "LE Set Extended Scan Response Data",
        .leSetExtendedAdvertisingEnable: "LE Set Extended Advertising Enable",
        .leReadMaximumAdvertisingDataLength: "LE Read Maximum Advertising Data Length",
        .leReadNumberOfSupportedAdvertisingSets: "LE Read Number of Supported Advertising Sets",
        .leRemoveAdvertisingSet: "LE Remove Advertising Set",
        .leClearAdvertisingSets: "LE Clear Advertising Sets",
        .leSetPeriodicAdvertisingParameters: "LE Set Periodic Advertising Parameters [v1]",
        .leSetPeriodicAdvertisingData: "LE Set Periodic Advertising Data",
        .leSetPeriodicAdvertisingEnable: "LE Set Periodic Advertising Enable",
        .leSetExtendedScanParameters: "LE Set Extended Scan Parameters",
        .leSetExtendedScanEnable: "LE Set Extended Scan Enable",
        .leExtendedCreateConnection: "LE Extended Create Connection [v1]",
        .lePeriodicAdvertisingCreateSync: "LE Periodic Advertising Create Sync",
        .lePeriodicAdvertisingCreateSyncCancel: "LE Periodic Advertising Create Sync Cancel",
        .lePeriodicAdvertisingTerminateSync: "LE Periodic Advertising Terminate Sync",
        .leAddDeviceToPeriodicAdvertiserList: "LE Add Device To Periodic Advertiser List",
        .leRemoveDeviceFromPeriodicAdvertiserList: "LE Remove Device From Periodic Advertiser List",
        .leClearPeriodicAdvertiserList: "LE Clear Periodic Advertiser List",
        .leReadPeriodicAdvertiserListSize: "LE Read Periodic Advertiser List Size",
        .leReadTransmitPower: "LE Read Transmit Power",
        .leReadRFPathCompensation: "LE Read RF Path Compensation",
        .leWriteRFPathCompensation: "LE Write RF Path Compensation",
        .leSetPrivacyMode: "LE Set Privacy Mode",
        .leReceiverTestV3: "LE Receiver Test [v3]",
        .leTransmitterTestV3: "LE Transmitter Test [v3]",
        .leSetConnectionlessCTETransmitParameters: "LE Set Connectionless CTE Transmit Parameters",
        .leSetConnectionlessCTETransmitEnable: "LE Set Connectionless CTE Transmit Enable",
        .leSetConnectionlessIQSamplingEnable: "LE Set Connectionless IQ Sampling Enable",
        .leSetConnectionCTEReceiveParameters: "LE Set Connection CTE Receive Parameters",
        .leSetConnectionCTETransmitParameters: "LE Set Connection CTE Transmit Parameters",
        .leConnectionCTERequestEnable: "LE Connection CTE Request Enable",
        .leConnectionCTEResponseEnable: "LE Connection CTE Response Enable",
        .leReadAntennaInformation: "LE Read Antenna Information",
        .leSetPeriodicAdvertisingReceiveEnable: "LE Set Periodic Advertising Receive Enable",
        .lePeriodicAdvertisingSyncTransfer: "LE Periodic Advertising Sync Transfer",
        .lePeriodicAdvertisingSetInfoTransfer: "LE Periodic Advertising Set Info Transfer",
        .leSetPeriodicAdvertisingSyncTransferParameters:
            "LE Set Periodic Advertising Sync Transfer Parameters",
        .leSetDefaultPeriodicAdvertisingSyncTransferParameters:
            "LE Set Default Periodic Advertising Sync Transfer Parameters",
        .leGenerateDHKeyV2: "LE Generate DHKey [v2]",
        .leModifySleepClockAccuracy: "LE Modify Sleep Clock Accuracy",
        .leReadBufferSizeV2: "LE Read Buffer Size [v2]",
        .leReadISOTXSync: "LE Read ISO TX Sync",
        .leSetCIGParameters: "LE Set CIG Parameters",
        .leSetCIGParametersTest: "LE Set CIG Parameters Test",
        .leCreateCIS: "LE Create CIS",
        .leRemoveCIG: "LE Remove CIG",
        .leAcceptCISRequest: "LE Accept CIS Request",
        .leRejectCISRequest: "LE Reject CIS Request",
        .leCreateBIG: "LE Create BIG",
        .leCreateBIGTest: "LE Create BIG Test",
        .leTerminateBIG: "LE Terminate BIG",
        .leBIGCreateSync: "LE BIG Create Sync",
        .leBIGTerminateSync: "LE BIG Terminate Sync",
        .leRequestPeerSCA: "LE Request Peer SCA",
        .leSetupISODataPath: "LE Setup ISO Data Path",
        .leRemoveISODataPath: "LE Remove ISO Data Path",
        .leISOTransmitTest: "LE ISO Transmit Test",
        .leISOReceiveTest: "LE ISO Receive Test",
        .leISOReadTestCounters: "LE ISO Read Test Counters",
        .leISOTestEnd: "LE ISO Test End",
        .leSetHostFeature: "LE Set Host Feature",
        .leReadISOLinkQuality: "LE Read ISO Link Quality",
        .leEnhancedReadTransmitPowerLevel: "LE Enhanced Read Transmit Power Level",
        .leReadRemoteTransmitPowerLevel: "LE Read Remote Transmit Power Level",
        .leSetPathLossReportingParameters: "LE Set Path Loss Reporting Parameters",
        .leSetPathLossReportingEnable: "LE Set Path Loss Reporting Enable",
        .leSetTransmitPowerReportingEnable: "LE Set Transmit Power Reporting Enable",
        .leTransmitterTestV4: "LE Transmitter Test [v4]",
        .leSetDataRelatedAddressChanges: "LE Set Data Related Address Changes",
        .leSetDefaultSubrate: "LE Set Default Subrate",
        .leSubrateRequest: "LE Subrate Request",
        .leSetExtendedAdvertisingParametersV2: "LE Set Extended Advertising Parameters [v2]",
        .leSetPeriodicAdvertisingSubeventData: "LE Set Periodic Advertising Subevent Data",
        .leSetPeriodicAdvertisingResponseData: "LE Set Periodic Advertising Response Data",
        .leSetPeriodicSyncSubevent: "LE Set Periodic Sync Subevent",
        .leExtendedCreateConnectionV2: "LE Extended Create Connection [v2]",
        .leSetPeriodicAdvertisingParametersV2: "LE Set Periodic Advertising Parameters [v2]",
    ]

    /// The names of the commands without a constant, because Low Energy does not use them (Core Specification
    /// 5.4, Vol 4, Part E, 7.1 to 7.6).
    private static let namesOfOthers: [UInt16: String] = [
        // A Command Status with this opcode only gives the host credits (7.7.15).
        0x0000: "NOP",
        0x0401: "Inquiry",
        0x0402: "Inquiry Cancel",
        0x0403: "Periodic Inquiry Mode",
        0x0404: "Exit Periodic Inquiry Mode",
        0x0405: "Create Connection",
        0x0408: "Create Connection Cancel",
        0x0409: "Accept Connection Request",
        0x040a: "Reject Connection Request",
        0x040b: "Link Key Request Reply",
        0x040c: "Link Key Request Negative Reply",
        0x040d: "PIN Code Request Reply",
        0x040e: "PIN Code Request Negative Reply",
        0x040f: "Change Connection Packet Type",
        0x0411: "Authentication Requested",
        0x0413: "Set Connection Encryption",
        0x0415: "Change Connection Link Key",
        0x0417: "Link Key Selection",
        0x0419: "Remote Name Request",
        0x041a: "Remote Name Request Cancel",
        0x041b: "Read Remote Supported Features",
        0x041c: "Read Remote Extended Features",
        0x041f: "Read Clock Offset",
        0x0420: "Read LMP Handle",
        0x0428: "Setup Synchronous Connection",
        0x0429: "Accept Synchronous Connection Request",
        0x042a: "Reject Synchronous Connection Request",
        0x042b: "IO Capability Request Reply",
        0x042c: "User Confirmation Request Reply",
        0x042d: "User Confirmation Request Negative Reply",
        0x042e: "User Passkey Request Reply",
        0x042f: "User Passkey Request Negative Reply",
        0x0430: "Remote OOB Data Request Reply",
        0x0433: "Remote OOB Data Request Negative Reply",
        0x0434: "IO Capability Request Negative Reply",
        0x043d: "Enhanced Setup Synchronous Connection",
        0x043e: "Enhanced Accept Synchronous Connection Request",
        0x043f: "Truncated Page",
        0x0440: "Truncated Page Cancel",
        0x0441: "Set Connectionless Peripheral Broadcast",
        0x0442: "Set Connectionless Peripheral Broadcast Receive",
        0x0443: "Start Synchronization Train",
        0x0444: "Receive Synchronization Train",
        0x0445: "Remote OOB Extended Data Request Reply",
        0x0801: "Hold Mode",
        0x0803: "Sniff Mode",
        0x0804: "Exit Sniff Mode",
        0x0807: "QoS Setup",
        0x0809: "Role Discovery",
        0x080b: "Switch Role",
        0x080c: "Read Link Policy Settings",
        0x080d: "Write Link Policy Settings",
        0x080e: "Read Default Link Policy Settings",
        0x080f: "Write Default Link Policy Settings",
        0x0810: "Flow Specification",
        0x0811: "Sniff Subrating",
        0x0c05: "Set Event Filter",
        0x0c08: "Flush",
        0x0c09: "Read PIN Type",
        0x0c0a: "Write PIN Type",
        0x0c0d: "Read Stored Link Key",
        0x0c11: "Write Stored Link Key",
        0x0c12: "Delete Stored Link Key",
        0x0c15: "Read Connection Accept Timeout",
        0x0c16: "Write Connection Accept Timeout",
        0x0c17: "Read Page Timeout",
        0x0c18: "Write Page Timeout",
        0x0c19: "Read Scan Enable",
        0x0c1b: "Read Page Scan Activity",
        0x0c1c: "Write Page Scan Activity",
        0x0c1d: "Read Inquiry Scan Activity",
        0x0c1e: "Write Inquiry Scan Activity",
        0x0c1f: "Read Authentication Enable",
        0x0c20: "Write Authentication Enable",
        0x0c25: "Read Voice Setting",
        0x0c26: "Write Voice Setting",
        0x0c27: "Read Automatic Flush Timeout",
        0x0c28: "Write Automatic Flush Timeout",
        0x0c29: "Read Num Broadcast Retransmissions",
        0x0c2a: "Write Num Broadcast Retransmissions",
        0x0c2b: "Read Hold Mode Activity",
        0x0c2c: "Write Hold Mode Activity",
        0x0c2e: "Read Synchronous Flow Control Enable",
        0x0c2f: "Write Synchronous Flow Control Enable",
        0x0c36: "Read Link Supervision Timeout",
        0x0c37: "Write Link Supervision Timeout",
        0x0c38: "Read Number Of Supported IAC",
        0x0c39: "Read Current IAC LAP",
        0x0c3a: "Write Current IAC LAP",
        0x0c3f: "Set AFH Host Channel Classification",
        0x0c42: "Read Inquiry Scan Type",
        0x0c43: "Write Inquiry Scan Type",
        0x0c44: "Read Inquiry Mode",
        0x0c45: "Write Inquiry Mode",
        0x0c46: "Read Page Scan Type",
        0x0c47: "Write Page Scan Type",
        0x0c48: "Read AFH Channel Assessment Mode",
        0x0c49: "Write AFH Channel Assessment Mode",
        0x0c51: "Read Extended Inquiry Response",
        0x0c52: "Write Extended Inquiry Response",
        0x0c53: "Refresh Encryption Key",
        0x0c55: "Read Simple Pairing Mode",
        0x0c57: "Read Local OOB Data",
        0x0c58: "Read Inquiry Response Transmit Power Level",
        0x0c59: "Write Inquiry Transmit Power Level",
        0x0c5a: "Read Default Erroneous Data Reporting",
        0x0c5b: "Write Default Erroneous Data Reporting",
        0x0c5f: "Enhanced Flush",
        0x0c60: "Send Keypress Notification",
        0x0c66: "Read Flow Control Mode",
        0x0c67: "Write Flow Control Mode",
        0x0c68: "Read Enhanced Transmit Power Level",
        0x0c6e: "Set MWS Channel Parameters",
        0x0c6f: "Set External Frame Configuration",
        0x0c70: "Set MWS Signaling",
        0x0c71: "Set MWS Transport Layer",
        0x0c72: "Set MWS Scan Frequency Table",
        0x0c73: "Set MWS_PATTERN Configuration",
        0x0c74: "Set Reserved LT_ADDR",
        0x0c75: "Delete Reserved LT_ADDR",
        0x0c76: "Set Connectionless Peripheral Broadcast Data",
        0x0c77: "Read Synchronization Train Parameters",
        0x0c78: "Write Synchronization Train Parameters",
        0x0c79: "Read Secure Connections Host Support",
        0x0c7d: "Read Local OOB Extended Data",
        0x0c7e: "Read Extended Page Timeout",
        0x0c7f: "Write Extended Page Timeout",
        0x0c80: "Read Extended Inquiry Length",
        0x0c81: "Write Extended Inquiry Length",
        0x0c82: "Set Ecosystem Base Interval",
        0x0c83: "Configure Data Path",
        0x0c84: "Set Min Encryption Key Size",
        0x100a: "Read Data Block Size",
        0x100b: "Read Local Supported Codecs [v1]",
        0x100c: "Read Local Simple Pairing Options",
        0x100d: "Read Local Supported Codecs [v2]",
        0x100e: "Read Local Supported Codec Capabilities",
        0x100f: "Read Local Supported Controller Delay",
        0x1401: "Read Failed Contact Counter",
        0x1402: "Reset Failed Contact Counter",
        0x1403: "Read Link Quality",
        0x1406: "Read AFH Channel Map",
        0x1407: "Read Clock",
        0x140c: "Get MWS Transport Layer Configuration",
        0x140d: "Set Triggered Clock Capture",
        0x1801: "Read Loopback Mode",
        0x1802: "Write Loopback Mode",
        0x1803: "Enable Implementation Under Test Mode",
        0x1804: "Write Simple Pairing Debug Mode",
        0x1807: "Enable AMP Receiver Reports",
        0x180a: "Write Secure Connections Test Mode",
    ]
}
