import HCI

extension HCIEventMask {
    /// The events that this host acts on. Those that cannot be masked are not among them.
    static let host: HCIEventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension LEEventMask {
    /// The subevents that this host acts on, of those that belong to what the controller can do: some
    /// controllers refuse a mask with bits that they do not know.
    static func host(_ features: LEFeatures) -> LEEventMask {
        LEEventMask(
            always + byFeature.filter { !features.isDisjoint(with: $0.features) }.flatMap(\.events))
    }

    private static let always: [LESubevent] = [
        .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
    ]

    /// The subevents that come only where there is one of some features.
    private static let byFeature: [(features: LEFeatures, events: [LESubevent])] = [
        // It also reports addresses as they are on air.
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
