import BLE
import BLEAdvertising
import BLECore

/// The contents and parameters of a periodic train, from options or from a configuration.
struct PeriodicSettings: Hashable, Sendable {
    /// The time between two packets, as a range.
    var interval: ClosedRange<Duration>
    /// The contents of the packets, or nil for those of the advertisement.
    var content: AdvertisingContent?
    /// Whether the packets contain their transmit power.
    var includesTxPower = false

    /// The possible intervals (Core Specification 5.4, Vol 4, Part E, 7.8.61).
    static let intervals: ClosedRange<Duration> = .microseconds(7500)...(.microseconds(81_918_750))

    /// Returns the train that is sent beside the packets of `plan`.
    func train(_ plan: AdvertisingPlan) throws(AdvertisingPlanError) -> PeriodicAdvertisingTrain {
        var data = plan.extended ?? []
        if let content {
            data = try AdvertisingPlan(content, kind: .nonconnectable, extended: true).extended ?? []
        }
        var train = PeriodicAdvertisingTrain(data, within: interval)
        train.includesTxPower = includesTxPower
        return train
    }
}

extension PeriodicSettings {
    private enum Key: String, CaseIterable { case interval, data, manufacturer, serviceData, txPower }

    /// Reads the mapping under `periodic:`.
    init(_ node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "periodic")
        let interval = try fields.required(.interval)
        let text = try interval.text()
        self.init(
            interval: try interval.located { () throws(BadInput) in
                try ClosedRange(text: text, within: Self.intervals)
            })
        includesTxPower = try fields[.txPower]?.bool() ?? false
        var content = AdvertisingContent()
        content.raw = try fields[.data]?.hex(count: 0...1650)
        content.manufacturer = try fields[.manufacturer]?.manufacturerData() ?? []
        content.serviceData = try fields[.serviceData]?.serviceData(context.names) ?? []
        if content != AdvertisingContent() { self.content = content }
        do {
            _ = try train(.empty)
        } catch {
            throw ConfigurationError(fields.position(of: Self.key(error.field)), error.reason)
        }
    }

    private static func key(_ field: AdvertisingContent.Field) -> Key {
        switch field {
        case .manufacturer: .manufacturer
        case .serviceData: .serviceData
        default: .data
        }
    }
}
