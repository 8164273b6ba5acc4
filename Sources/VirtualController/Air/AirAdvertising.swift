import BLECore
import HCI

extension AirSignal {
    /// An advertising event on all its channels with all that belongs to it, or the answer to a scan request
    /// (Core Specification 5.4, Vol 6, Part B, 2.3.1 and 2.3.2).
    package struct Advertising: Hashable, Sendable {
        /// What kind of advertising it is.
        package var properties: LESetExtendedAdvertisingParameters.Properties
        /// Which of the advertiser's sets; nil for the one of its legacy commands. It stands for the moment at
        /// which an answer must be sent.
        package var set: AdvertisingHandle?
        /// Who advertises; nil for anonymous advertising.
        package var advertiser: DeviceAddress?
        /// At whom directed advertising is directed.
        package var target: DeviceAddress?
        /// The number of the set that scanners learn; nil in legacy packets.
        package var sid: UInt8?
        /// Differs when the data differ; zero in legacy packets.
        package var dataID: UInt16
        /// The PHY of the primary channels.
        package var primaryPHY: PHY
        /// Where the data are; none for legacy packets.
        package var secondaryPHY: PHY
        /// How strong it is sent, where it says so.
        package var txPower: Int8?
        /// Whether it answers a scan request.
        package var isResponse: Bool
        /// Whether the advertiser knows channel selection algorithm #2.
        package var knowsAlgorithm2: Bool
        /// The periodic train of the set, if there is one.
        package var train: Train?
        /// The advertising data; the scan response data when `isResponse` is true.
        package var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` are only a beginning.
        package var isCut = false

        /// Whether it is of packets that every controller knows.
        package var isLegacy: Bool { properties.contains(.legacy) }
    }

    /// A scan request: SCAN_REQ or AUX_SCAN_REQ.
    package struct ScanRequest: Hashable, Sendable {
        package var scanner: DeviceAddress
        package var advertiser: DeviceAddress
        /// The advertising set that the request is for.
        package var set: AdvertisingHandle?
    }
}

extension AirSignal.Advertising: ChainedSignal {
    var chain: AdvertisingChain? { isLegacy ? nil : .advertising }
}
