import ArgumentParser
import BLE
import BLEAdvertising
import BLECore

struct AdvertiseCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Advertise: a name, services, a beacon, or any packet.",
        discussion: """
            UUIDs are 180f, 0000180f, 128 bits with dashes, or names of the Bluetooth SIG ("Battery Service").

            Legacy advertising data has room for 31 octets. Fields that do not fit are an error, unless \
            --overflow selects what to do with them. With scan-response they leave the packet in this order: \
            name, power, appearance, service data, manufacturer data, UUIDs; the flags always stay. UUIDs \
            that fit into neither packet are left out, and the list is marked as incomplete. With \
            apple the packets are those of an Apple device: only services and a name, of which the scan \
            response has the first 10 octets if it does not fit, and services that do not fit are left out. \
            --dry-run shows where each field goes. Extended advertising has more room: 245 octets when \
            connectable, otherwise up to 1650.

            --and begins another advertisement, which is sent at the same time:

              bletool advertise --name Lamp --service 180f --and --type nonconnectable --url https://example.org

            Each controller supports a limited number at a time, 1 before Bluetooth 5; more are refused.

            --periodic adds a periodic advertising train, which `bletool sync` follows.
            """)

    @OptionGroup var options: AdvertiseOptions

    @Option(
        name: .customLong("and"), parsing: .remaining,
        help: ArgumentHelp("Begin another advertisement, with the options above.", valueName: "options"))
    var others: [String] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this time.", valueName: "duration"))
    var duration: String?

    @Flag(
        help:
            "Print the packets and the octets that each field takes, and do not advertise. Needs no adapter.")
    var dryRun = false

    @OptionGroup var state: StateOptions
    @OptionGroup var global: GlobalOptions

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await state.security(console, global)
    }

    func check() throws(Failure) {
        _ = try wanted()
        _ = try bletool.duration(duration, of: "--duration")
    }

    func perform(_ console: Console) async throws(Failure) {
        try check()
        guard dryRun else { return try await performOnRadio(console) }
        if global.radio.capture != nil { throw .meaningless("--capture", to: "--dry-run") }
        for request in try wanted() {
            console.show(
                PacketsEvent(
                    plan: request.plan, isScannable: request.kind == .scannable, periodic: request.periodic))
            // The text output already contains this note.
            if console.isJSON, request.plan.isInvisibleToLegacyScanners {
                console.note(PacketsEvent.invisible)
            }
        }
    }

    func run(_ radio: Radio) async throws(Failure) {
        let duration = try bletool.duration(duration, of: "--duration")
        let limit = radio.limit(duration)
        var sets: [ReadyEvent.Advertised] = []
        var advertisements: [(Advertising, AdvertisingRequest)] = []
        for var request in try wanted() {
            // The controller ends the advertising itself if it supports a duration.
            request.duration = duration
            let wanted = request
            let advertising = try await radio.attempt { () throws(BLEError) in
                try await PeripheralManager(radio.adapter).advertise(wanted)
            }
            let set = ReadyEvent.Advertised(wanted, power: await advertising.power)
            if let refused = set.refusedPower { radio.console.note(refused) }
            sets.append(set)
            advertisements.append((advertising, wanted))
        }
        radio.console.show(
            await ReadyEvent(radio.adapter, sets: sets))
        radio.health.showAmongResults()
        let running = advertisements
        _ = try await radio.attempt { () throws(BLEError) in
            try await radio.limited(limit) { () throws(BLEError) in
                for (index, (advertising, request)) in running.enumerated() {
                    let end = try await advertising.ended()
                    // The end at --duration is expected, and not reported. High duty cycle advertising has a
                    // time limit of its own.
                    if end == .timeLimit, request.direction?.dutyCycle != .high { continue }
                    radio.console.show(AdvertisingEndedEvent(set: index, end: end))
                }
            }
        }
    }

    /// Returns the advertising requests of the command line.
    private func wanted() throws(Failure) -> [AdvertisingRequest] {
        var all = [options]
        for arguments in others.split(separator: "--and", omittingEmptySubsequences: false)
        where !others.isEmpty {
            if arguments.isEmpty { throw Failure(.usage, "--and", "needs an advertisement after it") }
            do {
                all.append(try AdvertiseOptions.parse(Array(arguments)))
            } catch {
                throw Failure(
                    .usage, "--and", AdvertiseOptions.message(for: error),
                    hint: "`bletool advertise --help` lists the options")
            }
        }
        var wanted: [AdvertisingRequest] = []
        for options in all { wanted.append(try options.settings(names: Names.uuid).checkedRequest()) }
        return wanted
    }

    /// Returns the arguments with the options of the whole command moved before the first `--and`, wherever
    /// they stood. An `--and` at the end is doubled, for the reason below.
    static func andLast(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName, let and = arguments.firstIndex(of: "--and") else {
            return arguments
        }
        var (whole, others) = (Array(arguments[..<and]), [String]())
        var rest = arguments[and...]
        while let next = rest.first {
            let name = String(next.prefix { $0 != "=" })
            let isValued =
                GlobalOptions.valued.contains(name) || ["--duration", "--state-dir"].contains(name)
            let isWhole =
                isValued || GlobalOptions.flags.contains(next)
                || ["--dry-run", "--help", "-h"].contains(next)
            let count = isValued && name == next ? 2 : 1
            if isWhole { whole += rest.prefix(count) } else { others += rest.prefix(count) }
            rest = rest.dropFirst(count)
        }
        // The parser drops the first --and: another one makes the missing advertisement visible to `wanted`.
        if others.last == "--and" { others.append("--and") }
        return whole + others
    }
}

extension AdvertiseSettings {
    /// Returns the request, or throws a failure that names the option whose value cannot be advertised.
    func checkedRequest() throws(Failure) -> AdvertisingRequest {
        let plan = try checkedPlan()
        do throws(AdvertisingPlanError) {
            return try request(plan)
        } catch {
            throw Failure(.input, PeriodicOptions.option(error.field), error.reason)
        }
    }

    /// Returns the packets, or throws a failure that names the option whose value cannot be advertised and
    /// suggests an option that would help.
    func checkedPlan() throws(Failure) -> AdvertisingPlan {
        do {
            return try plan()
        } catch {
            var hints = [hint(for: error, key: "--overflow ")]
            if content.iBeacon != nil, case .overflow = error {
                hints.append("--and sends the rest as another advertisement")
            }
            let hint = hints.compactMap(\.self).joined(separator: "; ")
            throw Failure(
                .input, option(toBlameFor: error), error.reason, hint: hint.isEmpty ? nil : hint)
        }
    }
}

extension AdvertiseSettings {
    /// Returns the option that sets the field of an error. A beacon is manufacturer data or service data in
    /// the packet, but has an option of its own.
    private func option(toBlameFor error: AdvertisingPlanError) -> String {
        switch error.field {
        case .manufacturer where content.iBeacon != nil && content.manufacturer.isEmpty: "--ibeacon"
        case .serviceData where content.eddystoneURL != nil && content.serviceData.isEmpty: "--eddystone-url"
        default: error.field.option
        }
    }
}

extension AdvertisingContent.Field {
    /// The option that sets the field.
    fileprivate var option: String {
        switch self {
        case .flags: "--flags"
        case .services: "--service"
        case .solicited: "--solicit"
        case .uri: "--url"
        case .manufacturer: "--manufacturer"
        case .serviceData: "--service-data"
        case .appearance: "--appearance"
        case .txPower: "--tx-power-field"
        case .name: "--name"
        case .raw: "--raw"
        case .rawScanResponse: "--raw-scan-response"
        }
    }
}
