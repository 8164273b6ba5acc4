import HCI

extension ScanOptions.Preset {
    /// Interval and window.
    var timing: (interval: Slots, window: Slots) {
        switch self {
        case .lowPower: (Slots(.milliseconds(1280)), Slots(.microseconds(11_250)))
        case .balanced: (Slots(.milliseconds(60)), Slots(.milliseconds(30)))
        case .lowLatency: (Slots(.milliseconds(60)), Slots(.milliseconds(60)))
        }
    }

    /// The part of the time in which the receiver listens.
    var share: Double { Double(timing.window.rawValue) / Double(timing.interval.rawValue) }
}
