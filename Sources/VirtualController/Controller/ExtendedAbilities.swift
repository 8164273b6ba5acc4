import BLECore
import HCI

extension VirtualController {
    /// What a controller of Core Specification 5 has here beside one of 4.2: extended advertising, scanning and
    /// initiating, other PHYs, and the Connection Parameters Request procedure.
    public struct ExtendedAbilities: Hashable, Sendable {
        /// The most advertising sets at once, 1 to 240.
        public var advertisingSets: UInt8
        /// The most octets that a set can say, 31 to 1,650.
        public var advertisingDataLength: UInt16
        /// The PHYs beside LE 1M, which every controller has.
        public var phys: Set<PHY>
        /// The most periodic trains that it follows at once; zero for a controller without periodic
        /// advertising.
        public var periodicSyncs: UInt8
        /// The most advertising sets in the periodic advertiser list.
        package var periodicAdvertiserListSize: UInt8 = 16

        /// Abilities within what the specification allows.
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

    /// Whether it knows the extended commands, PHYs and channel selection algorithm #2, which a controller
    /// with extended advertising must have.
    var isExtended: Bool { configuration.extended != nil }

    /// The PHYs that the controller supports.
    var phys: PHYSet { configuration.extended.map { PHYSet($0.phys) } ?? .le1M }

    /// What it can do (Core Specification 5.4, Vol 6, Part B, 4.6).
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

    /// Whether it has the PHY of that number.
    func has(_ phy: PHY) -> Bool { !PHYSet(phy).isEmpty && phys.isSuperset(of: PHYSet(phy)) }
}
