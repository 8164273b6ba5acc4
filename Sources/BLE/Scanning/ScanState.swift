import BLECore
import HCI

/// What the radio is told to listen for: the union of what the scans of this process want.
struct ScanParameters: Hashable {
    var isActive: Bool
    var interval: Slots
    var window: Slots
    var family: CommandFamily
    var coded: Bool
    var oneMegabit: Bool
}

/// The scans of this process, and what the radio does for them.
struct ScanState {
    /// What the radio does.
    enum Radio: Hashable {
        case off
        /// It scans as we told it.
        case on(ScanParameters)
        /// Somebody else's scan runs, which we listen to and must not end.
        case joined
    }

    struct Consumer {
        var filter: ScanFilter
        let buffer: StreamBuffer<Advertisement>
    }

    var consumers: [UInt64: Consumer] = [:]
    var devices = DeviceTable()
    /// Extended advertising that is told in several reports.
    var chains = ReportAssembler()
    var radio = Radio.off
    var isChanging = false
    var nextID: UInt64 = 0
    /// What others make a shared adapter scan.
    var foreign = ForeignScan()
    /// Whether the next start ends their scan first.
    var takesOver = false
    /// When the radio was taken back from others, to bound that.
    var restarts: [Instant] = []

    mutating func finishAll(_ end: Result<Void, BLEError>) {
        let all = consumers.values
        consumers.removeAll()
        for consumer in all { consumer.buffer.finish(end) }
    }
}
