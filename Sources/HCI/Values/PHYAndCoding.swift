/// A physical layer, with the codings of LE Coded distinguished (Core Specification 5.4, Vol 4, Part E, 7.8.117).
package struct PHYAndCoding: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let le1M = PHYAndCoding(rawValue: 0x01)
    package static let le2M = PHYAndCoding(rawValue: 0x02)
    /// LE Coded, S=8, 125 kbit/s.
    package static let leCodedS8 = PHYAndCoding(rawValue: 0x03)
    /// LE Coded, S=2, 500 kbit/s.
    package static let leCodedS2 = PHYAndCoding(rawValue: 0x04)
}

/// The preferred coding of LE Coded for sending on a link (Core Specification 5.4, Vol 4, Part E, 7.8.49).
public struct PHYCoding: HCICode {
    /// The two octets of the parameter.
    public let rawValue: UInt16

    /// Creates a coding from the `PHY_Options` of LE Set PHY (Vol 4, Part E, 7.8.49).
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The host has no preferred coding, so the controller chooses.
    public static let any = PHYCoding(rawValue: 0)
    /// The host prefers S=2 coding, at 500 kbit/s.
    public static let s2 = PHYCoding(rawValue: 1)
    /// The host prefers S=8 coding, at 125 kbit/s.
    public static let s8 = PHYCoding(rawValue: 2)
}

/// The coding of an advertiser on LE Coded (Core Specification 5.4, Vol 4, Part E, 7.8.53).
package struct AdvertisingCoding: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The controller chooses the coding.
    package static let any = AdvertisingCoding(rawValue: 0x00)
    /// The host prefers S=2 coding, at 500 kbit/s.
    package static let prefersS2 = AdvertisingCoding(rawValue: 0x01)
    /// The host prefers S=8 coding, at 125 kbit/s.
    package static let prefersS8 = AdvertisingCoding(rawValue: 0x02)
    /// The host requires S=2 coding, at 500 kbit/s.
    package static let requiresS2 = AdvertisingCoding(rawValue: 0x03)
    /// The host requires S=8 coding, at 125 kbit/s.
    package static let requiresS8 = AdvertisingCoding(rawValue: 0x04)
}
