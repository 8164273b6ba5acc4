import ATT
import ArgumentParser
import BLE
import BLECore
import HCISocket

/// `bletool gatt DEVICE VERB …`. ArgumentParser wants the verb first, so `BLETool` moves it there.
struct GATTCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatt", abstract: "Use a device's GATT server: see what it has, read, write, listen.",
        usage: "bletool gatt <device> tree|read|write|notify|info|dump|run|-i ...",
        discussion: """
            DEVICE is an address, AA:BB:CC:DD:EE:FF, perhaps with /public or /random, or name:GLOB, which scans \
            first. ATTR is a characteristic's UUID or name, SERVICE/CHARACTERISTIC[/DESCRIPTOR], or a handle \
            like 0x0012.
            """,
        subcommands: [
            GATTTreeCommand.self, GATTReadCommand.self, GATTWriteCommand.self, GATTNotifyCommand.self,
            GATTInfoCommand.self, GATTDumpCommand.self, GATTRunCommand.self,
            GATTShellCommand.self,
        ])
}

/// What every verb of `gatt` takes.
struct GATTOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The device: an address, or name:GLOB.", valueName: "device"))
    var device: String

    @OptionGroup var link: LinkOptions
    @OptionGroup(title: "Pairing options") var pairing: PairingArguments

    static let valued = LinkOptions.valued + PairingArguments.valued

    /// Checks them, before a radio is touched.
    func check() throws(Failure) {
        _ = try DeviceSelector.parsed(device)
        try link.check()
        try pairing.outOfBand.check(readsNow: true)
    }
}

/// A verb of `gatt`: something that is done on a connection.
protocol GATTVerb: RadioCommand {
    var options: GATTOptions { get }
    /// Whether the link to a bonded device is encrypted first.
    var encryptsIfBonded: Bool { get }
    /// Checks the arguments of the verb, before a radio is touched.
    func checkArguments() throws(Failure)
    /// Does it; afterwards the link ends.
    func run(_ device: ConnectedDevice) async throws(Failure)
}

extension GATTVerb {
    static var doing: String { "gatt" }

    var encryptsIfBonded: Bool { true }

    func checkArguments() throws(Failure) {}

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await options.pairing.options(console, showsPairing: true)
    }

    func check() throws(Failure) {
        try options.check()
        try checkArguments()
    }

    func run(_ radio: Radio) async throws(Failure) { try await runOnce(radio) }

    /// Does it on one connection.
    func runOnce(_ radio: Radio) async throws(Failure) {
        try await options.pairing.outOfBand.writeOffer(of: radio)
        let peripheral = try await connect(radio)
        try await radio.ending(peripheral) { () throws(Failure) in
            try await run(ConnectedDevice(peripheral: peripheral, radio: radio))
        }
    }

    /// Finds the device and connects to it.
    func connect(_ radio: Radio) async throws(Failure) -> Peripheral {
        var connection = try options.link.connection()
        connection.encryptsIfBonded = encryptsIfBonded
        return try await radio.connect(
            to: try .parsed(options.device), connection, within: try options.link.timeLimit())
    }
}
