/// The features that a client supports with a server; each client writes its own (Core Specification 5.4, Vol
/// 3, Part G, 7.2).
package struct ClientSupportedFeatures: OptionSet, Hashable, Sendable {
    /// The value's first octet; all later ones are reserved.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The client accepts the error Database Out Of Sync in place of values whose handles have changed.
    package static let robustCaching = ClientSupportedFeatures(rawValue: 0x01)
    /// The client accepts more than one bearer (EATT).
    package static let enhancedBearer = ClientSupportedFeatures(rawValue: 0x02)
    /// The client accepts several values in one notification.
    package static let multipleNotifications = ClientSupportedFeatures(rawValue: 0x04)
}

/// The optional features that a server supports (Core Specification 5.4, Vol 3, Part G, 7.4).
package struct ServerSupportedFeatures: OptionSet, Hashable, Sendable {
    /// The first octet of the value.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The server accepts more than one bearer (EATT).
    package static let enhancedBearer = ServerSupportedFeatures(rawValue: 0x01)
}
