import BLECore

/// An advertisement of this process. Stop it when it is no longer needed; closing the adapter stops it, too.
public struct Advertising: Sendable {
    let adapter: Adapter
    let record: AdvertisingRecord
    /// The record from which the next process restores the advertisement; nil when it is not restored.
    private let kept: KeptAdvertising?

    init(adapter: Adapter, record: AdvertisingRecord) {
        self.adapter = adapter
        self.record = record
        kept = nil
    }

    /// Creates the same advertisement with a record from which the next process restores it.
    init(_ advertising: Advertising, _ kept: KeptAdvertising) {
        adapter = advertising.adapter
        record = advertising.record
        self.kept = kept
    }

    /// Stops the advertisement. Returns when it is off the air.
    public func stop() async {
        await adapter.stopAdvertising(record)
        await kept?.stopped()
    }

    /// Replaces the data and the parameters of the advertisement. Returns when `request` is on air. Returns
    /// at once when `request` cannot be on air now, because all of its links are in use or because the
    /// controller does not support it beside the present links; it is then put on air as soon as possible. If
    /// the controller refuses it at that time, the previous request is on air again, which is logged.
    ///
    /// When only the data differ and they fit into one command, 251 octets or 252 for a periodic train,
    /// advertising continues without a gap. For longer data and for other parameters the set is off for a moment.
    /// When the controller refuses the request, the previous one stays on air.
    public func update(_ request: AdvertisingRequest) async throws(BLEError) {
        try await adapter.updateAdvertising(record, to: request)
        try await kept?.changed(to: request)
    }

    /// The transmit power in dBm that the controller has chosen; nil when the controller does not report it.
    public var power: Int8? { get async { await adapter.power(of: record) } }

    /// Waits until the advertisement has ended, and returns how it ended. Throws the error that ended it, if one
    /// did.
    @discardableResult
    public func ended() async throws(BLEError) -> AdvertisingEnd {
        try await adapter.advertisingEnded(record)
    }
}

/// The state of an advertisement, kept for as long as a caller can ask for it. Confined to its adapter.
final class AdvertisingRecord: @unchecked Sendable {
    // Sendable: the mutable properties are accessed on the adapter's loop only.
    let id: AdvertisingID
    var end: Result<AdvertisingEnd, BLEError>?
    var power: Int8?

    init(_ id: AdvertisingID) { self.id = id }
}
