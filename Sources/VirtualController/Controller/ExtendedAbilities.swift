import BLECore
import HCI

extension VirtualController {
    /// The features that a simulated controller of Core Specification 5 has in addition to those of 4.2:
    /// extended advertising, scanning and initiating, other PHYs, and the Connection Parameters Request
    /// procedure.
    public struct ExtendedAbilities: Hashable, Sendable {
        /// The maximum number of simultaneous advertising sets, 1 to 240.
        public var advertisingSets: UInt8
        /// The maximum length of the advertising data of a set in octets, 31 to 1,650.
        public var advertisingDataLength: UInt16
        /// The supported PHYs in addition to LE 1M, which every controller supports.
        public var phys: Set<PHY>
        /// The maximum number of periodic trains that the controller follows at the same time; zero for a
        /// controller without periodic advertising.
        public var periodicSyncs: UInt8
        /// The maximum number of advertising sets in the periodic advertiser list.
        package var periodicAdvertiserListSize: UInt8 = 16

        /// Creates abilities, limited to the ranges that the specification allows.
        public init(
            advertisingSets: UInt8 = 4, advertisingDataLength: UInt16 = 1650,
            phys: Set<PHY> = [.le2M, .leCoded], periodicSyncs: UInt8 = 8
        ) {
            self.advertisingSets = min(max(advertisingSets, 1), 240)
            self.advertisingDataLength = min(max(advertisingDataLength, 31), 1650)
            self.phys = phys.intersection([.le2M, .leCoded]).union([.le1M])
            self.periodicSyncs = periodicSyncs
        }
    }

    /// Whether the controller supports the extended commands, PHYs, and channel selection algorithm #2, which
    /// is mandatory with extended advertising.
    var isExtended: Bool { configuration.extended != nil }

    /// The PHYs that the controller supports.
    var phys: PHYSet { configuration.extended.map { PHYSet($0.phys) } ?? .le1M }

    /// The supported LE features (Core Specification 5.4, Vol 6, Part B, 4.6).
    var features: LEFeatures {
        var features: LEFeatures = [.peripheralInitiatedFeaturesExchange, .dataPacketLengthExtension]
        if configuration.encrypts { features.formUnion([.encryption, .ping]) }
        if hasPrivacy { features.formUnion([.privacy, .extendedScanningFilterPolicies]) }
        guard isExtended else { return features }
        features.formUnion([
            .extendedAdvertising, .channelSelectionAlgorithm2, .connectionParametersRequest,
        ])
        if hasPeriodic { features.formUnion([.periodicAdvertising, .periodicAdvertisingADI]) }
        if phys.contains(.le2M) { features.insert(.le2MPHY) }
        if phys.contains(.leCoded) { features.insert(.leCodedPHY) }
        return features
    }

    /// Returns whether the controller supports a PHY.
    func has(_ phy: PHY) -> Bool { !PHYSet(phy).isEmpty && phys.isSuperset(of: PHYSet(phy)) }
}
