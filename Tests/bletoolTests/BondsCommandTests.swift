import ArgumentParser
import BLECore
import Foundation
import SMP
import SystemPackage
import Testing

@testable import BLE
@testable import bletool

struct BondsCommandTests {
    private static let local = DeviceAddress(0x001b_dc07_3188, type: .public)
    private static let phone = DeviceAddress(0xc011_2233_4455, type: .random)

    private static var bond: Bond {
        var bond = Bond(
            with: phone, as: local, PairingStrength(isAuthenticated: true, isSecureConnections: true))
        bond.centralKey = LongTermKey(0xabc)
        bond.peripheralKey = LongTermKey(0xdef, ediv: 0x1234, random: 0x56)
        bond.peerIdentityKey = 0x123
        return bond
    }

    private static func store() throws -> BondStore {
        let store = BondStore { Timestamp(milliseconds: 1_795_262_400_000) }
        try store.insert(bond, name: "Phone")
        store.update(bond.id) { $0.client.configurations = [0x0013: [.notify, .indicate], 0x0015: []] }
        var other = Bond(
            with: DeviceAddress(phone.value, type: .public), as: local,
            PairingStrength(isAuthenticated: false, isSecureConnections: false, keySize: 7))
        other.centralKey = LongTermKey(1, size: 7)
        try store.insert(other)
        return store
    }

    @Test(
        "the state folder is that of the option, else of the system, else of the user",
        arguments: [
            (["--state-dir", "here"], ["STATE_DIRECTORY": "/var/lib/a"], "here"),
            ([], ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "XDG_STATE_HOME": "/x"], "/var/lib/a"),
            ([], ["XDG_STATE_HOME": "/x", "HOME": "/home/me"], "/x/bletool"),
            ([], ["XDG_STATE_HOME": "x", "HOME": "/home/me"], "/home/me/.local/state/bletool"),
            ([], [:], "/root/.local/state/bletool"),
        ] as [([String], [String: String], String)])
    func stateFolderIsResolved(arguments: [String], environment: [String: String], path: String) throws {
        let options = try StateOptions.parse(arguments)
        #expect(try options.path(environment: { environment[$0] }, home: { "/root" }) == path)
    }

    @Test("bonds that this user may not read are a permission failure, damaged ones are not")
    func unreadableBondsAreFailure() throws {
        let options = try StateOptions.parse([])
        let damaged = StateError.damaged(path: "bonds/a", line: 1, .checksum)
        try withTemporaryPath { path in
            func failure(_ problems: [StateError]) throws -> Failure? {
                options.unreadable(
                    BondStore(try BondFolder(state: path), problems: problems, clock: { .now }))
            }
            #expect(try failure([]) == nil)
            #expect(try failure([damaged, .system(.ioError, during: "open bonds/b")]) == nil)
            for errno in [Errno.permissionDenied, .notPermitted] {
                let refused = try failure([damaged, .system(errno, during: "open bonds/b")])
                #expect(refused?.kind == .permission)
                #expect(refused?.message.hasPrefix("bonds: ") == true)
                #expect(refused?.message.contains("open bonds/b") == true)
            }
        }
    }

    @Test func missingHomeFailsWithHint() throws {
        let options = try StateOptions.parse([])
        let failure = #expect(throws: Failure.self) {
            try options.path(environment: { _ in nil }, home: { nil })
        }
        #expect(failure?.hint == "--state-dir selects a folder for them")
    }

    @Test(
        arguments: [
            ([], 2), (["C0:11:22:33:44:55"], 2), (["C0:11:22:33:44:55/random"], 1), (["name:pho*"], 1),
            (["C0:11:22:33:44:55/public", "name:Phone"], 2),
        ] as [([String], Int)])
    func recordsAreSelectedByDevice(devices: [String], count: Int) throws {
        #expect(try Self.store().records(devices).count == count)
    }

    @Test func resolvableAddressFindsItsBond() throws {
        let address = DeviceAddress.resolvable(0x12345, key: AES128(key: 0x123))
        for text in [address.text, "\(address)"] {
            #expect(try Self.store().records([text]).map(\.bond) == [Self.bond])
        }
    }

    @Test(arguments: ["C0:11:22:33:44:56", "name:Tablet", "name:-"])
    func unbondedDeviceIsNotFound(device: String) throws {
        let store = try Self.store()
        let failure = #expect(throws: Failure.self) { try store.records([device]) }
        #expect(failure?.kind == .notFound)
    }

    @Test func listEventOmitsKeys() throws {
        let record = try #require(try Self.store().record(Self.bond.id))
        #expect(
            BondEvent(record).json.description
                == #"{"event":"bond","address":"C0:11:22:33:44:55","addressType":"random","name":"Phone","#
                + #""adapter":"00:1B:DC:07:31:88","adapterType":"public","authenticated":true,"#
                + #""secureConnections":true,"keySize":16,"created":"2026-11-21T12:00:00.000Z","#
                + #""lastUsed":"2026-11-21T12:00:00.000Z"}"#)
    }

    @Test func showIncludesKeysOnlyOnRequest() throws {
        let record = try #require(try Self.store().record(Self.bond.id))
        let names =
            #""keys":["centralKey","peripheralKey","peerIdentityKey"],"signCounter":0,"#
            + #""peerSignCounter":0,"subscriptions":[{"handle":19,"types":["notify","indicate"]}]"#
        let without = BondEvent(record, isWhole: true).json.description
        #expect(without.hasSuffix(names + "}"))
        let with = BondEvent(record, isWhole: true, showsKeys: true).json.description
        #expect(
            with.hasSuffix(
                names + #","centralKey":"00000000000000000000000000000abc","#
                    + #""peripheralKey":"00000000000000000000000000000def","peripheralKeyEDIV":4660,"#
                    + #""peripheralKeyRand":"0000000000000056","#
                    + #""peerIdentityKey":"00000000000000000000000000000123"}"#))
        #expect(!BondEvent(record, isWhole: true).lines(colored: false).joined().contains("abc"))
    }

    @Test func listPrintsTable() throws {
        #expect(
            BondEvent.table(try Self.store().records()).lines(colored: false) == [
                "DEVICE                    NAME   ADAPTER            PAIRING                            LAST USED",
                "C0:11:22:33:44:55/public  -      00:1B:DC:07:31:88  unauthenticated, legacy, 7 octets  "
                    + "2026-11-21T12:00:00.000Z",
                "C0:11:22:33:44:55/random  Phone  00:1B:DC:07:31:88  authenticated, Secure Connections  "
                    + "2026-11-21T12:00:00.000Z",
            ])
    }

    @Test(arguments: [[], ["--all", "C0:11:22:33:44:55"]])
    func removeRequiresDeviceOrAll(arguments: [String]) throws {
        let command = try BondsRemoveCommand.parse(arguments)
        #expect(throws: Failure.self) { try command.check() }
    }

    @Test("each verb refers to bluetoothd's bonds while bluetoothd runs") func verbsReferToBluetoothdBonds() {
        let verbs: [any BondsVerb.Type] = [
            BondsListCommand.self, BondsShowCommand.self, BondsRemoveCommand.self, BondsExportCommand.self,
            BondsImportCommand.self,
        ]
        let commands = ["devices Paired", "info DEVICE", "remove DEVICE", "devices Paired", "devices Paired"]
        #expect(
            verbs.map { $0.note(besides: 4711) }
                == commands.map { "bluetoothd runs and keeps bonds of its own: bluetoothctl \($0)" })
        #expect(verbs.allSatisfy { $0.note(besides: nil) == nil })
    }

    /// Checks and runs a command without `perform`, which also starts the log. A process can start the log
    /// only once.
    private func run(_ command: some BondsVerb, _ console: Console) async throws(Failure) {
        try command.check()
        try await command.run(try await command.openBonds(), console)
    }

    @Test(
        arguments: [
            (0, 0, "imported nothing: all.bonds holds no bonds"), (1, 0, "imported 1 bond"),
            (0, 2, "imported 0 bonds; 2 are older than what is here, which stays"),
        ])
    func importReportsImportedAndOlderBonds(count: Int, older: Int, line: String) {
        let event = BondsMovedEvent(imported: count, older: older, file: "all.bonds")
        #expect(event.lines(colored: false) == [line])
    }

    @Test func exportedBondsAreImported() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bonds-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try await BondStore.open("\(folder)/first", on: nil)
        try first.insert(Self.bond, name: "Phone")
        let identity = try await first.identity(at: Self.local)
        try await first.flush()
        let file = "\(folder)/export"
        let console = Console(isJSON: true, output: LineWriter(open("/dev/null", O_WRONLY)))
        try await run(BondsExportCommand.parse([file, "--state-dir", "\(folder)/first"]), console)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        try await run(BondsImportCommand.parse([file, "--state-dir", "\(folder)/second"]), console)
        let second = try await BondStore.open("\(folder)/second", on: nil)
        #expect(second.records() == first.records())
        #expect(second.knownIdentity(at: Self.local) == identity)

        // `list` does not create the folder, and `remove` removes the bond.
        try await run(BondsListCommand.parse(["--state-dir", "\(folder)/third"]), console)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/third"))
        try await run(BondsRemoveCommand.parse(["name:phone", "--state-dir", "\(folder)/second"]), console)
        #expect(try await BondStore.open("\(folder)/second", on: nil).records().isEmpty)

        // The import of a damaged file changes nothing.
        var octets = [UInt8](try #require(FileManager.default.contents(atPath: file)))
        octets[octets.count - 2] ^= 1
        try Data(octets).write(to: URL(fileURLWithPath: file))
        let damaged = try BondsImportCommand.parse([file, "--state-dir", "\(folder)/second"])
        await #expect(throws: Failure.self) { try await run(damaged, console) }
        #expect(try await BondStore.open("\(folder)/second", on: nil).records().isEmpty)
    }
}
