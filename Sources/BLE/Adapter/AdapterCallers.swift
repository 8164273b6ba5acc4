import BLECore

/// The streams that the callers of an adapter consume, and what belongs to the callers of each link.
struct AdapterCallers {
    var scans: [ScanID: StreamBuffer<Advertisement>] = [:]
    var trains: [PeriodicSyncID: StreamBuffer<PeriodicAdvertisement>] = [:]
    var connections = Watchers<ConnectionEvent>()
    /// The observers of the controller's health.
    var health = Watchers<AdapterHealthEvent>()
    var links = LinkMap<LinkCallers>()
}
