import ArgumentParser
import BLECore

/// `bletool advertise`.
struct AdvertiseCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Advertise: a name, services, a beacon, or any packet.",
        discussion: """
            UUIDs are 180f, 0000180f, 128 bits with dashes, or names of the Bluetooth SIG ("Battery Service").

            An advertisement has 31 octets. Fields that do not fit leave in this order: name, power, appearance, \
            service data, manufacturer data, UUIDs; the flags stay. --dry-run shows what goes where.
            """)

    @OptionGroup var options: AdvertiseOptions

    @Option(help: ArgumentHelp("Stop after this time.", valueName: "duration"))
    var duration: String?

    @Flag(help: "Only print the packets, and the octets that each field takes. Needs no radio.")
    var dryRun = false

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) {
        let settings = try options.settings(names: Names.uuid)
        _ = try bletool.duration(duration, of: "--duration")
        let plan = try settings.checkedPlan()
        if dryRun { console.show(PacketsEvent(plan: plan)) }
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
