import ArgumentParser
import AssignedNumbers
import BLE
import BLEAdvertising
import BLECore

/// The filters and parameters of `scan`.
struct ScanArguments: ParsableArguments {
    @Option(
        name: .customLong("service"),
        help: ArgumentHelp("Only devices that advertise this service.", valueName: "uuid"))
    var services: [String] = []

    @Option(help: ArgumentHelp("Only devices with a name like this: Thermo*.", valueName: "glob"))
    var name: String?

    @Option(
        name: .customLong("address"),
        help: ArgumentHelp(
            "Only this device: AA:BB:CC:DD:EE:FF, optionally with /public or /random.", valueName: "address"))
    var addresses: [String] = []

    @Option(
        name: .customLong("company"),
        help: ArgumentHelp(
            "Only devices with data of this company: its number, or a part of its name.", valueName: "company"
        ))
    var companies: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only packets at least this strong, as in -70.", valueName: "dBm"))
    var rssi: String?

    @Flag(help: "Scan passively: send no scan requests.")
    var passive = false

    @Option(
        help: ArgumentHelp(
            """
            When to show a device again: once, change, all, or every=DURATION. (default: change; a live \
            table shows all)
            """, valueName: "what"), completion: .list(["once", "change", "all", "every="]))
    var repeats: String?

    @Option(help: ArgumentHelp("How much of the time to scan.", valueName: "preset"))
    var preset = ScanOptions.Preset.lowLatency

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The scan interval, 2.5ms to 40.96s, instead of a preset; two values with a comma between them \
            are for the PHYs in the order of --phy.
            """, valueName: "duration"))
    var interval: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The scan window in each --interval. (default: the whole interval)", valueName: "duration"))
    var window: String?

    @Option(
        help: ArgumentHelp(
            "Receive extended advertising as well: auto, on, off. With off, a controller that no other program shares gets the legacy commands.",
            valueName: "when"))
    var extended = ScanOptions.Family.auto

    @Option(help: ArgumentHelp("PHYs to scan on: 1m, coded, or 1m,coded.", valueName: "phys"))
    var phy = "1m"

    @Option(
        name: .customLong("bindkey"),
        help: ArgumentHelp(
            """
            Decrypt what BTHome sensors send, with this key of 32 hexadecimal digits; ADDRESS=HEX is the key of one \
            sensor.
            """, valueName: "key"))
    var bindkeys: [String] = []
}

extension ScanArguments {
    /// Returns the scan options of the arguments. The default of `--repeats` is `standard`.
    func options(repeats standard: ScanOptions.Repeats = .changes) throws(Failure) -> ScanOptions {
        var options = ScanOptions()
        options.services = try reading("--service", each: services) {
            try BluetoothUUID(text: $0, names: Names.uuid)
        }
        if let name, name.isEmpty {
            throw Failure(.usage, "--name", "is empty, and no device has such a name")
        }
        options.name = name
        options.addresses = try reading("--address", each: addresses) { try AddressFilter(text: $0) }
        for company in companies {
            options.companies += try reading("--company") { try [CompanyIdentifier](matching: company) }
        }
        options.minimumRSSI = try reading("--rssi", rssi) {
            // The range of RSSI in advertising reports (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
            try Int8(text: $0, in: -127...20, "a strength in dBm")
        }
        options.isPassive = passive
        options.repeats = try reading("--repeats", repeats) { try ScanOptions.Repeats(text: $0) } ?? standard
        options.preset = preset
        options.extended = extended
        let phys = try reading("--phy") { try [PHY](scanned: phy) }
        if phys.contains(.leCoded), extended == .off {
            throw Failure(.usage, "--phy", "coded needs extended scanning, which --extended off excludes")
        }
        options.phys = Set(phys)
        let timings = try timings(for: phys)
        options.timing = timings[.le1M] ?? timings[.leCoded]
        options.codedTiming = timings[.leCoded]
        return options
    }

    /// Reads the keys of encrypted sensors.
    func keys() throws(Failure) -> BindKeys {
        try reading("--bindkey") { try BindKeys(texts: bindkeys) }
    }

    /// Returns the scan interval and window of each PHY, or nothing without `--interval`.
    private func timings(
        for phys: [PHY]
    ) throws(Failure) -> [PHY: ScanTiming] {
        guard let interval else {
            if window != nil {
                throw Failure(.usage, "--window", "needs --interval")
            }
            return [:]
        }
        guard preset == .lowLatency else {
            throw Failure(.usage, "--preset", "sets the interval; leave --interval out")
        }
        let intervals = try durations(interval, of: "--interval", phys)
        let windows = try window.map { text throws(Failure) in try durations(text, of: "--window", phys) }
        var timings: [PHY: ScanTiming] = [:]
        for (phy, (interval, window)) in zip(phys, zip(intervals, windows ?? intervals)) {
            let longest = Duration.milliseconds(40_960)
            try check(interval, of: "--interval", within: longest, "40.96s")
            try check(window, of: "--window", within: interval, "the interval, \(interval.text)")
            do throws(BLEError) {
                timings[phy] = try ScanTiming(interval: interval, window: window)
            } catch {
                throw Failure(.usage, "--interval", "\(error)")
            }
        }
        return timings
    }

    /// Rejects a scan interval or window that is not within 2.5 ms to `longest`.
    private func check(
        _ duration: Duration, of option: String, within longest: Duration, _ most: String
    ) throws(Failure) {
        guard duration < .microseconds(2500) || duration > longest else { return }
        throw Failure(.usage, option, "\(duration.text) is not within 2.5ms to \(most)")
    }

    /// Parses one duration for each PHY, or one for all.
    private func durations(
        _ text: String, of option: String, _ phys: [PHY]
    ) throws(Failure) -> [Duration] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let durations = try reading(option, each: parts.map(String.init)) { try Duration(text: $0) }
        if durations.count == 1 { return [Duration](repeating: durations[0], count: phys.count) }
        guard durations.count == phys.count else {
            throw Failure(
                .usage, option,
                "\(durations.count) are given, for \(phys.count) \(phys.count == 1 ? "PHY" : "PHYs")")
        }
        return durations
    }
}

extension ScanOptions.Preset: ExpressibleByArgument {}
extension ScanOptions.Family: ExpressibleByArgument {}

extension AddressFilter {
    /// Parses an address, with or without its type.
    init(text: String) throws(BadInput) {
        if let address = DeviceAddress(text) {
            self.init(address)
        } else if let bits = DeviceAddress.bits(text) {
            self.init(bits)
        } else {
            throw BadInput(
                "\(text.quoted) is not an address",
                hint: text.hasPrefix("name:")
                    ? "--name finds devices by name"
                    : "an address is AA:BB:CC:DD:EE:FF, optionally with /public or /random")
        }
    }
}

extension ScanOptions.Repeats {
    /// Parses `once`, `change`, `all` or `every=DURATION`.
    init(text: String) throws(BadInput) {
        switch text {
        case "once": self = .once
        case "change": self = .changes
        case "all": self = .all
        case let other where other.hasPrefix("every="):
            let pause = try Duration(text: other.dropFirst("every=".count))
            guard pause > .zero else {
                throw BadInput("every= takes a duration of more than 0s", hint: "all shows every packet")
            }
            self = .every(pause)
        default:
            throw BadInput("\(text.quoted) is not once, change, all or every=DURATION", hint: "every=5s")
        }
    }
}

extension [PHY] {
    /// Parses the PHYs of a scan, separated by commas.
    init(scanned text: String) throws(BadInput) {
        self = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let phy = PrimaryPHYWord(rawValue: String(name))?.phy else {
                throw BadInput("\(name.quoted) is not a PHY for scanning", hint: "1m, coded or 1m,coded")
            }
            if contains(phy) { throw BadInput("\(name.quoted) is given twice") }
            append(phy)
        }
    }
}

extension [CompanyIdentifier] {
    /// Finds the company with a number, or all companies whose names contain `text`.
    fileprivate init(matching text: String) throws(BadInput) {
        guard !text.isEmpty else { throw BadInput("the company is empty") }
        if let number = try? CompanyIdentifier(text: text) {
            self = [number]
        } else {
            self = AssignedNumbers.companies(containing: text).map {
                CompanyIdentifier(rawValue: $0.identifier)
            }
            guard !isEmpty else {
                throw BadInput(
                    "no company has \(text.quoted) in its name",
                    hint: "`bletool lookup company WHAT` finds names")
            }
        }
    }
}
