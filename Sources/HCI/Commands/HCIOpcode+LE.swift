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
