import ArgumentParser
import BLE

struct BondsShowCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show all that is kept of devices; keys only with --keys.")

    @Argument(help: ArgumentHelp("The devices.", valueName: "device"))
    var devices: [String]

    @Flag(help: "Show the keys, too: with them anyone can listen, and pretend to be either side.")
    var keys = false

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        for record in try bonds.records(devices) {
            guard console.show(BondEvent(record, isWhole: true, showsKeys: keys)) else { return }
        }
    }
}
