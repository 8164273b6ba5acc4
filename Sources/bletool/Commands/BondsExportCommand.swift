import ArgumentParser
import BLE
import Glibc

struct BondsExportCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write bonds with their keys to a file.",
        discussion: """
            The file is text, for its owner alone, and has the identities of this machine that the bonds are with. \
            Keep it as you keep a password.
            """)

    @Argument(
        help: ArgumentHelp("The file; - for stdout. One that is there is replaced.", valueName: "file"),
        completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("Only these devices.", valueName: "device"))
    var devices: [String] = []

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func check() throws(Failure) {
        guard file != "-" || !output.json else {
            throw Failure(.usage, "--json", "bonds go to stdout as they are kept", hint: "name a file")
        }
    }

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        let records = try bonds.records(devices)
        let text = bonds.export(records)
        guard file != "-" else {
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
                guard console.output.line(line) else { return }
            }
            return
        }
        do throws(BadInput) {
            try File.replace(file, with: text)
        } catch {
            throw Failure(file.printable, error, kind: .input)
        }
        console.show(BondsMovedEvent(exported: records.count, file: file))
    }
}
