import ArgumentParser
import BLE
import BLECore

/// `bletool advertise`.
struct AdvertiseCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Advertise: a name, services, a beacon, or any packet.",
        discussion: """
            UUIDs are 180f, 0000180f, 128 bits with dashes, or names of the Bluetooth SIG ("Battery Service").

            An advertisement has 31 octets. Fields that do not fit leave in this order: name, power, appearance, \
            service data, manufacturer data, UUIDs; the flags stay. --dry-run shows what goes where.
            """)

    @OptionGroup var options: AdvertiseOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this time.", valueName: "duration"))
    var duration: String?

    @Flag(help: "Only print the packets, and the octets that each field takes. Needs no radio.")
    var dryRun = false

    @OptionGroup var global: GlobalOptions

    func check() throws(Failure) {
        _ = try options.settings(names: Names.uuid).checkedPlan()
        _ = try bletool.duration(duration, of: "--duration")
    }

    func perform(_ console: Console) async throws(Failure) {
        try check()
        guard dryRun else { return try await performOnRadio(console) }
        console.show(PacketsEvent(plan: try options.settings(names: Names.uuid).checkedPlan()))
    }

    func run(_ radio: Radio) async throws(Failure) {
        let settings = try options.settings(names: Names.uuid)
        let plan = try settings.checkedPlan()
        let limit = try bletool.duration(duration, of: "--duration") ?? radio.timeLimit
        var request = AdvertisingRequest(plan, kind: settings.kind)
        request.interval = settings.interval ?? request.interval
        request.power = settings.power
        let wanted = request
        let advertising = try await radio.attempt { () throws(BLEError) in
            try await PeripheralManager(radio.adapter).advertise(wanted)
        }
        radio.console.show(
            ReadyEvent(adapter: radio.adapter.name, address: await radio.adapter.address, plan: plan))
        _ = try await radio.attempt { () throws(BLEError) in
            try await radio.limited(limit) { () throws(BLEError) in try await advertising.ended() }
        }
    }
}

extension AdvertiseSettings {
    /// The packets; what cannot be said is a failure that tells which options would help.
    func checkedPlan(actualPower: Int8? = nil) throws(Failure) -> AdvertisingPlan {
        do {
            return try plan(actualPower: actualPower)
        } catch {
            throw Failure(
                .input, "advertise", "\(error)", hint: overflow.hint(for: error, key: "--overflow "))
        }
    }
}
