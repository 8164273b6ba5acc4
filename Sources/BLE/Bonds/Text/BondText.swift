import ATT
import BLECore
import GATTServer
import SMP

/// The text form of a bond in files and exports.
extension BondRecord {
    static let kind = "bond"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("peer", "\(bond.peer)")
        if bond.isIdentityClaimed { writer.line("identity", "claimed") }
        writer.line("local", "\(bond.local)")
        writer.line("created", "\(created)")
        writer.line("used", "\(lastUsed)")
        writer.line("name", ifThere: name.map(TextValue.escaped))
        writer.line(
            "strength", bond.strength.isAuthenticated ? "authenticated" : "unauthenticated",
            bond.strength.isSecureConnections ? "secure-connections" : "legacy", "\(bond.strength.keySize)")
        writer.line("central-key", ifThere: bond.centralKey?.text)
        writer.line("peripheral-key", ifThere: bond.peripheralKey?.text)
        writer.line("peer-identity-key", ifThere: bond.peerIdentityKey?.hex)
        writer.line("peer-signing-key", ifThere: bond.peerSigningKey?.hex)
        writer.line("local-signing-key", ifThere: bond.localSigningKey?.hex)
        writer.line("sign-counter", "\(signCounter)")
        client.write(to: &writer)
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var parts = Parts()
        for line in section.lines { try parts.read(line) }
        let created = try section.required(parts.created, "created")
        var bond = Bond(
            with: try section.required(parts.peer, "peer"), as: try section.required(parts.local, "local"),
            try section.required(parts.strength, "strength"))
        bond.isIdentityClaimed = parts.isIdentityClaimed
        bond.centralKey = parts.centralKey
        bond.peripheralKey = parts.peripheralKey
        bond.peerIdentityKey = parts.peerIdentityKey
        bond.peerSigningKey = parts.peerSigningKey
        bond.localSigningKey = parts.localSigningKey
        self.init(bond, name: parts.name, created: created)
        lastUsed = parts.lastUsed ?? created
        signCounter = parts.signCounter
        client = parts.client
    }

    /// The values of the lines that were read so far.
    private struct Parts {
        var peer: DeviceAddress?
        var isIdentityClaimed = false
        var local: DeviceAddress?
        var strength: PairingStrength?
        var created: Timestamp?
        var lastUsed: Timestamp?
        var name: String?
        var centralKey: LongTermKey?
        var peripheralKey: LongTermKey?
        var peerIdentityKey: UInt128?
        var peerSigningKey: UInt128?
        var localSigningKey: UInt128?
        var signCounter: UInt32 = 0
        var client = GATTClientRecord()

        mutating func read(_ line: TextSection.Line) throws(TextError) {
            switch line.key {
            case "peer": peer = try line.value { DeviceAddress($0) }
            case "identity": isIdentityClaimed = try line.value { $0 == "claimed" ? true : nil }
            case "local": local = try line.value { DeviceAddress($0) }
            case "created": created = try line.value { Timestamp($0) }
            case "used": lastUsed = try line.value { Timestamp($0) }
            case "name": name = try line.value(of: line.rest, TextValue.unescaped)
            case "strength": strength = try PairingStrength(line)
            case "central-key": centralKey = try LongTermKey(line)
            case "peripheral-key": peripheralKey = try LongTermKey(line)
            case "peer-identity-key": peerIdentityKey = try line.value(TextValue.digits)
            case "peer-signing-key": peerSigningKey = try line.value(TextValue.digits)
            case "local-signing-key": localSigningKey = try line.value(TextValue.digits)
            case "sign-counter": signCounter = try line.value { UInt32($0) }
            default: try client.read(line)
            }
        }
    }
}

extension PairingStrength {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(3)
        let isAuthenticated = try line.value(of: words[0]) {
            ["authenticated": true, "unauthenticated": false][$0]
        }
        let isSecure = try line.value(of: words[1]) { ["secure-connections": true, "legacy": false][$0] }
        let size = try line.value(of: words[2], LongTermKey.size)
        self.init(isAuthenticated: isAuthenticated, isSecureConnections: isSecure, keySize: size)
    }
}

extension LongTermKey {
    /// The key, its size in octets, and EDIV and Rand if the key has them.
    fileprivate var text: String {
        let isNamed = ediv != 0 || random != 0
        return "\(value.hex) \(size)" + (isNamed ? " 0x\(ediv.hex) 0x\(random.hex)" : "")
    }

    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(line.values.count == 2 ? 2 : 4)
        self.init(
            try line.value(of: words[0], TextValue.digits), size: try line.value(of: words[1], Self.size))
        if words.count == 4 {
            ediv = try line.value(of: words[2], TextValue.bits)
            random = try line.value(of: words[3], TextValue.bits)
        }
    }

    /// Parses the size of a key in octets: 7 to 16 (Core Specification 5.4, Vol 3, Part H, 2.3.4).
    fileprivate static func size(_ word: Substring) -> Int? {
        Int(word).flatMap { (7...16).contains($0) ? $0 : nil }
    }
}

/// The text form of the data that a server keeps about a client, in a bond's file.
extension GATTClientRecord {
    func write(to writer: inout TextWriter) {
        writer.line("client-features", "0x\(features.rawValue.hex)")
        if !databaseHash.isEmpty { writer.line("client-hash", databaseHash.hex) }
        writer.line("client-aware", "\(isChangeAware)")
        if let range = unreportedChange { writer.line("client-changed", "\(range.start)", "\(range.end)") }
        writer.line("client-sign-counter", "\(signCounter)")
        for (handle, configuration) in configurations.sorted(by: { $0.key < $1.key }) {
            writer.line("client-configuration", "\(handle)", "0x\(configuration.rawValue.hex)")
        }
    }

    mutating func read(_ line: TextSection.Line) throws(TextError) {
        switch line.key {
        case "client-features":
            features = ClientSupportedFeatures(rawValue: try line.value(TextValue.bits))
        case "client-hash": databaseHash = try line.value { [UInt8](hex: $0) }
        case "client-aware": isChangeAware = try line.value { Bool(String($0)) }
        case "client-changed":
            let words = try line.values(2)
            unreportedChange = AttributeRange(
                try line.value(of: words[0], TextValue.handle),
                try line.value(of: words[1], TextValue.handle))
        case "client-sign-counter": signCounter = try line.value { UInt32($0) }
        case "client-configuration":
            let words = try line.values(2)
            let handle = try line.value(of: words[0], TextValue.handle)
            configurations[handle] = ClientCharacteristicConfiguration(
                rawValue: try line.value(of: words[1], TextValue.bits))
        default: throw line.isUnknown
        }
    }
}

/// The text form of an identity of this host in files and exports.
extension LocalIdentity {
    static let kind = "identity"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("address", "\(address)")
        writer.line("identity-key", identityKey.hex)
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var (address, key): (DeviceAddress?, UInt128?)
        for line in section.lines {
            switch line.key {
            case "address": address = try line.value { DeviceAddress($0) }
            case "identity-key": key = try line.value(TextValue.digits)
            default: throw line.isUnknown
            }
        }
        self.init(
            address: try section.required(address, "address"), identityKey: try section.required(key, "key"))
    }
}

/// The address of an adapter without a public one, stored so that it is the same in every run.
struct StaticAddress: Hashable, Sendable {
    static let kind = "address"

    var adapter: String
    var address: DeviceAddress

    init(_ address: DeviceAddress, of adapter: String) {
        self.adapter = adapter
        self.address = address
    }

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("adapter", TextValue.escaped(adapter))
        writer.line("address", "\(address)")
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var (adapter, address): (String?, DeviceAddress?)
        for line in section.lines {
            switch line.key {
            case "adapter": adapter = try line.value(of: line.rest, TextValue.unescaped)
            case "address": address = try line.value { DeviceAddress($0) }
            default: throw line.isUnknown
            }
        }
        self.init(try section.required(address, "address"), of: try section.required(adapter, "adapter"))
    }
}
