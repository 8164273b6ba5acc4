import HCI
import Testing

@testable import BLE

/// Tests of the events that a host enables in its controller.
struct EventMaskTests {
    @Test("the HCI event mask has the events that the host handles")
    func hostEventMask() {
        // Bits 4, 7, 11, 15, 25, 47 and 61 (Core Specification 5.4, Vol 4, Part E, 7.3.1).
        #expect(HCIEventMask.host.rawValue == 0x2000_8000_0200_8890)
    }

    @Test("without features a controller is asked for the four LE events that need none")
    func maskWithoutFeatures() {
        // Bits 0 to 3 (Core Specification 5.4, Vol 4, Part E, 7.8.1).
        #expect(LEEventMask.host([]).rawValue == 0x0f)
    }

    @Test("with all features the LE event mask has only the events that the host handles")
    func maskWithAllFeatures() {
        let mask = LEEventMask.host(LEFeatures(rawValue: ~0))
        #expect(
            mask == [
                .connectionComplete, .advertisingReport, .connectionUpdateComplete,
                .readRemoteFeaturesComplete,
                .longTermKeyRequest, .remoteConnectionParameterRequest, .dataLengthChange,
                .enhancedConnectionComplete, .phyUpdateComplete, .extendedAdvertisingReport,
                .periodicAdvertisingSyncEstablished, .periodicAdvertisingReport, .periodicAdvertisingSyncLost,
                .advertisingSetTerminated,
            ])
        #expect(mask.rawValue == 0x0002_fa7f)
    }

    @Test(
        "each feature enables its own LE events",
        arguments: [
            (.encryption, 1 << 4), (.connectionParametersRequest, 1 << 5),
            (.dataPacketLengthExtension, 1 << 6),
            (.privacy, 1 << 9), (.le2MPHY, 1 << 11), (.leCodedPHY, 1 << 11),
            (.extendedAdvertising, 1 << 12 | 1 << 17), (.periodicAdvertising, 0b111 << 13),
            (.extendedScanningFilterPolicies, 0), (.channelSelectionAlgorithm2, 0), (.powerControlRequest, 0),
            (.periodicAdvertisingSyncTransferRecipient, 0), (.connectionSubrating, 0),
        ] as [(LEFeatures, UInt64)])
    func eachFeatureEnablesItsEvents(feature: LEFeatures, bits: UInt64) {
        #expect(LEEventMask.host(feature).rawValue == 0x0f | bits)
    }
}
