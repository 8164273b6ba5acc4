/// Identifies a client of a server, that is, the device at the other end of a link, for as long as the link
/// is up. The owner of the server assigns the numbers.
package struct ClientID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies one of a client's ATT bearers (Core Specification 5.4, Vol 3, Part F, 3.2.11): each has at most
/// one request open.
package struct BearerID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The bearer on the fixed channel, which every link has.
    package static let fixed = BearerID(rawValue: 0)
}
