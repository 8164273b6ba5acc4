import BLECore

/// The commands that a controller supports: 64 octets, with a bit for each command (Core Specification 5.4,
/// Vol 4, Part E, 6.27).
package struct SupportedCommands: HCIParameters, HCIField {
    package static let layout = HCILayout("Supported_Commands", Self.init) { $0.octets }
    package static let packetName = "supported commands"

    package let octets: FixedOctets<64>

    package init(octets: FixedOctets<64>) { self.octets = octets }

    /// Creates the set of those commands; commands without a bit, such as vendor-specific ones, are ignored.
    package init(_ opcodes: some Sequence<HCIOpcode>) {
        var octets = FixedOctets<64>()
        for opcode in opcodes {
            if let (octet, bit) = Self.places[opcode] { octets[octet] |= 1 << UInt8(bit) }
        }
        self.octets = octets
    }

    /// Returns whether the controller supports the command. False for commands without a bit: vendor-specific
    /// ones, and Read Local Supported Commands itself, which every controller must support.
    package func contains(_ opcode: HCIOpcode) -> Bool {
        Self.places[opcode].map { contains(octet: $0.octet, bit: $0.bit) } ?? false
    }

    /// Returns whether bit `bit` (0 to 7) of octet `octet` (0 to 63) is set.
    package func contains(octet: Int, bit: Int) -> Bool {
        (0..<64).contains(octet) && (0..<8).contains(bit) && octets[octet] >> UInt8(bit) & 1 == 1
    }

    private static let places: [HCIOpcode: (octet: Int, bit: Int)] = {
        var places: [HCIOpcode: (octet: Int, bit: Int)] = [:]
        // In any order: each command has one place.
        for (octet, row) in rows {
            for (bit, opcode) in row.enumerated() {
                if let opcode { places[opcode] = (octet, bit) }
            }
        }
        return places
    }()
}

extension SupportedCommands {
    /// The commands of bits 0 to 7, by octet.
    private static let rows: [Int: [HCIOpcode?]] = [
        0: [nil, nil, nil, nil, nil, .disconnect],
        2: [nil, nil, nil, nil, nil, nil, nil, .readRemoteVersionInformation],
        5: [nil, nil, nil, nil, nil, nil, .setEventMask, .reset],
        7: [.writeLocalName, .readLocalName, nil, nil, nil, nil, nil, .writeScanEnable],
        9: [.readClassOfDevice, .writeClassOfDevice],
        10: [
            nil, nil, .readTransmitPowerLevel, nil, nil, .setControllerToHostFlowControl, .hostBufferSize,
            .hostNumberOfCompletedPackets,
        ],
        14: [
            nil, nil, nil, .readLocalVersionInformation, nil, .readLocalSupportedFeatures,
            .readLocalExtendedFeatures, .readBufferSize,
        ],
        15: [nil, .readBDADDR, nil, nil, nil, .readRSSI],
        17: [nil, nil, nil, nil, nil, nil, .writeSimplePairingMode],
        20: [nil, nil, nil, nil, .readEncryptionKeySize],
        22: [nil, nil, .setEventMaskPage2],
        24: [nil, nil, nil, nil, nil, .readLEHostSupport, .writeLEHostSupport],
        25: [
            .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, nil, .leSetRandomAddress,
            .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
        ],
        26: [
            .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
            .leCreateConnection, .leCreateConnectionCancel, .leReadFilterAcceptListSize,
            .leClearFilterAcceptList,
        ],
        27: [
            .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
            .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leEncrypt, .leRand,
        ],
        28: [
            .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
            .leReadSupportedStates, .leReceiverTest, .leTransmitterTest, .leTestEnd,
        ],
        32: [
            nil, nil, nil, .writeSecureConnectionsHostSupport, .readAuthenticatedPayloadTimeout,
            .writeAuthenticatedPayloadTimeout,
        ],
        33: [
            nil, nil, nil, nil, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength,
            .leReadSuggestedDefaultDataLength,
        ],
        34: [
            .leWriteSuggestedDefaultDataLength, .leReadLocalP256PublicKey, .leGenerateDHKey,
            .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
            .leReadResolvingListSize, .leReadPeerResolvableAddress,
        ],
        35: [
            .leReadLocalResolvableAddress, .leSetAddressResolutionEnable,
            .leSetResolvablePrivateAddressTimeout,
            .leReadMaximumDataLength, .leReadPHY, .leSetDefaultPHY, .leSetPHY, .leReceiverTestV2,
        ],
        36: [
            .leTransmitterTestV2, .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters,
            .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
            .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets,
        ],
        37: [
            .leRemoveAdvertisingSet, .leClearAdvertisingSets, .leSetPeriodicAdvertisingParameters,
            .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable, .leSetExtendedScanParameters,
            .leSetExtendedScanEnable, .leExtendedCreateConnection,
        ],
        38: [
            .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel,
            .lePeriodicAdvertisingTerminateSync, .leAddDeviceToPeriodicAdvertiserList,
            .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList,
            .leReadPeriodicAdvertiserListSize, .leReadTransmitPower,
        ],
        39: [
            .leReadRFPathCompensation, .leWriteRFPathCompensation, .leSetPrivacyMode, .leReceiverTestV3,
            .leTransmitterTestV3, .leSetConnectionlessCTETransmitParameters,
            .leSetConnectionlessCTETransmitEnable, .leSetConnectionlessIQSamplingEnable,
        ],
        40: [
            .leSetConnectionCTEReceiveParameters, .leSetConnectionCTETransmitParameters,
            .leConnectionCTERequestEnable, .leConnectionCTEResponseEnable, .leReadAntennaInformation,
            .leSetPeriodicAdvertisingReceiveEnable, .lePeriodicAdvertisingSyncTransfer,
            .lePeriodicAdvertisingSetInfoTransfer,
        ],
        41: [
            .leSetPeriodicAdvertisingSyncTransferParameters,
            .leSetDefaultPeriodicAdvertisingSyncTransferParameters, .leGenerateDHKeyV2, nil,
            .leModifySleepClockAccuracy, .leReadBufferSizeV2, .leReadISOTXSync, .leSetCIGParameters,
        ],
        42: [
            .leSetCIGParametersTest, .leCreateCIS, .leRemoveCIG, .leAcceptCISRequest, .leRejectCISRequest,
            .leCreateBIG, .leCreateBIGTest, .leTerminateBIG,
        ],
        43: [
            .leBIGCreateSync, .leBIGTerminateSync, .leRequestPeerSCA, .leSetupISODataPath,
            .leRemoveISODataPath, .leISOTransmitTest, .leISOReceiveTest, .leISOReadTestCounters,
        ],
        44: [
            .leISOTestEnd, .leSetHostFeature, .leReadISOLinkQuality, .leEnhancedReadTransmitPowerLevel,
            .leReadRemoteTransmitPowerLevel, .leSetPathLossReportingParameters, .leSetPathLossReportingEnable,
            .leSetTransmitPowerReportingEnable,
        ],
        45: [.leTransmitterTestV4, nil, nil, nil, nil, nil, .leSetDataRelatedAddressChanges],
        46: [
            .leSetDefaultSubrate, .leSubrateRequest, .leSetExtendedAdvertisingParametersV2, nil, nil,
            .leSetPeriodicAdvertisingSubeventData, .leSetPeriodicAdvertisingResponseData,
            .leSetPeriodicSyncSubevent,
        ],
        47: [.leExtendedCreateConnectionV2, .leSetPeriodicAdvertisingParametersV2],
    ]
}
