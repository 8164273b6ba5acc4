import BLECore

/// An advertisement of this process. Stop it when it is not needed any more; closing the adapter stops it,
/// too.
public struct Advertising: Sendable {
    let adapter: Adapter
    let record: AdvertisingRecord
    /// What the next process is to know of it; nil: nothing.
    private let kept: KeptAdvertising?

    init(adapter: Adapter, record: AdvertisingRecord) {
        self.adapter = adapter
        self.record = record
        kept = nil
    }

    /// The same, of which the next process is to know.
    init(_ advertising: Advertising, _ kept: KeptAdvertising) {
        adapter = advertising.adapter
        record = advertising.record
        self.kept = kept
    }

    /// Takes it off the air; returns when it is.
    public func stop() async {
        await adapter.stopAdvertising(record)
        await kept?.stopped()
    }

    /// Advertises something else, or otherwise, from now on. Returns when that is on air. When it cannot be
    /// now, because no link is free or the controller does not take it beside the links there are, returns at
    /// once, and it is on air as soon as it can be; when the controller refuses it then, what was on air
    /// before comes back, and the log says so.
    ///
    /// When only the data differ the radio goes on without a gap, as long as they fit into one command: 251
    /// octets, 252 of a periodic train. Other data, and other parameters, need the set to be off for a
    /// moment. When the controller refuses it, what was on air goes on.
    public func update(_ request: AdvertisingRequest) async throws(BLEError) {
        try await adapter.updateAdvertising(record, to: request)
        try await kept?.changed(to: request)
    }

    /// How strong it is sent in dBm, as the controller chose; nil where it does not say.
    public var power: Int8? { get async { await adapter.power(of: record) } }

    /// Waits for its end and says how it came. What went wrong is thrown.
    @discardableResult
    public func ended() async throws(BLEError) -> AdvertisingEnd {
        try await adapter.advertisingEnded(record)
    }
}

/// What is known of an advertisement, for as long as a caller may ask. Confined to its adapter.
final class AdvertisingRecord: @unchecked Sendable {
    // Sendable: what can change is touched on the adapter's loop only.
    let id: AdvertisingID
    var end: Result<AdvertisingEnd, BLEError>?
    var power: Int8?

    init(_ id: AdvertisingID) { self.id = id }
}
