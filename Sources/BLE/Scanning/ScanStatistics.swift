/// The reports that the scans of an adapter have received since it was opened, and the devices that they
/// remember. `BoundedStream.dropped` counts what a slow consumer of one scan has missed.
public struct ScanStatistics: Hashable, Sendable {
    /// The number of complete advertising reports.
    public internal(set) var reports = 0
    /// The number of advertising sets of devices that are remembered, at most
    /// `AdapterOptions.rememberedDevices`, with their last advertisement and scan response, so that both are
    /// reported together.
    public internal(set) var devices = 0
    /// The number of advertising sets that were evicted: the least recently received ones.
    public internal(set) var evictions = 0
}

extension Adapter {
    var scanStatistics: ScanStatistics { radio.statistics }
}
