import HCI

extension HCIEventMask {
    /// The events that this host handles. Events that cannot be masked are not included.
    static let host: HCIEventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension LEEventMask {
    /// Returns the subevents that this host handles, limited to those that belong to the controller's
    /// features: some controllers refuse a mask with bits that they do not know.
    static func host(_ features: LEFeatures) -> LEEventMask {
        LEEventMask(
            always + byFeature.filter { !features.isDisjoint(with: $0.features) }.flatMap(\.events))
    }

    private static let always: [LESubevent] = [
        .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
    ]

    /// The subevents that occur only with at least one of certain features.
    private static let byFeature: [(features: LEFeatures, events: [LESubevent])] = [
        // This event also reports addresses as they are on air.
        (.privacy, [.enhancedConnectionComplete]),
        (.encryption, [.longTermKeyRequest]),
        (.connectionParametersRequest, [.remoteConnectionParameterRequest]),
        (.dataPacketLengthExtension, [.dataLengthChange]),
        ([.le2MPHY, .leCodedPHY], [.phyUpdateComplete]),
        (.extendedAdvertising, [.extendedAdvertisingReport, .advertisingSetTerminated]),
        (
            .periodicAdvertising,
            [.periodicAdvertisingSyncEstablished, .periodicAdvertisingReport, .periodicAdvertisingSyncLost]
        ),
    ]
}
