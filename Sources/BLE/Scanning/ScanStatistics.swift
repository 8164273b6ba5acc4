/// What the scans of an adapter have received since it was opened, and what they could not remember.
/// `BoundedStream.dropped` counts what a slow consumer of one scan has missed.
public struct ScanStatistics: Hashable, Sendable {
    /// The number of complete advertising reports.
    public internal(set) var reports = 0
    /// Advertising sets of devices that are remembered, `AdapterOptions.rememberedDevices` at most: their last
    /// advertisement and scan response, so that both are reported together.
    public internal(set) var devices = 0
    /// Advertising sets that were forgotten for want of room: those not received for longest.
    public internal(set) var evictions = 0
}

extension Adapter {
    var scanStatistics: ScanStatistics { scanner.statistics }
}
