import BLE
import BLEAdvertising
import BLECore
import HCI

/// The contents and parameters of an advertisement, from options or from a configuration.
struct AdvertiseSettings: Hashable, Sendable {
    /// The contents of the packets. `plan` fills in the transmit power, and the library corrects it when the
    /// controller has chosen one.
    var content = AdvertisingContent()
    /// The appearance of the device, if the packets are given as raw octets.
    var deviceAppearance: Appearance?
    /// Whether centrals can connect or scan.
    var kind = AdvertisingKind.connectable
    /// What to do when the content does not fit.
    var overflow = OverflowPolicy.fail
    /// Whether to use extended packets even if legacy ones are sufficient.
    var isExtended = false
    /// The time from one advertisement to the next; nil leaves it to the host.
    var interval: Duration?
    /// The transmit power to request from the controller, in dBm.
    var power: Int8?
    /// Whether the packets contain the power.
    var includesTxPower = false
    /// The primary channels to send on.
    var channels = AdvertisingChannels.all
    /// The PHY on which advertising events begin; nil leaves it to the host.
    var primaryPHY: PHY?
    /// The PHY of the data in extended packets; nil leaves it to the host.
    var secondaryPHY: PHY?
    /// The only device that the advertisement is directed at.
    var direction: AdvertisingDirection?
    /// Whether the packets carry no address.
    var isAnonymous = false
    /// The Advertising SID, by which scanners identify the set.
    var sid: UInt8?
    /// The number of advertising events, 1 to 255; nil: no limit.
    var maximumEvents: UInt8?
    /// The periodic train that belongs to the advertisement.
    var periodic: PeriodicSettings?

    /// Whether extended packets are used, because they are requested or because the other settings require
    /// them.
    var usesExtended: Bool {
        isExtended || isAnonymous || primaryPHY == .leCoded || secondaryPHY != nil || periodic != nil
    }

    /// Returns the request to send the packets of `plan`.
    func request(_ plan: AdvertisingPlan) throws(AdvertisingPlanError) -> AdvertisingRequest {
        var request = AdvertisingRequest(plan, kind: kind)
        request.interval = interval ?? request.interval
        request.power = power
        request.correctsPowerField = includesTxPower
        request.channels = channels
        request.primaryPHY = primaryPHY ?? request.primaryPHY
        request.secondaryPHY = secondaryPHY ?? request.secondaryPHY
        request.direction = direction
        request.isAnonymous = isAnonymous
        request.sid = sid
        request.maximumEvents = maximumEvents
        request.periodic = try periodic?.train(plan)
        return request
    }

    /// Returns the packets, with the requested power.
    func plan() throws(AdvertisingPlanError) -> AdvertisingPlan {
        // Directed advertising in legacy packets carries no data.
        if direction != nil, !usesExtended { return .empty }
        var content = content
        content.txPower = includesTxPower ? power ?? 0 : nil
        return try AdvertisingPlan(content, kind: kind, overflow: overflow, extended: usesExtended)
    }

    /// Sets the interval, 20 ms to 10.24 s, or with extended packets to 10,485.76 s (Core Specification 5.4,
    /// Vol 4, Part E, 7.8.5 and 7.8.53).
    mutating func setInterval(_ interval: Duration) throws(BadInput) {
        let most: Duration = usesExtended ? .microseconds(0xff_ffff * 625) : .milliseconds(10_240)
        guard interval >= .milliseconds(20), interval <= most else {
            let isLong = !usesExtended && interval > most
            throw BadInput(
                "the interval is 20ms to \(most.text), not \(interval.text)",
                hint: isLong
                    ? "extended advertising goes up to \(Duration.microseconds(0xff_ffff * 625).text)" : nil)
        }
        self.interval = interval
    }
}

// MARK: Texts

extension AdvertisingChannels {
    /// Parses channel numbers, separated by commas.
    init(text: some StringProtocol) throws(BadInput) {
        self = []
        for number in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch number {
            case "37": insert(.channel37)
            case "38": insert(.channel38)
            case "39": insert(.channel39)
            default:
                throw BadInput(
                    "\(number.quoted) is not an advertising channel", hint: "the channels are 37, 38 and 39")
            }
        }
    }
}

extension AdvertisingFlags {
    /// Parses the flags from two hexadecimal digits.
    init(text: some StringProtocol) throws(BadInput) {
        let octets = try [UInt8](hexText: text, count: 1...1)
        self.init(rawValue: octets[0])
    }
}

extension CompanyIdentifier {
    /// Parses the number of a company.
    init(text: some StringProtocol) throws(BadInput) {
        do throws(BadInput) {
            self.init(rawValue: try UInt16(text: text, "a company's number"))
        } catch {
            guard text.contains(where: \.isLetter), text.first != "0" else { throw error }
            throw BadInput(
                "\(text.quoted) is not a company's number",
                hint: "`bletool lookup company WHAT` finds it; 0xffff is for tests")
        }
    }
}

extension ManufacturerData {
    /// Reads the form `ID:HEX`, as in `0xffff:0102`.
    init(text: some StringProtocol) throws(BadInput) {
        let (company, data) = try text.halves("ID:HEX, as in 0xffff:0102")
        self.init(try CompanyIdentifier(text: company), try [UInt8](hexText: data))
    }
}

extension ServiceData {
    /// Reads the form `UUID:HEX`, as in `feaa:0102`.
    init(text: some StringProtocol, names: UUIDNames) throws(BadInput) {
        let (uuid, data) = try text.halves("UUID:HEX, as in feaa:0102")
        self.init(try BluetoothUUID(text: uuid, names: names), try [UInt8](hexText: data))
    }
}

extension Appearance {
    /// Parses the number of an appearance.
    init(text: some StringProtocol) throws(BadInput) {
        self.init(rawValue: try UInt16(text: text, "an appearance"))
    }
}

extension AdvertisedURI {
    /// Parses a URI, which must begin with a scheme.
    init(text: some StringProtocol) throws(BadInput) {
        let scheme = text.prefix { $0 != ":" }
        guard scheme.count < text.count, scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw BadInput(
                "\(text.quoted) is not a URI", hint: "as in https://example.org; others than ASCII as %E2")
        }
        self.init(String(text))
    }
}

extension IBeacon {
    /// Reads the form `UUID,MAJOR,MINOR,POWER`. The power is that at one meter, in dBm.
    init(text: some StringProtocol) throws(BadInput) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4 else {
            throw BadInput(
                "\(text.quoted) is not UUID,MAJOR,MINOR,POWER",
                hint:
                    "as in e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,2,-59; the power is that at one meter, in dBm"
            )
        }
        guard let uuid = try? BluetoothUUID(parts[0]), parts[0].utf8.count == 36 else {
            throw BadInput("\(parts[0].quoted) is not a UUID of 32 hex digits with dashes")
        }
        self.init(
            uuid: uuid, major: try UInt16(text: parts[1], "major"),
            minor: try UInt16(text: parts[2], "minor"),
            measuredPower: try Int8(text: parts[3], "the power"))
    }
}

extension EddystoneURL {
    /// Encodes a web address. Throws if it does not fit into an Eddystone-URL.
    init(text: some StringProtocol) throws(BadInput) {
        do {
            self = try EddystoneURL(String(text))
        } catch {
            switch error {
            case .invalid(_, let problem): throw BadInput("\(problem)")
            case .malformed(_, let error): throw BadInput("\(error)")
            case .overflow(let overflow), .noScanResponse(let overflow):
                throw BadInput(
                    "\(text.quoted) takes \(overflow.octets) octets; an Eddystone-URL has \(overflow.limit)",
                    hint: "the scheme and endings like .com/ count as one each; a short link helps")
            }
        }
    }
}

extension StringProtocol {
    /// Returns the text before the last colon and the text after it.
    fileprivate func halves(_ form: String) throws(BadInput) -> (SubSequence, SubSequence) {
        guard let colon = lastIndex(of: ":") else { throw BadInput("\(quoted) is not \(form)") }
        return (self[..<colon], self[index(after: colon)...])
    }
}

/// The mapping under `advertise:`, and those in `beacons:`.
extension AdvertiseSettings {
    /// The name, in errors, of the settings of the server's own advertising.
    private static let ofServer = "advertise"

    private enum Key: String, CaseIterable {
        case services, solicit, manufacturer, serviceData, appearance, txPowerField, power, flags, url,
            ibeacon
        case eddystoneUrl, raw, rawScanResponse, interval, preset, channels, primaryPhy, secondaryPhy, sid,
            overflow, extended

        /// Creates the key that sets a field of a packet; nil for the name, which none of these keys sets.
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

    /// Reads the settings of the node, with the device's name, which is from `namePosition`. Packets that are
    /// given as raw octets need not contain the server's name and appearance.
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
        content.iBeacon = try fields.parsed(.ibeacon, as: "UUID,MAJOR,MINOR,POWER") { try IBeacon(text: $0) }
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
                    fields.position(of: .preset), "a preset sets the interval; give only one of the two")
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
                hint: hint(for: error, key: "overflow: "))
        }
    }
}

extension AdvertiseSettings {
    private enum BeaconKey: String, CaseIterable { case name, type, periodic }

    /// Reads one of `beacons:`: the keys of `advertise:`, and its own name, type and periodic train.
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
    /// Reads manufacturer data, with companies' numbers as keys.
    func manufacturerData() throws(ConfigurationError) -> [ManufacturerData] {
        var all: [ManufacturerData] = []
        for entry in try entries(of: "companies' numbers and hex") {
            let company = try entry.position.located { try CompanyIdentifier(text: entry.key) }
            all.append(ManufacturerData(company, try entry.value.hex()))
        }
        return all
    }

    /// Reads service data, with services' UUIDs as keys.
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
    /// Returns the result of `parse` for the text of a key, or nil if the key is missing.
    fileprivate func parsed<Value>(
        _ key: Key, as wanted: String = "text", _ parse: (String) throws -> Value
    ) throws(ConfigurationError) -> Value? {
        guard let node = self[key] else { return nil }
        let text = try node.text(wanted)
        return try node.located { try parse(text) }
    }
}

extension AdvertiseSettings {
    /// Returns a hint about content that the policy cannot place. `key` is the name of the policy where the
    /// user writes it.
    func hint(for error: AdvertisingPlanError, key: String) -> String? {
        switch error {
        case .malformed, .invalid: return nil
        case .noScanResponse(let overflow) where overflow.limit == 0:
            return
                "connectable and scannable legacy advertisements have a scan response, and scannable extended ones"
        case .noScanResponse, .overflow: break
        }
        let others = [OverflowPolicy.shortenName, .scanResponse, .extended].filter {
            placesEverything(by: $0)
        }
        if kind == .nonconnectable, case .noScanResponse = error {
            var scannable = self
            scannable.kind = .scannable
            if scannable.placesEverything {
                let type = key.hasPrefix("--") ? "--type scannable" : "type: scannable"
                let all = [type] + others.map { "\(key)\($0.rawValue)" }
                return "\(all.joined(lastBy: "or")) makes room"
            }
        }
        if !others.isEmpty { return "\(key)\(others.map(\.rawValue).joined(lastBy: "or")) makes room" }
        guard case .overflow = error else { return nil }
        var largest = self
        (largest.kind, largest.overflow, largest.isExtended) = (.nonconnectable, .fail, true)
        do throws(AdvertisingPlanError) {
            _ = try largest.plan()
            guard kind != .nonconnectable else { return nil }
            let most = AdvertisingLimits(for: .nonconnectable).extended
            return "extended, nonconnectable advertising has \(most) octets, in fields of 256 at most"
        } catch .overflow(let overflow) where overflow.limit == AdvertisingField.maximumCount {
            return "a field has at most \(overflow.limit) octets, with its length and type"
        } catch {
            return nil
        }
    }

    /// Returns whether another policy finds room for everything, except perhaps the end of the name.
    private func placesEverything(by policy: OverflowPolicy) -> Bool {
        guard policy != overflow else { return false }
        var other = self
        other.overflow = policy
        return other.placesEverything
    }

    private var placesEverything: Bool {
        guard let plan = try? plan() else { return false }
        return !plan.overflow.contains { $0.action == .dropped }
    }
}
