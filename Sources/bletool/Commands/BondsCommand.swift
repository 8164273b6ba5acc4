import ArgumentParser
import BLE
import BLECore
import SMP

struct BondsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "The devices that this machine has paired with.",
        discussion: """
            Bonds of user:, serial:, tcp:, unix: and virtual adapters, and of kernel adapters while bluetoothd does \
            not run. bluetoothd keeps its own, which bluetoothctl shows.

            DEVICE is an address, AA:BB:CC:DD:EE:FF, perhaps with /public or /random, or name:GLOB; an address that \
            changes is recognized by the bond's key.
            """,
        subcommands: [
            BondsListCommand.self, BondsShowCommand.self, BondsRemoveCommand.self, BondsExportCommand.self,
            BondsImportCommand.self,
        ])
}

/// A verb of `bonds`: no radio has a part in it.
protocol BondsVerb: ToolCommand {
    var global: PlainOptions { get }
    var state: StateOptions { get }
    /// Whether it adds something, so that a folder is needed.
    static var adds: Bool { get }
    /// Checks the arguments, before the folder is touched.
    func check() throws(Failure)
    func run(_ bonds: BondStore, _ console: Console) async throws(Failure)
}

extension BondsVerb {
    static var adds: Bool { false }
    var output: OutputOptions { global.output }

    func check() throws(Failure) {}

    func perform(_ console: Console) async throws(Failure) {
        try global.refuse(for: "bonds")
        try check()
        Logs.start(output.logLevel)
        try await run(try await openBonds(), console)
    }

    /// The bonds that it is about.
    func openBonds() async throws(Failure) -> BondStore { try await state.bonds(makesFolder: Self.adds) }
}

extension BondStore {
    /// The bonds that any of DEVICEs means; all when there are none.
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
                    hint: "bletool bonds list shows what there is")
            }
            found.formUnion(meant.map(\.id))
        }
        return all.filter { found.contains($0.id) }
    }

    private func isMeant(_ record: BondRecord, by selector: DeviceSelector) -> Bool {
        switch selector {
        case .address(let address): self.record(behind: address, at: record.id.local)?.id == record.id
        case .untyped(let bits):
            // An address of private bits is a random one.
            record.id.peer.value == bits
                || self.record(behind: DeviceAddress(bits, type: .random), at: record.id.local)?.id
                    == record.id
        case .name(let pattern): record.name.map(Glob(pattern).matches) ?? false
        }
    }
}

extension DeviceSelector {
    /// The device that an argument names.
    fileprivate init(argument: String) throws(Failure) {
        self = try reading("device") { () throws(BadInput) in try DeviceSelector(text: argument) }
    }
}
