import SMP

/// Reports to the peer how the user of this host enters the passkey, so that the peer, which displays the
/// passkey, can show the progress (Core Specification 5.4, Vol 3, Part H, 3.5.8).
///
/// `PairingDelegate.enterPasskey(for:reportingTo:)` receives one for each passkey.
public struct KeypressSender: Sendable {
    private let report: @Sendable (KeypressNotification) async -> Void

    init(_ report: @escaping @Sendable (KeypressNotification) async -> Void) { self.report = report }

    /// Sends the notification. Does nothing when the peer does not accept notifications, on kernel adapters, and
    /// after the passkey has been entered or the pairing has ended.
    public func send(_ key: KeypressNotification) async { await report(key) }
}
