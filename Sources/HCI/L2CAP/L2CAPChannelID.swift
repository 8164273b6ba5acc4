import BLECore

/// The identifier of an L2CAP channel (Core Specification 5.4, Vol 3, Part A, 2.1).
package struct L2CAPChannelID: HCICode {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The null identifier: the destination in a response that rejects a channel.
    package static let null = L2CAPChannelID(rawValue: 0x0000)
    /// L2CAP signaling on BR/EDR.
    package static let signaling = L2CAPChannelID(rawValue: 0x0001)
    /// Connectionless data on BR/EDR.
    package static let connectionless = L2CAPChannelID(rawValue: 0x0002)
    /// The fixed channel of the Attribute Protocol.
    package static let att = L2CAPChannelID(rawValue: 0x0004)
    /// L2CAP signaling on LE.
    package static let leSignaling = L2CAPChannelID(rawValue: 0x0005)
    /// The Security Manager Protocol.
    package static let securityManager = L2CAPChannelID(rawValue: 0x0006)
    /// The Security Manager Protocol on BR/EDR.
    package static let brEDRSecurityManager = L2CAPChannelID(rawValue: 0x0007)
}

extension L2CAPChannelID: CustomStringConvertible {
    /// The protocol of a fixed channel, "ATT", or the number, "0x0040".
    package var description: String {
        switch self {
        case .signaling: "L2CAP signaling"
        case .connectionless: "connectionless"
        case .att: "ATT"
        case .leSignaling: "LE signaling"
        case .securityManager: "SMP"
        case .brEDRSecurityManager: "SMP over BR/EDR"
        default: "0x" + rawValue.hex
        }
    }
}
