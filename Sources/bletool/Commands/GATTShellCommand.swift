import ArgumentParser
import BLE

/// `bletool gatt DEVICE shell`, or `-i`.
struct GATTShellCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "shell", abstract: "Open an interactive shell on one connection; -i for short.",
        usage: "bletool gatt <device> -i",
        discussion: """
            A line is as in a script of `run`: a verb of `gatt` without the device, subscribe, unsubscribe, \
            wait, sleep; or help, connect, disconnect, quit. Tab completes verbs, options, attributes and \
            formats. Values that arrive are shown above the input line. The history of lines is not saved. \
            Ctrl-C ends a command, Ctrl-D ends the shell. If stdin or stdout is not a terminal, stdin is \
            read as by `run - --keep-going`.
            """)

    @OptionGroup var options: GATTOptions
    @OptionGroup var global: GlobalOptions

    func run(_ radio: Radio) async throws(Failure) {
        try await options.pairing.outOfBand.writeOffer(of: radio)
        let peripheral = try await connect(radio)
        guard let terminal = RawTerminal(radio.console.output, for: .lines) else {
            return try await radio.ending(peripheral) { () throws(Failure) in
                try await ScriptFile(path: "-", keepsGoing: true).run(
                    on: ConnectedDevice(peripheral: peripheral, radio: radio))
            }
        }
        let shell = GATTShell(radio, at: terminal) { () throws(Failure) in try await connect(radio) }
        await shell.run(on: peripheral)
    }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        throw Failure(.input, "shell", "is not a verb of a script")
    }
}
