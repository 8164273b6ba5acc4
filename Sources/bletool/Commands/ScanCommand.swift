import ArgumentParser
import BLE
import BLECore
import HCI

/// `bletool scan`.
struct ScanCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Scan: show what advertises nearby.",
        discussion: """
            A device is shown when it is new and when what it sends changes; --repeats says otherwise. An \
            advertisement and its scan response are shown as one.

            --count that is not reached within --timeout ends with exit status 2; --duration that ends, with 0.
            """)

    @Option(
        name: .customLong("service"), help: ArgumentHelp("Only devices that offer this.", valueName: "uuid"))
    var services: [String] = []

    @Option(help: ArgumentHelp("Only devices with a name like this: Thermo*.", valueName: "glob"))
    var name: String?

    @Option(
        name: .customLong("address"),
        help: ArgumentHelp(
            "Only this device: AA:BB:CC:DD:EE:FF, perhaps with /public or /random.", valueName: "address"))
    var addresses: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only packets at least this strong, as in -70.", valueName: "dBm"))
    var rssi: String?

    @Flag(help: "Only listen; ask nobody for a scan response.")
    var passive = false

    @Option(
        help: ArgumentHelp("What to show again: once, change, all, or every=DURATION.", valueName: "what"))
    var repeats = "change"

    @Option(help: ArgumentHelp("How much of the time to listen.", valueName: "preset"))
    var preset = ScanOptions.Preset.lowLatency

    @Option(help: ArgumentHelp("Use the extended commands: auto, on, off.", valueName: "when"))
    var extended = ScanOptions.Family.auto

    @Option(help: ArgumentHelp("PHYs to listen on: 1m, coded, or 1m,coded.", valueName: "phys"))
    var phy = "1m"

    @Option(parsing: .unconditional, help: ArgumentHelp("End after so many.", valueName: "count"))
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @OptionGroup var global: GlobalOptions

    func check() throws(Failure) {
        _ = try scanOptions()
        _ = try bletool.duration(duration, of: "--duration")
        if let count, count < 1 { throw Failure(.usage, "--count", "must be 1 at least") }
    }

    func run(_ radio: Radio) async throws(Failure) {
        let options = try scanOptions()
        let duration = try bletool.duration(duration, of: "--duration")
        let shown = Counter()
        let wanted = count
        let console = radio.console
        let scan: @Sendable () async throws(BLEError) -> Void = { () throws(BLEError) in
            for try await found in radio.central.scan(options) {
                guard console.show(AdvertisementEvent(found)) else { return }
                if shown.increment() == wanted { return }
            }
        }
        let ended = try await radio.attempt { () throws(BLEError) in
            try await radio.limited(duration ?? radio.timeLimit, scan)
        }
        // A time limit without a number to reach is just how long to scan.
        guard !ended, duration == nil, let wanted else { return }
        throw Failure(
            .timeout, "scan", "\(shown.value) of \(wanted) found in \(radio.timeLimit?.text ?? "time")")
    }

    private func scanOptions() throws(Failure) -> ScanOptions {
        var options = ScanOptions()
        for service in services {
            options.services.append(
                try reading("--service") { () throws(BadInput) in
                    try BluetoothUUID(text: service, names: Names.uuid)
                })
        }
        options.name = name
        for address in addresses {
            options.addresses.append(
                try reading("--address") { () throws(BadInput) in try AddressFilter(text: address) })
        }
        options.minimumRSSI = try rssi.map { text throws(Failure) in
            try reading("--rssi") { () throws(BadInput) in try Int8(text: text, "a strength in dBm") }
        }
        options.isPassive = passive
        options.repeats = try reading("--repeats") { () throws(BadInput) in
            try ScanOptions.Repeats(text: repeats)
        }
        options.preset = preset
        options.extended = extended
        options.phys = try reading("--phy") { () throws(BadInput) in try Set(phys: phy) }
        return options
    }
}

extension ScanOptions.Preset: ExpressibleByArgument {}
extension ScanOptions.Family: ExpressibleByArgument {}

extension AddressFilter {
    /// The address that `text` spells, with or without its type.
    init(text: String) throws(BadInput) {
        switch try DeviceSelector(text: text) {
        case .address(let address): self.init(address)
        case .untyped(let bits): self.init(bits)
        case .name: throw BadInput("\(text.quoted) is not an address", hint: "--name finds devices by name")
        }
    }
}

extension ScanOptions.Repeats {
    /// `once`, `change`, `all` or `every=DURATION`.
    init(text: String) throws(BadInput) {
        switch text {
        case "once": self = .once
        case "change": self = .changes
        case "all": self = .all
        case let other where other.hasPrefix("every="):
            self = .every(try Duration(text: other.dropFirst("every=".count)))
        default:
            throw BadInput(
                "\(text.quoted) is none of them", hint: "once, change, all or every=5s, for example")
        }
    }
}

extension Set<ScanOptions.PrimaryPHY> {
    /// Names with commas between them.
    fileprivate init(phys text: String) throws(BadInput) {
        self = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let phy = ScanOptions.PrimaryPHY(rawValue: String(name)) else {
                throw BadInput("\(name.quoted) is not a PHY that one can scan", hint: "1m, coded or 1m,coded")
            }
            insert(phy)
        }
    }
}

extension AdvertisementEvent {
    /// What was heard, as the contract shows it.
    init(_ heard: Advertisement) {
        let report = heard.report
        self.init(
            address: report.address, rssi: report.rssi, isConnectable: heard.isConnectable,
            isScannable: report.type.contains(.scannable),
            isScanResponse: report.type.contains(.scanResponse), isLegacy: report.type.contains(.legacy),
            primaryPHY: "\(report.primaryPHY)", secondaryPHY: report.secondaryPHY.map { "\($0)" },
            set: report.sid, txPower: report.txPower, fields: heard.fields, payload: report.data, time: .now,
            companyName: Names.company)
    }
}
