import ArgumentParser
import BLE

struct BondsImportCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take over bonds that `bonds export` has written.",
        discussion: """
            All of the file, or nothing when any of it is damaged. Of two pairings with the same device the later \
            one stays. A bond works on an adapter with the address that it was made with.
            """)

    static let adds = true

    @Argument(help: ArgumentHelp("The file; - for stdin.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        let octets = try reading(file.printable) { () throws(BadInput) in
            try File.argument(file, limit: 64 << 20)
        }
        let outcome: BondStore.Import
        do throws(BLEError) {
            outcome = try await bonds.takeIn(octets)
        } catch .bonds(.damaged(_, let line, let damage)) {
            throw Failure(.input, "\(file.printable): line \(line)", "\(damage)")
        } catch .bonds(.newer(_, let version)) {
            throw Failure(.input, file.printable, "version \(version) is of a later release of bletool")
        } catch {
            throw Failure(error, while: "bonds import")
        }
        for address in outcome.otherIdentities {
            console.note(
                "\(address) has another identity here, which stays: devices of the file may not recognize its "
                    + "private addresses")
        }
        console.show(
            BondsMovedEvent(imported: outcome.imported.count, older: outcome.older.count, file: file))
    }
}
