import BLECore
import HCI

extension VirtualController {
    /// What a controller of Core Specification 5 has beside one of 4.2: extended advertising, scanning and
    /// initiating, and other PHYs.
    public struct ExtendedAbilities: Hashable, Sendable {
        /// The most advertising sets at once, 1 to 240.
        public var advertisingSets: UInt8
        /// The most octets that a set can say, 31 to 1,650.
        public var advertisingDataLength: UInt16
        /// The PHYs beside LE 1M, which every controller has.
        public var phys: PHYSet

        /// Abilities within what the specification allows.
        public init(
            advertisingSets: UInt8 = 4, advertisingDataLength: UInt16 = 1650,
            phys: PHYSet = [.le2M, .leCoded]
        ) {
            self.advertisingSets = min(max(advertisingSets, 1), 240)
            self.advertisingDataLength = min(max(advertisingDataLength, 31), 1650)
            self.phys = phys.intersection([.le2M, .leCoded]).union(.le1M)
        }
    }

    /// Whether it knows the extended commands, PHYs and channel selection algorithm #2, which a controller
    /// with extended advertising must have.
    var isExtended: Bool { configuration.extended != nil }

    /// The PHYs that it has.
    var phys: PHYSet { configuration.extended?.phys ?? .le1M }

    /// What it can do (Core Specification 5.4, Vol 6, Part B, 4.6).
    var features: LEFeatures {
        var features: LEFeatures = [.peripheralInitiatedFeaturesExchange, .dataPacketLengthExtension]
        guard isExtended else { return features }
        features.formUnion([.extendedAdvertising, .channelSelectionAlgorithm2])
        if phys.contains(.le2M) { features.insert(.le2MPHY) }
        if phys.contains(.leCoded) { features.insert(.leCodedPHY) }
        return features
    }

    /// Whether it has the PHY of that number.
    func has(_ phy: PHY) -> Bool { !PHYSet(phy).isEmpty && phys.isSuperset(of: PHYSet(phy)) }
}

extension PHYSet {
    /// The set of that one; none for a number that is no PHY.
    init(_ phy: PHY) {
        switch phy {
        case .le1M: self = .le1M
        case .le2M: self = .le2M
        case .leCoded: self = .leCoded
        default: self = []
        }
    }
}
