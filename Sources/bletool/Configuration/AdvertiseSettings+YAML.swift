import BLE
import BLEAdvertising
import BLECore
import HCI

/// `advertise:`, and what is in `beacons:`.
extension AdvertiseSettings {
    /// What errors call the settings of the server's own advertising.
    private static let ofServer = "advertise"

    private enum Key: String, CaseIterable {
        case services, solicit, manufacturer, serviceData, appearance, txPowerField, power, flags, url,
            ibeacon
        case eddystoneUrl, raw, rawScanResponse, interval, preset, channels, primaryPhy, secondaryPhy, sid,
            overflow, extended

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

    /// What the node says, with the device's name; `nameNode` is where that comes from. In whole packets that are given the
    /// server's name and appearance need not be.
    init(
        _ node: YAMLNode, name: String?, at namePosition: SourcePosition?, _ context: ConfigurationContext,
        _ what: String = Self.ofServer, kind: AdvertisingKind = .connectable,
        periodic: PeriodicSettings? = nil
    ) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, what)
        self.kind = kind
        self.periodic = periodic
        let names = context.names
        let isAsGiven = fields[.raw] != nil && what == Self.ofServer
        content.name = isAsGiven ? nil : name
        content.services = try fields[.services]?.uuids(names) ?? []
        content.solicited = try fields[.solicit]?.uuids(names) ?? []
        content.manufacturer = try fields[.manufacturer]?.manufacturerData() ?? []
        content.serviceData = try fields[.serviceData]?.serviceData(names) ?? []
        let appearance = try fields.parsed(.appearance) { try Appearance(text: $0) }
        if isAsGiven { deviceAppearance = appearance } else { content.appearance = appearance }
        includesTxPower = try fields[.txPowerField]?.bool() ?? false
        power = try fields[.power]?.integer("the power", in: -127...20)
        content.flags = try fields.parsed(.flags) { try AdvertisingFlags(text: $0) }
        content.uri = try fields.parsed(.url) { try AdvertisedURI(text: $0) }
        content.iBeacon = try fields.parsed(.ibeacon) { try IBeacon(text: $0) }
        content.eddystoneURL = try fields.parsed(.eddystoneUrl) { try EddystoneURL(text: $0) }
        content.raw = try fields[.raw]?.hex(count: 0...1650)
        content.rawScanResponse = try fields[.rawScanResponse]?.hex()
        overflow = try fields[.overflow]?.word(OverflowPolicy.self) ?? overflow
        isExtended = try fields[.extended]?.bool() ?? false
        if let node = fields[.channels] {
            let texts = try node.list(of: "channels").map { node throws(ConfigurationError) in try node.text()
            }
            channels = try node.located { try AdvertisingChannels(text: texts.joined(separator: ",")) }
        }
        primaryPHY = try fields[.primaryPhy]?.word(PrimaryPHYWord.self).phy
        secondaryPHY = try fields[.secondaryPhy]?.word(PHYWord.self).phy
        sid = try fields[.sid]?.integer("the number of a set", in: 0...15)
        interval = try fields[.preset]?.word(AdvertisingPreset.self).interval
        if let node = fields[.interval] {
            if fields[.preset] != nil {
                throw ConfigurationError(
                    fields.position(of: .preset), "a preset is an interval itself; one of them is enough")
            }
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

extension AdvertiseSettings {
    private enum BeaconKey: String, CaseIterable { case name, type, periodic }

    /// One of `beacons:`: the keys of `advertise:`, and a name and a type of its own.
    init(beacon node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        guard case .mapping(let entries) = node.content else { throw node.isNot("a beacon") }
        let isOwn = { (entry: YAMLNode.Entry) in BeaconKey(rawValue: entry.key) != nil }
        let own = try YAMLFields<BeaconKey>(
            YAMLNode(position: node.position, content: .mapping(entries.filter(isOwn))), "a beacon")
        let rest = YAMLNode(position: node.position, content: .mapping(entries.filter { !isOwn($0) }))
        let kind = try own[.type]?.word(AdvertisingKind.self) ?? .nonconnectable
        if own[.periodic] != nil, kind != .nonconnectable {
            throw ConfigurationError(own.position(of: .periodic), "a beacon with a train is nonconnectable")
        }
        let periodic = try own[.periodic].map { node throws(ConfigurationError) in
            try PeriodicSettings(node, context)
        }
        try self.init(
            rest, name: own[.name]?.text("a name"), at: own[.name]?.position, context, "a beacon", kind: kind,
            periodic: periodic)
    }
}

extension YAMLNode {
    /// Companies' numbers and what they say.
    func manufacturerData() throws(ConfigurationError) -> [ManufacturerData] {
        var all: [ManufacturerData] = []
        for entry in try entries(of: "companies' numbers and hex") {
            let company = try entry.position.located { try CompanyIdentifier(text: entry.key) }
            all.append(ManufacturerData(company, try entry.value.hex()))
        }
        return all
    }

    /// Services' UUIDs and what they say.
    func serviceData(_ names: UUIDNames) throws(ConfigurationError) -> [ServiceData] {
        var all: [ServiceData] = []
        for entry in try entries(of: "UUIDs and hex") {
            let uuid = try entry.position.located { try BluetoothUUID(text: entry.key, names: names) }
            all.append(ServiceData(uuid, try entry.value.hex()))
        }
        return all
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
