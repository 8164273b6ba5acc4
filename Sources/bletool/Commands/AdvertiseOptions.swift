import ArgumentParser
import BLE
import BLEAdvertising
import BLECore
import HCI

/// The advertising data and parameters of `advertise`.
struct AdvertiseOptions: ParsableArguments {
    @Option(help: "The name.")
    var name: String?

    @Option(
        name: .customLong("service"), help: ArgumentHelp("A service UUID to advertise.", valueName: "uuid"))
    var services: [String] = []

    @Option(
        name: .customLong("solicit"), help: ArgumentHelp("A service UUID to solicit.", valueName: "uuid"))
    var solicited: [String] = []

    @Option(help: ArgumentHelp("Manufacturer data: company and hex, as in 0xffff:0102.", valueName: "id:hex"))
    var manufacturer: [String] = []

    @Option(help: ArgumentHelp("Service data: UUID and hex, as in feaa:0102.", valueName: "uuid:hex"))
    var serviceData: [String] = []

    @Option(help: ArgumentHelp("The appearance, as in 0x0340.", valueName: "number"))
    var appearance: String?

    @Flag(help: "Advertise the transmit power.")
    var txPowerField = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The transmit power to request from the controller, -127 to 20.", valueName: "dBm")
    )
    var power: String?

    @Option(
        help: ArgumentHelp("Flags. Default: 06 when connectable or an iBeacon, else none.", valueName: "hex"))
    var flags: String?

    @Option(help: ArgumentHelp("A URI.", valueName: "uri"))
    var url: String?

    @Option(
        name: .customLong("ibeacon"),
        help: ArgumentHelp(
            "An iBeacon; the power is that at one meter, in dBm.", valueName: "uuid,major,minor,power"))
    var iBeacon: String?

    @Option(help: ArgumentHelp("An Eddystone-URL beacon.", valueName: "url"))
    var eddystoneURL: String?

    @Option(
        help: ArgumentHelp(
            "The complete advertising data, as AD structures in hex: 020106.", valueName: "hex"))
    var raw: String?

    @Option(help: ArgumentHelp("The complete scan response data.", valueName: "hex"))
    var rawScanResponse: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The advertising interval, 20ms to 10.24s, with --extended up to 10485.75s. Default: 100ms.",
            valueName: "duration"))
    var interval: String?

    @Option(
        help: ArgumentHelp(
            "A named interval: 20ms, 152.5ms, 417.5ms or 1022.5ms, which Apple devices discover best.",
            valueName: "preset"))
    var preset: AdvertisingPreset?

    @Option(
        help: ArgumentHelp(
            """
            The type of advertising: connectable (ADV_IND), scannable (ADV_SCAN_IND) or nonconnectable \
            (ADV_NONCONN_IND). Default: connectable; with --periodic nonconnectable.
            """,
            valueName: "type"))
    var type: AdvertisingKind?

    @Option(
        help: ArgumentHelp(
            "Direct it at one device: AA:BB:CC:DD:EE:FF, /random unless public. No data without --extended.",
            valueName: "address"))
    var directed: String?

    @Flag(help: "With --directed: advertise with the high duty cycle, for 1.28 s.")
    var highDuty = false

    @Flag(help: "Advertise without an address. Uses extended advertising; needs --type nonconnectable.")
    var anonymous = false

    @Option(help: ArgumentHelp("The advertising channels. Default: 37,38,39.", valueName: "channels"))
    var channels: String?

    @Option(
        help: ArgumentHelp("The primary PHY; coded (long range) uses extended advertising.", valueName: "phy")
    )
    var primaryPhy: PrimaryPHYWord?

    @Option(
        help: ArgumentHelp(
            "The secondary PHY, which carries the data; uses extended advertising.", valueName: "phy"))
    var secondaryPhy: PHYWord?

    @Option(
        help: ArgumentHelp("The Advertising SID, 0 to 15, of extended advertising.", valueName: "number"))
    var sid: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Stop after this many advertising events, 1 to 255, if the controller counts them.",
            valueName: "count"))
    var maxEvents: String?

    @OptionGroup var train: PeriodicOptions

    @Option(help: ArgumentHelp("What to do with fields that do not fit into 31 octets.", valueName: "policy"))
    var overflow = OverflowPolicy.fail

    @Flag(help: "Use extended advertising even if legacy advertising is sufficient.")
    var extended = false
}

extension AdvertisingKind: ExpressibleByArgument {}
extension AdvertisingPreset: ExpressibleByArgument {}
extension OverflowPolicy: ExpressibleByArgument {}

extension AdvertiseOptions {
    /// Returns the settings of the options. `names` finds UUIDs by the names that the Bluetooth SIG assigned
    /// to them.
    func settings(names: UUIDNames) throws(Failure) -> AdvertiseSettings {
        var settings = AdvertiseSettings()
        settings.periodic = try train.settings(names: names)
        settings.kind = type ?? (settings.periodic == nil ? .connectable : .nonconnectable)
        settings.overflow = overflow
        settings.isExtended = extended
        settings.includesTxPower = txPowerField
        settings.power = try reading("--power", power) { try Int8(text: $0, in: -127...20, "the power") }
        settings.content = try content(names)
        settings.isAnonymous = anonymous
        settings.primaryPHY = primaryPhy?.phy
        settings.secondaryPHY = secondaryPhy?.phy
        settings.sid = try reading("--sid", sid) { try UInt8(text: $0, in: 0...15, "the number of a set") }
        settings.maximumEvents = try reading("--max-events", maxEvents) {
            try UInt8(text: $0, in: 1...255, "the number of events")
        }
        if let channels {
            settings.channels = try reading("--channels") { try AdvertisingChannels(text: channels) }
        }
        settings.direction = try direction()
        if let interval {
            if preset != nil {
                throw Failure(.usage, "--preset", "sets the interval; leave --interval out")
            }
            try reading("--interval") { try settings.setInterval(Duration(text: interval)) }
        }
        settings.interval = preset?.interval ?? settings.interval
        try check(settings)
        return settings
    }

    private func direction() throws(Failure) -> AdvertisingDirection? {
        guard let directed else {
            if highDuty { throw Failure(.usage, "--high-duty", "needs --directed") }
            return nil
        }
        let address =
            DeviceAddress(directed) ?? DeviceAddress.bits(directed).map { DeviceAddress($0, type: .public) }
        guard let address else {
            throw Failure(
                .usage, "--directed", "\(directed.quoted) is not an address",
                hint: "AA:BB:CC:DD:EE:FF, /random unless it is public")
        }
        return AdvertisingDirection(address, dutyCycle: highDuty ? .high : .low)
    }

    /// Rejects options that cannot be combined.
    private func check(_ settings: AdvertiseSettings) throws(Failure) {
        if settings.sid != nil, !settings.usesExtended, settings.overflow != .extended {
            throw Failure(.usage, "--sid", "legacy advertising has no SID", hint: "--extended has one")
        }
        if settings.isAnonymous, settings.kind != .nonconnectable {
            throw Failure(
                .usage, "--anonymous", "scans and connections need an address", hint: "--type nonconnectable")
        }
        if settings.periodic != nil, settings.kind != .nonconnectable || settings.isAnonymous {
            throw Failure(
                .usage, "--periodic",
                settings.isAnonymous
                    ? "cannot be combined with --anonymous: scanners find a train by its address"
                    : "needs --type nonconnectable",
                hint: "--and adds another advertisement")
        }
        guard settings.direction != nil else { return }
        if settings.direction?.dutyCycle == .high, settings.usesExtended {
            throw Failure(.usage, "--high-duty", "is for legacy packets only")
        }
        if !settings.usesExtended, settings.content != AdvertisingContent() || settings.includesTxPower {
            throw Failure(
                .usage, "--directed", "in legacy packets carries no data", hint: "--extended can carry data")
        }
        if !settings.usesExtended, settings.kind != .connectable {
            throw Failure(
                .usage, "--directed", "in legacy packets is always connectable",
                hint: "--extended need not be")
        }
    }

    private func content(_ names: UUIDNames) throws(Failure) -> AdvertisingContent {
        var content = AdvertisingContent()
        if let name, name.isEmpty { throw Failure(.usage, "--name", "the name is empty") }
        content.name = name
        content.services = try reading("--service", distinct: services) {
            try BluetoothUUID(text: $0, names: names)
        }
        content.solicited = try reading("--solicit", distinct: solicited) {
            try BluetoothUUID(text: $0, names: names)
        }
        content.manufacturer = try reading("--manufacturer", each: manufacturer) {
            try ManufacturerData(text: $0)
        }
        content.serviceData = try reading("--service-data", each: serviceData) {
            try ServiceData(text: $0, names: names)
        }
        content.appearance = try reading("--appearance", appearance) { try Appearance(text: $0) }
        content.flags = try reading("--flags", flags) { try AdvertisingFlags(text: $0) }
        content.uri = try reading("--url", url) { try AdvertisedURI(text: $0) }
        content.iBeacon = try reading("--ibeacon", iBeacon) { try IBeacon(text: $0) }
        content.eddystoneURL = try reading("--eddystone-url", eddystoneURL) { try EddystoneURL(text: $0) }
        content.raw = try reading("--raw", raw) { try [UInt8](hexText: $0) }
        content.rawScanResponse = try reading("--raw-scan-response", rawScanResponse) {
            try [UInt8](hexText: $0)
        }
        return content
    }
}

/// Parses the value of an option with `read`, or returns nil if the option is not given.
func reading<Value>(
    _ option: String, _ text: String?, _ read: (String) throws -> Value
) throws(Failure) -> Value? {
    guard let text else { return nil }
    return try reading(option) { try read(text) }
}

/// Parses each value of an option with `read`.
func reading<Value>(
    _ option: String, each texts: [String], _ read: (String) throws -> Value
) throws(Failure) -> [Value] {
    var values: [Value] = []
    for text in texts { values.append(try reading(option) { try read(text) }) }
    return values
}

/// Parses the values of an option with `read`, and removes repeated values. The others keep their order.
private func reading<Value: Hashable>(
    _ option: String, distinct texts: [String], _ read: (String) throws -> Value
) throws(Failure) -> [Value] {
    var seen: Set<Value> = []
    return try reading(option, each: texts, read).filter { seen.insert($0).inserted }
}
