import ArgumentParser

/// `bletool gatt DEVICE run FILE|-`.
struct GATTRunCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Do what the lines of a file say, on one connection.",
        usage: "bletool gatt <device> run <file> [--keep-going]",
        discussion: """
            A line is a verb of `gatt` without the device, or one of these; # begins a comment:

              subscribe ATTR [--indicate]      show what comes, while the script goes on
              unsubscribe ATTR                 end that
              wait notification [ATTR]         wait for the next value
              wait indication [ATTR]           that no other wait has taken
              wait disconnection               wait until the device ends the link
              sleep DURATION                   do nothing, while values are shown

            A wait is as long as --within DURATION says, else as --timeout, else 30s.

            A file is checked as a whole before the radio is touched, and ends at the first line that fails. - takes \
            lines from stdin as they come, so that a program can answer what it receives. Answers are JSON objects \
            that name their line, but for people at a terminal.
            """)

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The script; - is stdin.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Go on after a line that fails; the exit status is that of the last such line.")
    var keepGoing = false

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        if file != "-" { _ = try script.steps(json: true) }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) { try await script.run(on: device) }

    private var script: ScriptFile { ScriptFile(path: file, keepsGoing: keepGoing) }
}
