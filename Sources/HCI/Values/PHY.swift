import BLECore

/// A physical layer (Core Specification 5.4, Vol 4, Part E, 7.7.65.12).
public struct PHY: HCICode {
    /// The number of the PHY in HCI.
    public let rawValue: UInt8

    /// Creates a PHY from its number in HCI: 1 for LE 1M, 2 for LE 2M, 3 for LE Coded.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value in advertising reports for no packets on the secondary channels.
    package static let none = PHY(rawValue: 0x00)
    /// LE 1M, 1 Mbit/s, which every device supports.
    public static let le1M = PHY(rawValue: 0x01)
    /// LE 2M, 2 Mbit/s.
    public static let le2M = PHY(rawValue: 0x02)
    /// LE Coded, 125 or 500 kbit/s, for long range.
    public static let leCoded = PHY(rawValue: 0x03)
}

extension PHY: CustomStringConvertible {
    /// "1m", "2m", "coded", "none" or the octet.
    public var description: String {
        switch self {
        case .none: "none"
        case .le1M: "1m"
        case .le2M: "2m"
        case .leCoded: "coded"
        default: "0x" + rawValue.hex
        }
    }
}

extension Set<PHY> {
    /// The PHY with the lowest number.
    package var least: PHY? { self.min { $0.rawValue < $1.rawValue } }
}

/// A set of physical layers, with a bit for each.
package struct PHYSet: OptionSet, HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let le1M = PHYSet(rawValue: 1 << 0)
    package static let le2M = PHYSet(rawValue: 1 << 1)
    package static let leCoded = PHYSet(rawValue: 1 << 2)

    /// Creates the set of the given PHYs; an unknown number is ignored.
    package init(_ phys: Set<PHY>) { self = phys.reduce(into: []) { $0.formUnion(PHYSet($1)) } }

    package var phys: Set<PHY> { Set([.le1M, .le2M, .leCoded].filter { contains(PHYSet($0)) }) }

    /// Creates the set of one PHY, which is empty for an unknown number.
    package init(_ phy: PHY) {
        switch phy {
        case .le1M: self = .le1M
        case .le2M: self = .le2M
        case .leCoded: self = .leCoded
        default: self = []
        }
    }
}

/// The PHYs that a host prefers (Core Specification 5.4, Vol 4, Part E, 7.8.48).
package struct PHYPreference: HCIParameters, HCIField {
    /// The directions for which the host has no preference.
    package struct NoPreference: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The host has no preferred PHY for sending.
        package static let transmit = NoPreference(rawValue: 1 << 0)
        /// The host has no preferred PHY for receiving.
        package static let receive = NoPreference(rawValue: 1 << 1)
    }

    /// The fields in the order of the wire.
    package static let layout = HCILayout("All_PHYs, TX_PHYs, RX_PHYs", Self.init) {
        ($0.noPreference, $0.transmit, $0.receive)
    }
    package static let packetName = "PHY preference"

    /// The directions for which the sets below are ignored.
    package var noPreference: NoPreference
    /// The PHYs that the host prefers for sending.
    package var transmit: PHYSet
    /// The PHYs that the host prefers for receiving.
    package var receive: PHYSet

    /// Creates a preference for those sets; nil stands for no preference in that direction.
    package init(transmit: PHYSet?, receive: PHYSet?) {
        var noPreference: NoPreference = []
        if transmit == nil { noPreference.insert(.transmit) }
        if receive == nil { noPreference.insert(.receive) }
        self.init(noPreference, transmit ?? [], receive ?? [])
    }

    init(_ noPreference: NoPreference, _ transmit: PHYSet, _ receive: PHYSet) {
        (self.noPreference, self.transmit, self.receive) = (noPreference, transmit, receive)
    }
}
