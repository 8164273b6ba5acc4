import ArgumentParser
import BLECore

/// What `advertise` says and how.
struct AdvertiseOptions: ParsableArguments {
    @Option(help: "The name.")
    var name: String?

    @Option(name: .customLong("service"), help: ArgumentHelp("A service that is offered.", valueName: "uuid"))
    var services: [String] = []

    @Option(
        name: .customLong("solicit"), help: ArgumentHelp("A service that is looked for.", valueName: "uuid"))
    var solicited: [String] = []

    @Option(help: ArgumentHelp("What a company says, as in 0xffff:0102.", valueName: "id:hex"))
    var manufacturer: [String] = []

    @Option(help: ArgumentHelp("What a service says, as in feaa:0102.", valueName: "uuid:hex"))
    var serviceData: [String] = []

    @Option(help: ArgumentHelp("What the device looks like, as in 0x0340.", valueName: "number"))
    var appearance: String?

    @Flag(help: "Tell the transmit power.")
    var txPowerField = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The transmit power to ask the controller for, -127 to 20.", valueName: "dBm"))
    var power: String?

    @Option(
        help: ArgumentHelp("Flags. Default: 06 when connectable or an iBeacon, else none.", valueName: "hex"))
    var flags: String?

    @Option(help: ArgumentHelp("A URI.", valueName: "uri"))
    var url: String?

    @Option(
        name: .customLong("ibeacon"),
        help: ArgumentHelp(
            "An iBeacon; the power is that at one metre, in dBm.", valueName: "uuid,major,minor,power"))
    var iBeacon: String?

    @Option(help: ArgumentHelp("An Eddystone-URL beacon.", valueName: "url"))
    var eddystoneURL: String?

    @Option(help: ArgumentHelp("The whole packet, as it is.", valueName: "hex"))
    var raw: String?

    @Option(help: ArgumentHelp("The whole scan response, as it is.", valueName: "hex"))
    var rawScanResponse: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time between two packets, 20ms to 10.24s.", valueName: "duration"))
    var interval: String?

    @Option(help: ArgumentHelp("What others may do with it.", valueName: "type"))
    var type = AdvertisingKind.connectable

    @Option(help: ArgumentHelp("What to do with what does not fit into 31 octets.", valueName: "policy"))
    var overflow = OverflowPolicy.fail

    @Flag(help: "Use extended advertising, even when legacy packets do.")
    var extended = false
}

extension AdvertisingKind: ExpressibleByArgument {}
extension OverflowPolicy: ExpressibleByArgument {}

extension AdvertiseOptions {
    /// What the options say. `names` finds UUIDs by the names that the Bluetooth SIG gave them.
    func settings(names: UUIDNames) throws(Failure) -> AdvertiseSettings {
        var settings = AdvertiseSettings()
        settings.kind = type
        settings.overflow = overflow
        settings.isExtended = extended
        settings.tellsPower = txPowerField
        settings.power = try reading("--power", power) { try Int8(text: $0, in: -127...20, "the power") }
        settings.content = try content(names)
        if let interval {
            try reading("--interval") { try settings.setInterval(Duration(text: interval)) }
        }
        return settings
    }

    private func content(_ names: UUIDNames) throws(Failure) -> AdvertisingContent {
        var content = AdvertisingContent()
        if let name, name.isEmpty { throw Failure(.usage, "--name", "the name is empty") }
        content.name = name
        content.services = try reading("--service", each: services) {
            try BluetoothUUID(text: $0, names: names)
        }
        content.solicited = try reading("--solicit", each: solicited) {
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

/// What `read` makes of an option's value, or nil when it was not given.
func reading<Value>(
    _ option: String, _ text: String?, _ read: (String) throws -> Value
) throws(Failure) -> Value? {
    guard let text else { return nil }
    return try reading(option) { try read(text) }
}

/// What `read` makes of each value of an option.
func reading<Value>(
    _ option: String, each texts: [String], _ read: (String) throws -> Value
) throws(Failure) -> [Value] {
    var values: [Value] = []
    for text in texts { values.append(try reading(option) { try read(text) }) }
    return values
}
