import ArgumentParser
import BLE

struct BondsListCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List bonds: the device, its name, and the security of the pairing.")

    @Argument(help: ArgumentHelp("Only these devices.", valueName: "device"))
    var devices: [String] = []

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        let records = try bonds.records(devices)
        if console.isJSON {
            for record in records { guard console.show(BondEvent(record)) else { return } }
        } else if !records.isEmpty {
            for line in BondEvent.table(records).lines(colored: console.isColored) {
                console.output.line(line)
            }
        }
        if records.isEmpty { console.note("there are no bonds in \(try state.path().printable)") }
        if await Diagnosis.make().bluetoothDaemon != nil {
            console.note("bluetoothd runs and keeps bonds of its own: bluetoothctl devices Paired")
        }
    }
}
