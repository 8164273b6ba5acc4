import BLE
import BLECore
import SMP

/// A result of `bonds list` and `bonds show`: a device that this machine has paired with.
struct BondEvent: Event {
    private let record: BondRecord
    /// Whether everything that is stored is shown.
    private let isWhole: Bool
    private let showsKeys: Bool

    init(_ record: BondRecord, isWhole: Bool = false, showsKeys: Bool = false) {
        self.record = record
        self.isWhole = isWhole
        self.showsKeys = showsKeys
    }

    private var bond: Bond { record.bond }

    /// The stored keys, named after the device that distributes each of them: the central or the peripheral
    /// for the long term keys, this machine (`local`) or the peer for the others.
    private var keys: [(name: String, value: UInt128, key: LongTermKey?)] {
        let long = [("centralKey", bond.centralKey), ("peripheralKey", bond.peripheralKey)]
        let short = [
            ("peerIdentityKey", bond.peerIdentityKey), ("peerSigningKey", bond.peerSigningKey),
            ("localSigningKey", bond.localSigningKey),
        ]
        return long.compactMap { name, key in key.map { (name, $0.value, $0) } }
            + short.compactMap { name, key in key.map { (name, $0, nil) } }
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("event", "bond"), .init("address", JSONValue(bond.peer)),
            .init("addressType", JSONValue(typeOf: bond.peer)), .init("name", JSONValue(record.name)),
            .init("adapter", JSONValue(bond.local)), .init("adapterType", JSONValue(typeOf: bond.local)),
            .init("authenticated", JSONValue(bond.strength.isAuthenticated)),
            .init("secureConnections", JSONValue(bond.strength.isSecureConnections)),
            .init("keySize", JSONValue(bond.strength.keySize)),
            .init("created", JSONValue("\(record.created)")),
            .init("lastUsed", JSONValue("\(record.lastUsed)")),
        ]
        if isWhole {
            members += [
                .init("keys", .array(keys.map { JSONValue($0.name) })),
                .init("signCounter", JSONValue(record.signCounter)),
                .init("peerSignCounter", JSONValue(record.client.signCounter)),
                .init("subscriptions", .array(subscriptions.map(\.json))),
            ]
        }
        if showsKeys {
            for (name, value, key) in keys {
                members.append(.init(name, JSONValue(value.hex)))
                guard let key, key.ediv != 0 || key.random != 0 else { continue }
                members.append(.init("\(name)EDIV", JSONValue(key.ediv)))
                members.append(.init("\(name)Rand", JSONValue(key.random.hex)))
            }
        }
        return .object(members)
    }

    /// The peer's subscriptions at this machine's server.
    private var subscriptions: [(json: JSONValue, line: String)] {
        record.client.configurations.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }.map {
            let types =
                ($0.value.contains(.notify) ? ["notify"] : [])
                + ($0.value.contains(.indicate) ? ["indicate"] : [])
            return (
                ["handle": JSONValue($0.key), "types": .array(types.map { JSONValue($0) })],
                "\($0.key) \(types.joined(separator: " "))"
            )
        }
    }

    func lines(colored: Bool) -> [String] {
        var lines = [
            "\(Style.cyan("\(bond.peer)", when: colored))  \(record.name?.printable ?? "-")",
            "  adapter      \(bond.local)",
            "  pairing      \(worth)",
            "  created      \(record.created)",
            "  last used    \(record.lastUsed)",
        ]
        guard isWhole else { return lines }
        for (name, value, key) in keys {
            let isNamed = key.map { $0.ediv != 0 || $0.random != 0 } ?? false
            let id = key.flatMap { isNamed ? "  EDIV 0x\($0.ediv.hex)  Rand 0x\($0.random.hex)" : nil } ?? ""
            lines.append("  \(name)\(showsKeys ? "  \(value.hex)\(id)" : "")")
        }
        for each in subscriptions { lines.append("  subscribed   \(each.line)") }
        return lines
    }

    private var worth: String { Self.worth(bond.strength) }

    private static func worth(_ strength: PairingStrength) -> String {
        (strength.isAuthenticated ? "authenticated" : "unauthenticated")
            + (strength.isSecureConnections ? ", Secure Connections" : ", legacy")
            + (strength.keySize < 16 ? ", \(strength.keySize) octets" : "")
    }

    /// Returns the table of `bonds list`, with a row for each bond.
    static func table(_ records: [BondRecord]) -> Table {
        Table(
            columns: ["DEVICE", "NAME", "ADAPTER", "PAIRING", "LAST USED"].map { ($0, .left) },
            rows: records.map {
                [
                    "\($0.bond.peer)", $0.name?.printable ?? "-", $0.bond.local.text, worth($0.bond.strength),
                    "\($0.lastUsed)",
                ]
            })
    }
}

/// A result of `bonds remove`: a bond that was removed.
struct BondRemovedEvent: Event {
    private let record: BondRecord

    init(_ record: BondRecord) { self.record = record }

    var json: JSONValue {
        [
            "event": "removed", "address": JSONValue(record.bond.peer),
            "addressType": JSONValue(typeOf: record.bond.peer), "name": JSONValue(record.name),
            "adapter": JSONValue(record.bond.local), "adapterType": JSONValue(typeOf: record.bond.local),
        ]
    }

    func lines(colored: Bool) -> [String] {
        ["removed \(Style.cyan("\(record.bond.peer)", when: colored))  \(record.name?.printable ?? "-")"]
    }
}

/// The result of `bonds reset-passkey` for the fixed passkey of an adapter.
struct PasskeyResetEvent: Event {
    var adapter: DeviceAddress
    /// The number of failed pairings that are forgotten.
    var failures: Int

    var json: JSONValue {
        [
            "event": "passkeyReset", "adapter": JSONValue(adapter), "adapterType": JSONValue(typeOf: adapter),
            "failures": JSONValue(failures),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let many = failures == 1 ? "1 failed pairing" : "\(failures) failed pairings"
        return ["\(Style.cyan("\(adapter)", when: colored))  \(many) with its passkey forgotten"]
    }
}

/// The result of `bonds export` and `bonds import`: the number of bonds.
struct BondsMovedEvent: Event {
    private let event: String
    private let count: Int
    private let older: Int?
    private let file: String

    /// Creates the event that reports exported bonds.
    init(exported count: Int, file: String) {
        (event, self.count, older, self.file) = ("exported", count, nil, file)
    }

    /// Creates the event that reports imported bonds; `older` were older than the stored ones.
    init(imported count: Int, older: Int, file: String) {
        (event, self.count, self.older, self.file) = ("imported", count, older, file)
    }

    var json: JSONValue {
        .object(
            [.init("event", .string(event)), .init("bonds", JSONValue(count))]
                + (older.map { [.init("older", JSONValue($0))] } ?? []) + [.init("file", JSONValue(file))])
    }

    func lines(colored: Bool) -> [String] {
        if count == 0, older == 0 { return ["\(event) nothing: \(file.printable) holds no bonds"] }
        let left = older.flatMap { $0 > 0 ? "; \($0) are older than what is here, which stays" : nil } ?? ""
        return ["\(event) \(count) bond\(count == 1 ? "" : "s")\(left)"]
    }
}
