import BLECore

extension HCIOpcode {
    /// The type of the command with this opcode, if it has one here.
    package var command: (any HCICommand.Type)? { Self.commands[self] }

    private static let commands: [HCIOpcode: any HCICommand.Type] = {
        var commands: [HCIOpcode: any HCICommand.Type] = [:]
        for command in all { commands[command.opcode] = command }
        return commands
    }()

    private static let all: [any HCICommand.Type] = [
        Disconnect.self,
        ReadRemoteVersionInformation.self,
        ReadRSSI.self,
        ReadTransmitPowerLevel.self,
        ReadEncryptionKeySize.self,
        Reset.self,
        SetEventMask.self,
        SetEventMaskPage2.self,
        SetControllerToHostFlowControl.self,
        HostBufferSize.self,
        HostNumberOfCompletedPackets.self,
        WriteLEHostSupport.self,
        ReadLEHostSupport.self,
        ReadAuthenticatedPayloadTimeout.self,
        WriteAuthenticatedPayloadTimeout.self,
        ReadLocalVersionInformation.self,
        ReadLocalSupportedCommands.self,
        ReadLocalSupportedFeatures.self,
        ReadLocalExtendedFeatures.self,
        ReadBDADDR.self,
        ReadBufferSize.self,
        LESetEventMask.self,
        LEReadBufferSize.self,
        LEReadBufferSizeV2.self,
        LEReadLocalSupportedFeatures.self,
        LESetRandomAddress.self,
        LEReadSupportedStates.self,
        LEReadFilterAcceptListSize.self,
        LEClearFilterAcceptList.self,
        LEAddDeviceToFilterAcceptList.self,
        LERemoveDeviceFromFilterAcceptList.self,
        LESetAdvertisingParameters.self,
        LEReadAdvertisingPhysicalChannelTxPower.self,
        LESetAdvertisingData.self,
        LESetScanResponseData.self,
        LESetAdvertisingEnable.self,
        LESetScanParameters.self,
        LESetScanEnable.self,
        LECreateConnection.self,
        LECreateConnectionCancel.self,
        LEConnectionUpdate.self,
        LESetHostChannelClassification.self,
        LEReadChannelMap.self,
        LEReadRemoteFeatures.self,
        LERemoteConnectionParameterRequestReply.self,
        LERemoteConnectionParameterRequestNegativeReply.self,
        LEEncrypt.self,
        LERand.self,
        LEEnableEncryption.self,
        LELongTermKeyRequestReply.self,
        LELongTermKeyRequestNegativeReply.self,
        LEReadLocalP256PublicKey.self,
        LEGenerateDHKey.self,
        LEGenerateDHKeyV2.self,
        LEAddDeviceToResolvingList.self,
        LERemoveDeviceFromResolvingList.self,
        LEClearResolvingList.self,
        LEReadResolvingListSize.self,
        LEReadPeerResolvableAddress.self,
        LEReadLocalResolvableAddress.self,
        LESetAddressResolutionEnable.self,
        LESetResolvablePrivateAddressTimeout.self,
        LESetPrivacyMode.self,
        LESetDataLength.self,
        LEReadSuggestedDefaultDataLength.self,
        LEWriteSuggestedDefaultDataLength.self,
        LEReadMaximumDataLength.self,
        LEReadPHY.self,
        LESetDefaultPHY.self,
        LESetPHY.self,
        LEReadTransmitPower.self,
        LEReadRFPathCompensation.self,
        LEWriteRFPathCompensation.self,
        LEEnhancedReadTransmitPowerLevel.self,
        LEReadRemoteTransmitPowerLevel.self,
        LESetTransmitPowerReportingEnable.self,
        LEModifySleepClockAccuracy.self,
        LERequestPeerSCA.self,
        LESetDefaultSubrate.self,
        LESubrateRequest.self,
        LESetHostFeature.self,
        LESetDataRelatedAddressChanges.self,
        LEReceiverTest.self,
        LEReceiverTestV2.self,
        LEReceiverTestV3.self,
        LETransmitterTest.self,
        LETransmitterTestV2.self,
        LETransmitterTestV3.self,
        LETransmitterTestV4.self,
        LETestEnd.self,
        LEReadAntennaInformation.self,
        LESetAdvertisingSetRandomAddress.self,
        LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingParametersV2.self,
        LESetExtendedAdvertisingData.self,
        LESetExtendedScanResponseData.self,
        LESetExtendedAdvertisingEnable.self,
        LEReadMaximumAdvertisingDataLength.self,
        LEReadNumberOfSupportedAdvertisingSets.self,
        LERemoveAdvertisingSet.self,
        LEClearAdvertisingSets.self,
        LESetExtendedScanParameters.self,
        LESetExtendedScanEnable.self,
        LEExtendedCreateConnection.self,
        LESetPeriodicAdvertisingParameters.self,
        LESetPeriodicAdvertisingData.self,
        LESetPeriodicAdvertisingEnable.self,
        LEPeriodicAdvertisingCreateSync.self,
        LEPeriodicAdvertisingCreateSyncCancel.self,
        LEPeriodicAdvertisingTerminateSync.self,
        LEAddDeviceToPeriodicAdvertiserList.self,
        LERemoveDeviceFromPeriodicAdvertiserList.self,
        LEClearPeriodicAdvertiserList.self,
        LEReadPeriodicAdvertiserListSize.self,
        LESetPeriodicAdvertisingReceiveEnable.self,
        LEPeriodicAdvertisingSyncTransfer.self,
        LEPeriodicAdvertisingSetInfoTransfer.self,
        LESetPeriodicAdvertisingSyncTransferParameters.self,
        LESetDefaultPeriodicAdvertisingSyncTransferParameters.self,
    ]
}

extension HCICommandPacket {
    /// Decodes the command; nil if it has no type here.
    package func decoded() throws(DecodeError) -> (any HCICommand)? {
        try opcode.command?.init(parameters)
    }
}

extension CommandComplete {
    /// Decodes the return parameters; nil if the command failed or has no type here.
    package func returned() throws(DecodeError) -> (any HCIParameters)? {
        guard status == .success, let command = opcode.command else { return nil }
        return try returned(by: command)
    }
}
