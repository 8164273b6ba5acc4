import ArgumentParser
import BLE

struct BondsRemoveCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget devices: their keys and all that is kept of them.",
        discussion: """
            Where a server or client runs on the same folder, it forgets them at once. The device should forget this \
            machine, too: until then it uses a key that no longer exists here.
            """)

    @Argument(help: ArgumentHelp("The devices.", valueName: "device"))
    var devices: [String] = []

    @Flag(help: "Forget all devices.")
    var all = false

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func check() throws(Failure) {
        guard devices.isEmpty == all else {
            throw Failure(.usage, "bonds remove", "which? Name devices, or --all, not both")
        }
    }

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        let records = try bonds.records(devices)
        if devices.count == 1, devices[0].hasPrefix("name:"), Set(records.map(\.id.peer)).count > 1 {
            let peers = records.map { "\($0.id.peer)" }
            throw Failure(
                .input, devices[0].printable, "\(records.count) bonds match: \(peers.joined(lastBy: "and"))",
                hint: "name one by its address")
        }
        for record in records { bonds.remove(record.id) }
        do throws(BLEError) {
            try await bonds.flush()
        } catch {
            throw Failure(error, while: "bonds remove")
        }
        for record in records { guard console.show(BondRemovedEvent(record)) else { return } }
    }
}
