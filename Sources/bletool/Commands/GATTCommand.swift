import ATT
import ArgumentParser
import BLE
import BLECore
import HCISocket

/// `bletool gatt DEVICE VERB …`. ArgumentParser requires the verb first, so `BLETool` moves it there.
struct GATTCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatt", abstract: "Use a device's GATT server: discover, read, write, subscribe.",
        usage: "bletool gatt <device> tree|read|write|notify|info|dump|run|-i ...",
        discussion: """
            DEVICE is an address, AA:BB:CC:DD:EE:FF, optionally with /public or /random, or name:GLOB, which scans \
            first. ATTR is a characteristic's UUID or name, SERVICE/CHARACTERISTIC[/DESCRIPTOR], or a handle \
            like 0x0012.
            """,
        subcommands: [
            GATTTreeCommand.self, GATTReadCommand.self, GATTWriteCommand.self, GATTNotifyCommand.self,
            GATTInfoCommand.self, GATTDumpCommand.self, GATTRunCommand.self,
            GATTShellCommand.self,
        ])
}

/// The arguments and options of every verb of `gatt`.
struct GATTOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The device: an address, or name:GLOB.", valueName: "device"))
    var device: String

    @OptionGroup var link: LinkOptions
    @OptionGroup(title: "Pairing options") var pairing: PairingArguments

    static let flags = LinkOptions.flags + PairingArguments.flags
    static let valued = LinkOptions.valued + PairingArguments.valued

    /// Checks the arguments before a radio is used.
    func check() throws(Failure) {
        _ = try DeviceSelector.parsed(device)
        try link.check()
        try pairing.outOfBand.check(readsNow: true)
    }
}

/// A verb of `gatt`, which runs on a connection.
protocol GATTVerb: RadioCommand {
    var options: GATTOptions { get }
    /// Whether the link to a bonded device is encrypted first.
    var encryptsIfBonded: Bool { get }
    /// Whether `--timeout` limits the verb as a whole, and not each of its operations.
    var sharesTimeLimit: Bool { get }
    /// Checks the arguments of the verb before a radio is used.
    func checkArguments() throws(Failure)
    /// Runs the verb on a connected device. The caller ends the link afterwards.
    func run(_ device: ConnectedDevice) async throws(Failure)
}

extension GATTVerb {
    static var doing: String { "gatt" }

    var encryptsIfBonded: Bool { true }
    var sharesTimeLimit: Bool { true }

    func checkArguments() throws(Failure) {}

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await options.pairing.options(
            console, showsPairing: true, hasPassingAddress: try global.radio.hasPassingAddress())
    }

    func check() throws(Failure) {
        try options.check()
        try checkArguments()
    }

    func run(_ radio: Radio) async throws(Failure) { try await runOnce(radio) }

    /// Connects, runs the verb once, and disconnects.
    func runOnce(_ radio: Radio) async throws(Failure) {
        try await options.pairing.outOfBand.writeOffer(of: radio)
        let radio = sharesTimeLimit ? radio.sharingTimeLimit() : radio
        let peripheral = try await connect(radio)
        try await radio.ending(peripheral) { () throws(Failure) in
            try await run(ConnectedDevice(peripheral: peripheral, radio: radio))
        }
    }

    /// Finds the device and connects to it.
    func connect(_ radio: Radio) async throws(Failure) -> Peripheral {
        var connection = try options.link.connection()
        if !encryptsIfBonded { connection.encryptsIfBonded = false }
        return try await radio.connect(
            to: try .parsed(options.device), connection, within: try options.link.timeLimit())
    }
}

extension GATTCommand {
    private static var verbs: [String] {
        configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// Returns whether the argument is an option that takes the next argument as its value.
    private static func isValued(_ argument: String) -> Bool {
        GlobalOptions.valued.contains(argument) || GATTOptions.valued.contains(argument)
    }

    /// Returns the failure for arguments that contain no verb.
    static func verbFailure(_ arguments: [String]) -> Failure {
        var words: [String] = []
        var rest = BLETool.globalsLast(arguments).dropFirst()
        while let next = rest.first {
            rest = rest.dropFirst(isValued(next) ? 2 : 1)
            if !next.hasPrefix("-") { words.append(next) }
        }
        let choice = "\(verbs.joined(lastBy: "or"))"
        guard words.count > 1 else {
            return Failure(
                .usage, "gatt", "a verb is missing: \(choice)",
                hint: "`bletool gatt DEVICE tree` shows what a device has")
        }
        return Failure(
            .usage, "gatt", "\(words[1].quoted) is not a verb\(verbs.suggestion(for: words[1]))",
            hint: "give one of \(choice)")
    }

    /// Returns the arguments with the verb moved before the device.
    static func verbFirst(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        var arguments = arguments
        if !arguments.contains("--"),
            let index = arguments.firstIndex(where: { $0 == "-i" || $0 == "--interactive" })
        {
            arguments[index] = GATTShellCommand.configuration.commandName ?? ""
        }
        var index = 1
        while index < arguments.count {
            let argument = arguments[index]
            if verbs.contains(argument) { break }
            index += isValued(argument) ? 2 : 1
        }
        guard index > 1, index < arguments.count else { return arguments }
        var moved = arguments
        moved.insert(moved.remove(at: index), at: 1)
        return moved
    }
}
