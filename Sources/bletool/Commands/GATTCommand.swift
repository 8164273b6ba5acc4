import ATT
import ArgumentParser
import BLE
import BLECore
import HCISocket

/// `bletool gatt DEVICE VERB …`. ArgumentParser wants the verb first, so `BLETool` moves it there.
struct GATTCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatt", abstract: "Use a device's GATT server: tree, read, write, notify.",
        usage: "bletool gatt <device> tree|read|write|notify ...",
        discussion: """
            DEVICE is an address, AA:BB:CC:DD:EE:FF, perhaps with /public or /random, or name:GLOB, which scans \
            first. ATTR is a characteristic's UUID or name, SERVICE/CHARACTERISTIC[/DESCRIPTOR], or a handle \
            like 0x0012.
            """,
        subcommands: [
            GATTTreeCommand.self, GATTReadCommand.self, GATTWriteCommand.self, GATTNotifyCommand.self,
        ])

    /// The arguments with the verb before the device.
    static func verbFirst(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        let verbs = Set(configuration.subcommands.compactMap { $0.configuration.commandName })
        var index = 1
        while index < arguments.count {
            let argument = arguments[index]
            if verbs.contains(argument) { break }
            let isValued = GlobalOptions.valued.contains(argument) || GATTOptions.valued.contains(argument)
            index += isValued ? 2 : 1
        }
        guard index > 1, index < arguments.count else { return arguments }
        var moved = arguments
        moved.insert(moved.remove(at: index), at: 1)
        return moved
    }
}

/// What every verb of `gatt` takes.
struct GATTOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The device: an address, or name:GLOB.", valueName: "device"))
    var device: String

    @Option(help: ArgumentHelp("The longest ATT packet to offer, 23 to 517 octets.", valueName: "octets"))
    var mtu: String?

    @Option(help: ArgumentHelp("The security to reach first: low, medium, high, fips.", valueName: "level"))
    var security = SecurityLevel.low

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up connecting after this time; default: 20s.", valueName: "duration"))
    var connectTimeout: String?

    @Option(
        help: ArgumentHelp("Time between connection events, 7.5ms to 4s: 15ms-30ms.", valueName: "min-max"))
    var interval: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Connection events that the device may leave out, 0 to 499.", valueName: "count"))
    var latency: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Silence after which the link is lost, 100ms to 32s.", valueName: "duration"))
    var supervision: String?

    static let valued: Set = [
        "--mtu", "--security", "--connect-timeout", "--interval", "--latency", "--supervision",
    ]
}

/// `--security`, in the words of gatttool and the kernel.
enum SecurityLevel: String, CaseIterable, Sendable, ExpressibleByArgument {
    case low, medium, high, fips

    var level: LinkSecurityLevel {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        case .fips: .fips
        }
    }
}

/// A verb of `gatt`: something that is done on a connection.
protocol GATTVerb: RadioCommand {
    var options: GATTOptions { get }
    /// Checks the arguments of the verb, before a radio is touched.
    func checkArguments() throws(Failure)
    /// Does it; afterwards the link ends.
    func run(_ device: ConnectedDevice) async throws(Failure)
}

extension GATTVerb {
    static var doing: String { "gatt" }

    func checkArguments() throws(Failure) {}

    func check() throws(Failure) {
        _ = try options.selector()
        _ = try options.connection()
        _ = try options.timeLimit()
        try checkArguments()
    }

    func run(_ radio: Radio) async throws(Failure) {
        let selector = try options.selector()
        let connection = try options.connection()
        let limit = try options.timeLimit() ?? radio.timeLimit ?? .seconds(20)
        let address = try await radio.find(selector, within: limit)
        let peripheral = try await radio.attempt("\(address.text)") { () throws(BLEError) in
            try await radio.central.connect(to: address, timeout: limit, options: connection)
        }
        let result: Result<Void, Failure>
        do throws(Failure) {
            result = .success(try await run(ConnectedDevice(peripheral: peripheral, radio: radio)))
        } catch {
            result = .failure(error)
        }
        await peripheral.disconnect()
        try result.get()
    }
}

extension GATTOptions {
    fileprivate func selector() throws(Failure) -> DeviceSelector {
        try reading("device") { () throws(BadInput) in try DeviceSelector(text: device) }
    }

    fileprivate func connection() throws(Failure) -> ConnectionOptions {
        var connection = ConnectionOptions()
        if let mtu {
            let octets = try reading("--mtu") { () throws(BadInput) in
                try UInt16(text: mtu, in: 23...517, "the MTU")
            }
            connection.mtu = ATTMTU(octets)
        }
        connection.security = security.level
        connection.timing = try timing()
        return connection
    }

    private func timing() throws(Failure) -> ConnectionOptions.Timing? {
        guard interval != nil || latency != nil || supervision != nil else { return nil }
        var timing = ConnectionOptions.Timing()
        if let interval {
            timing.interval = try reading("--interval") { () throws(BadInput) in
                try Self.range(interval, within: .microseconds(7500) ... .seconds(4))
            }
        }
        if let latency {
            timing.latency = Int(
                try reading("--latency") { () throws(BadInput) in
                    try UInt16(text: latency, in: 0...499, "the latency")
                })
        }
        if let supervision {
            let range = try reading("--supervision") { () throws(BadInput) in
                try Self.range(supervision, within: .milliseconds(100) ... .seconds(32))
            }
            timing.supervisionTimeout = range.upperBound
        }
        // Core Specification 5.4, Vol 4, Part E, 7.8.12.
        let least = timing.interval.upperBound * 2 * (1 + timing.latency)
        if supervision == nil {
            timing.supervisionTimeout = max(timing.supervisionTimeout, least + .seconds(1))
        }
        guard timing.supervisionTimeout > least, timing.supervisionTimeout <= .seconds(32) else {
            throw Failure(
                .usage, supervision == nil ? "--latency" : "--supervision",
                "the link would be lost after \(timing.supervisionTimeout.text) of silence",
                hint:
                    "the supervision timeout is more than \(least.text), which is twice the interval for each "
                    + "event that may be left out and one, and at most 32s")
        }
        return timing
    }

    /// `MIN-MAX`, or one duration for both.
    private static func range(
        _ text: String, within limits: ClosedRange<Duration>
    ) throws(BadInput) -> ClosedRange<Duration> {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let least = try Duration(text: parts[0])
        let most = try Duration(text: parts[parts.count - 1])
        guard least <= most else { throw BadInput("\(text.quoted) begins after its end") }
        guard limits.contains(least), limits.contains(most) else {
            throw BadInput(
                "\(text.quoted) is not within \(limits.lowerBound.text) to \(limits.upperBound.text)")
        }
        return least...most
    }

    fileprivate func timeLimit() throws(Failure) -> Duration? {
        try duration(connectTimeout, of: "--connect-timeout")
    }
}

extension Radio {
    /// The address that a DEVICE stands for: known, or found by a scan.
    func find(_ selector: DeviceSelector, within limit: Duration) async throws(Failure) -> DeviceAddress {
        var options = ScanOptions()
        switch selector {
        case .address(let address): return address
        case .untyped(let bits): options.addresses = [AddressFilter(bits)]
        case .name(let pattern): options.name = pattern
        }
        let wanted = options
        do throws(BLEError) {
            let found = try await central.first(wanted, within: limit) { $0.address != nil }
            if let address = found.address { return address }
        } catch .notFound {
            // Told below, in the words of the command line.
        } catch {
            throw Failure(error, while: "\(selector)")
        }
        throw Failure(
            .notFound, "\(selector)", "not found within \(limit.text)",
            hint: "is it advertising? bletool scan shows what is")
    }
}
