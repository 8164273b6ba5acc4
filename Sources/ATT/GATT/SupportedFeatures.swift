/// What a client can do with a server; each client writes its own (Core Specification 5.4, Vol 3, Part G,
/// 7.2).
package struct ClientSupportedFeatures: OptionSet, Hashable, Sendable {
    /// The value's first octet; all later ones are reserved.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The client accepts Database Out Of Sync instead of values that have moved.
    package static let robustCaching = ClientSupportedFeatures(rawValue: 0x01)
    /// It takes more than one bearer (EATT).
    package static let enhancedBearer = ClientSupportedFeatures(rawValue: 0x02)
    /// It takes several values in one notification.
    package static let multipleNotifications = ClientSupportedFeatures(rawValue: 0x04)
}

/// What a server can do beyond what all can (Core Specification 5.4, Vol 3, Part G, 7.4).
package struct ServerSupportedFeatures: OptionSet, Hashable, Sendable {
    /// The first octet of the value.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It takes more than one bearer (EATT).
    package static let enhancedBearer = ServerSupportedFeatures(rawValue: 0x01)
}
