import ArgumentParser

/// `bletool gatt DEVICE run FILE|-`.
struct GATTRunCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a script of operations on one connection.",
        usage: "bletool gatt <device> run <file> [--keep-going]",
        discussion: """
            A line is a verb of `gatt` without the device, or one of these; # begins a comment:

              subscribe ATTR [--indicate]      show values as they arrive, while the script continues
              unsubscribe ATTR                 end the subscription
              wait notification [ATTR]         wait for the next value
              wait indication [ATTR]           that no other wait has taken
              wait disconnection               wait until the device ends the link
              sleep DURATION                   pause; values are still shown

            A wait lasts at most --within DURATION, else --timeout, else 30s.

            The whole file is checked before the radio is used, and the script ends at the first line that \
            fails. A tree or dump that shows faults of the device's database is no such line, but the status \
            at the end is that of the faults. With -, lines are read from stdin as they arrive, so that a \
            program can respond to what it receives. Unless stdout is a terminal, the results are JSON \
            objects that give the number of their line.
            """)

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The script; - is stdin.", valueName: "file"), completion: .file())
    var file: String

    @Flag(
        help:
            "Go on after a line that fails. Each failure is shown; at the end comes their number, with the exit status of the last one."
    )
    var keepGoing = false

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        if file != "-" { _ = try script.steps(json: true) }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) { try await script.run(on: device) }

    /// The limit is that of each line.
    var sharesTimeLimit: Bool { false }

    private var script: ScriptFile { ScriptFile(path: file, keepsGoing: keepGoing) }
}
