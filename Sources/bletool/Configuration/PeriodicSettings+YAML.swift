import BLE
import BLEAdvertising
import BLECore

/// `periodic:` of a beacon.
extension PeriodicSettings {
    private enum Key: String, CaseIterable { case interval, data, manufacturer, serviceData, txPower }

    /// What the node says.
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
