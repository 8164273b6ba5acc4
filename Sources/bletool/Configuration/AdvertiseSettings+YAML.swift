import BLECore

/// `advertise:`.
extension AdvertiseSettings {
    private enum Key: String, CaseIterable {
        case services, solicit, manufacturer, serviceData, appearance, txPowerField, power, flags, url,
            ibeacon
        case eddystoneUrl, raw, rawScanResponse, interval, overflow, extended

        /// The key that is to blame for a field of a packet.
        init?(_ field: AdvertisingContent.Field) {
            switch field {
            case .flags: self = .flags
            case .services: self = .services
            case .solicited: self = .solicit
            case .uri: self = .url
            case .manufacturer: self = .manufacturer
            case .serviceData: self = .serviceData
            case .appearance: self = .appearance
            case .txPower: self = .txPowerField
            case .raw: self = .raw
            case .rawScanResponse: self = .rawScanResponse
            case .name: return nil
            }
        }
    }

    /// What the node says, with the device's name; `nameNode` is where that comes from.
    init(
        _ node: YAMLNode, name: String?, at namePosition: SourcePosition?, _ context: ConfigurationContext
    ) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "advertise")
        let names = context.names
        content.name = name
        content.services = try fields[.services]?.uuids(names) ?? []
        content.solicited = try fields[.solicit]?.uuids(names) ?? []
        for entry in try fields[.manufacturer]?.entries(of: "companies' numbers and hex") ?? [] {
            let company = try entry.position.located { try CompanyIdentifier(text: entry.key) }
            content.manufacturer.append(ManufacturerData(company, try entry.value.hex()))
        }
        for entry in try fields[.serviceData]?.entries(of: "UUIDs and hex") ?? [] {
            let uuid = try entry.position.located { try BluetoothUUID(text: entry.key, names: names) }
            content.serviceData.append(ServiceData(uuid, try entry.value.hex()))
        }
        content.appearance = try fields.parsed(.appearance) { try Appearance(text: $0) }
        tellsPower = try fields[.txPowerField]?.bool() ?? false
        power = try fields[.power]?.integer("the power", in: -127...20)
        content.flags = try fields.parsed(.flags) { try AdvertisingFlags(text: $0) }
        content.uri = try fields.parsed(.url) { try AdvertisedURI(text: $0) }
        content.iBeacon = try fields.parsed(.ibeacon) { try IBeacon(text: $0) }
        content.eddystoneURL = try fields.parsed(.eddystoneUrl) { try EddystoneURL(text: $0) }
        content.raw = try fields[.raw]?.hex(count: 0...1650)
        content.rawScanResponse = try fields[.rawScanResponse]?.hex()
        overflow = try fields[.overflow]?.word(OverflowPolicy.self) ?? overflow
        isExtended = try fields[.extended]?.bool() ?? false
        if let node = fields[.interval] {
            let interval = try node.duration()
            try node.located { try setInterval(interval) }
        }
        do {
            _ = try plan()
        } catch {
            let named = error.field == .name ? namePosition : nil
            throw ConfigurationError(
                named ?? Key(error.field).map(fields.position) ?? fields.position, "\(error)",
                hint: overflow.hint(for: error, key: "overflow: "))
        }
    }
}

extension YAMLFields {
    /// What `parse` makes of the text of a key, or nil when it is left out.
    fileprivate func parsed<Value>(
        _ key: Key, _ parse: (String) throws -> Value
    ) throws(ConfigurationError) -> Value? {
        guard let node = self[key] else { return nil }
        let text = try node.text()
        return try node.located { try parse(text) }
    }
}
