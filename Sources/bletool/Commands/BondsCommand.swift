import ArgumentParser
import BLE
import BLECore
import Glibc
import SMP

struct BondsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "Manage bonds with the devices that this machine has paired with.",
        discussion: """
            Bonds of user:, serial:, tcp:, unix: and virtual adapters, and of kernel adapters while bluetoothd does \
            not run. bluetoothd keeps its own, which bluetoothctl shows.

            DEVICE is an address, AA:BB:CC:DD:EE:FF, with /public or /random if both types have a bond, or \
            name:GLOB; a resolvable private address is resolved with the keys of the bonds.
            """,
        subcommands: [
            BondsListCommand.self, BondsShowCommand.self, BondsRemoveCommand.self, BondsExportCommand.self,
            BondsImportCommand.self, BondsResetPasskeyCommand.self,
        ])
}

/// A verb of `bonds`, which uses no radio.
protocol BondsVerb: ToolCommand {
    var global: PlainOptions { get }
    var state: StateOptions { get }
    /// What the verb does with the folder.
    static var effect: BondsEffect { get }
    /// The command that does the same with bluetoothd's bonds, or that shows them.
    static var daemonsCommand: String { get }
    /// Checks the arguments before the folder is accessed.
    func check() throws(Failure)
    func run(_ bonds: BondStore, _ console: Console) async throws(Failure)
}

/// What a verb of `bonds` does with the folder of bonds.
enum BondsEffect {
    /// Changes nothing in the folder.
    case reads
    /// Changes a folder, and creates none.
    case removes
    /// Changes the folder, and creates a missing one.
    case adds
}

extension BondsVerb {
    static var effect: BondsEffect { .reads }
    static var daemonsCommand: String { "bluetoothctl devices Paired" }
    var output: OutputOptions { global.output }

    func check() throws(Failure) {}

    func perform(_ console: Console) async throws(Failure) {
        try global.refuse(for: "bonds")
        try check()
        Logs.start(output.logLevel)
        let bonds = try await openBonds()
        var failure: Failure?
        do throws(Failure) {
            try await run(bonds, console)
        } catch {
            failure = error
        }
        // A bond that is not found may be one of those that this user may not read.
        if failure == nil || failure?.kind == .notFound { failure = state.unreadable(bonds) ?? failure }
        // A device that has no bond here can have one in bluetoothd.
        if let note = Self.note(besides: await Diagnosis.make().bluetoothDaemon) { console.note(note) }
        if let failure { throw failure }
    }

    /// Returns a note about the bonds that bluetoothd keeps, or nil if `daemon`, its process identifier, is
    /// nil.
    static func note(besides daemon: Int32?) -> String? {
        daemon.map { _ in "bluetoothd runs and keeps bonds of its own: \(daemonsCommand)" }
    }

    /// Opens the store of the bonds that the verb works on.
    func openBonds() async throws(Failure) -> BondStore {
        switch Self.effect {
        case .reads: try await state.copyOfBonds()
        case .removes: try await state.bonds(makesFolder: false)
        case .adds: try await state.bonds()
        }
    }
}

extension BondStore {
    /// Returns the bonds that match any of `devices`, or all bonds if `devices` is empty.
    func records(_ devices: [String]) throws(Failure) -> [BondRecord] {
        let all = records()
        guard !devices.isEmpty else { return all }
        var found: Set<BondID> = []
        for text in devices {
            let selector = try DeviceSelector(argument: text)
            let meant = all.filter { isMeant($0, by: selector) }
            guard !meant.isEmpty else {
                throw Failure(
                    .notFound, "\(selector)".printable, "there is no bond with it",
                    hint: "bletool bonds list shows the bonds")
            }
            found.formUnion(meant.map(\.id))
        }
        return all.filter { found.contains($0.id) }
    }

    private func isMeant(_ record: BondRecord, by selector: DeviceSelector) -> Bool {
        switch selector {
        case .address(let address): self.record(behind: address, at: record.id.local)?.id == record.id
        case .untyped(let bits):
            // An address with the bits of a private address is a random address.
            record.id.peer.value == bits
                || self.record(behind: DeviceAddress(bits, type: .random), at: record.id.local)?.id
                    == record.id
        case .name(let pattern): record.name.map { Glob(pattern).matches(name: $0) } ?? false
        }
    }
}

extension DeviceSelector {
    /// Parses the device that an argument names.
    fileprivate init(argument: String) throws(Failure) {
        self = try reading("device") { () throws(BadInput) in try DeviceSelector(text: argument) }
    }
}

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
        for (adapter, failures) in bonds.retiredPasskeys {
            console.note(
                "\(adapter): \(failures) pairings with its fixed passkey have failed, so that random ones are "
                    + "displayed: bletool bonds reset-passkey")
        }
        guard records.isEmpty, bonds.problems.isEmpty else { return }
        let path = try state.path()
        let isMissing = access(path, F_OK) != 0 && errno == ENOENT
        console.note("there are no bonds in \(path.printable)\(isMissing ? ", which does not exist" : "")")
    }
}

struct BondsShowCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show everything that is stored about devices; keys only with --keys.")

    static let daemonsCommand = "bluetoothctl info DEVICE"

    @Argument(help: ArgumentHelp("The devices.", valueName: "device"))
    var devices: [String]

    @Flag(help: "Show the keys, too. With them, anyone can eavesdrop and impersonate either side.")
    var keys = false

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        for record in try bonds.records(devices) {
            guard console.show(BondEvent(record, isWhole: true, showsKeys: keys)) else { return }
        }
    }
}

struct BondsRemoveCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove bonds: the keys of devices and everything else that is stored about them.",
        discussion: """
            A server or client that runs with the same folder forgets them at once. Remove the bond on the \
            device, too: until then it uses a key that this machine no longer has.
            """)

    static let effect = BondsEffect.removes
    static let daemonsCommand = "bluetoothctl remove DEVICE"

    @Argument(help: ArgumentHelp("The devices.", valueName: "device"))
    var devices: [String] = []

    @Flag(help: "Remove all bonds.")
    var all = false

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func check() throws(Failure) {
        guard devices.isEmpty == all else {
            throw Failure(.usage, "bonds remove", "give either devices or --all")
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

struct BondsExportCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write bonds with their keys to a file.",
        discussion: """
            The file is text that only its owner can read, and includes the identities of this machine that \
            the bonds were made with. Protect it like a password.
            """)

    @Argument(
        help: ArgumentHelp("The file; - is stdout. An existing file is replaced.", valueName: "file"),
        completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("Only these devices.", valueName: "device"))
    var devices: [String] = []

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func check() throws(Failure) {
        guard file != "-" || !output.json else {
            throw Failure(.usage, "--json", "bonds are written to stdout as text", hint: "name a file")
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

struct BondsImportCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import bonds that `bonds export` has written.",
        discussion: """
            If any part of the file is damaged, nothing is imported. Of two bonds with the same device, the \
            newer one is kept. A bond works only on an adapter with the address that it was made with.
            """)

    static let effect = BondsEffect.adds

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
            throw Failure(
                .input, file.printable, "version \(version) was written by a newer release of bletool")
        } catch {
            throw Failure(error, while: "bonds import")
        }
        for address in outcome.otherIdentities {
            console.note(
                "\(address) has another identity here, which is kept: devices in the file may not "
                    + "recognize its private addresses")
        }
        console.show(
            BondsMovedEvent(imported: outcome.imported.count, older: outcome.older.count, file: file))
    }
}

struct BondsResetPasskeyCommand: BondsVerb {
    static let configuration = CommandConfiguration(
        commandName: "reset-passkey",
        abstract:
            "Display a fixed passkey again that is not used any more, because pairings with it have failed.",
        discussion: """
            A server with --passkey displays random passkeys after three failed pairings, also after a restart: each \
            failure can show two of the passkey's 20 bits to a stranger, and further ones show more. Another passkey \
            is safer, and needs no reset.
            """)

    static let effect = BondsEffect.removes

    @OptionGroup var state: StateOptions
    @OptionGroup var global: PlainOptions

    func run(_ bonds: BondStore, _ console: Console) async throws(Failure) {
        let failures = bonds.passkeyFailures.sorted { "\($0.key)" < "\($1.key)" }
        if failures.isEmpty { console.note("no pairing with a fixed passkey has failed") }
        do throws(BLEError) {
            try await bonds.clearPasskeyFailures()
        } catch {
            throw Failure(error, while: "bonds reset-passkey")
        }
        for (adapter, count) in failures {
            guard console.show(PasskeyResetEvent(adapter: adapter, failures: count)) else { return }
        }
    }
}

extension BondStore {
    /// The adapters whose fixed passkey is not displayed any more, with the number of failed pairings.
    fileprivate var retiredPasskeys: [(adapter: DeviceAddress, failures: Int)] {
        passkeyFailures.filter { $0.value >= SecurityManager.passkeyFailureLimit }
            .sorted { "\($0.key)" < "\($1.key)" }.map { ($0.key, $0.value) }
    }
}
