import BLE
import BLECore

/// What CONFIG.yaml says: a GATT server and how it advertises itself. A value of this type can work, as
/// far as that can be known before a radio is touched.
struct ServeConfiguration: Hashable, Sendable {
    /// The device's name, 1 to 248 octets of UTF-8.
    var name: String?
    /// What is advertised, the name included.
    var advertising = AdvertiseSettings()
    /// What is advertised beside the server.
    var beacons: [AdvertiseSettings] = []
    var security = SecurityConfiguration()
    /// How links should keep time, which the GAP service says.
    var connection: ConnectionParameters?
    /// The greatest ATT_MTU that the server agrees to, 23 to 517.
    var mtu = 517
    /// How many prepared writes one central may queue.
    var prepareQueue = 64
    /// Whether the GAP and GATT services are added.
    var hasStandardServices = true
    /// The services in the order of their handles.
    var services: [ServiceConfiguration] = []
    /// What contradicts itself in the file, which `strict: false` lets run as it is written.
    var warnings: [ConfigurationError] = []
}

extension ServeConfiguration {
    /// The attributes that may be read or written on authenticated links only, by UUID and handle.
    var needingAuthentication: [String] {
        services.flatMap(\.characteristics).flatMap { characteristic in
            let value = (
                characteristic.uuid, characteristic.valueHandle, Optional(characteristic.permissions)
            )
            let descriptors = characteristic.descriptors.map { ($0.uuid, $0.handle, $0.permissions) }
            return ([value] + descriptors).compactMap { uuid, handle, permissions in
                permissions?.needsAuthentication == true ? "\(uuid) at \(handle)" : nil
            }
        }
    }
}

/// How centrals pair with the server.
struct SecurityConfiguration: Hashable, Sendable {
    /// What the device can show and what can be entered (Core Specification 5.4, Vol 3, Part H, 2.3.2).
    enum InputOutput: String, Hashable, Sendable, CaseIterable {
        /// Neither: pairing is by Just Works, which does not authenticate the peer.
        case none
        /// The device can display a passkey.
        case display
        /// Can show one and be asked whether two are equal.
        case displayYesNo
        /// A passkey can be entered.
        case keyboard
        /// Can show a passkey, and one can be entered.
        case keyboardDisplay
    }

    /// What the device can show and what can be entered.
    var io = InputOutput.none
    /// Whether pairing makes a bond.
    var isBonding = true
    /// Whether legacy pairing is refused.
    var isSecureConnectionsOnly = false
}

struct ServiceConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    /// Whether it is a primary one.
    var isPrimary = true
    var handle: AttributeHandle
    var endHandle: AttributeHandle
    var includes: [Include] = []
    /// The characteristics in the order of their handles.
    var characteristics: [CharacteristicConfiguration] = []
    /// Whether nothing of it may contradict itself.
    var isStrict = true

    struct Include: Hashable, Sendable {
        /// The handle of the include declaration.
        var handle: AttributeHandle
        /// Where the included service is in the list of services.
        var service: Int
    }
}

struct CharacteristicConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    var handle: AttributeHandle
    var valueHandle: AttributeHandle
    /// What can be done with it.
    var properties: Set<CharacteristicProperty>
    /// The security that reading and writing need.
    var permissions: PermissionConfiguration
    /// The first value and the allowed lengths.
    var value: StoredValue
    /// Makes a fresh value for each read.
    var read: Program?
    /// Takes each written value.
    var write: WriteConfiguration?
    /// Where the values come from that subscribers get.
    var notify: NotifyConfiguration?
    /// Its descriptors, also those that its properties need.
    var descriptors: [DescriptorConfiguration] = []
}

struct DescriptorConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    var handle: AttributeHandle
    /// The permissions of the descriptor; nil for what its kind implies.
    var permissions: PermissionConfiguration?
    /// The first value and the allowed lengths.
    var value: StoredValue
}

/// A value that the server keeps.
struct StoredValue: Hashable, Sendable {
    /// The value when the server starts.
    var octets: [UInt8] = []
    /// The most octets that it may have, up to 512 (Core Specification 5.4, Vol 3, Part F, 3.2.9).
    var maximum = Self.limit
    /// Whether it always has exactly that many.
    var isFixed = false

    /// The most octets that any value may have.
    static let limit = 512
}

/// The top level of CONFIG.yaml, as `serve` reads it.
extension ServeConfiguration {
    private enum Key: String, CaseIterable {
        case name, advertise, beacons, security, connection, mtu, prepareQueue, strict, standardServices,
            standardDescriptors, services
    }

    /// The most octets of a device's name (Core Specification 5.4, Vol 3, Part C, 12.1).
    static let nameLimit = 248
    /// Where the handles of the file begin when it does not say: behind the GAP and GATT services, with
    /// room for all that these may have.
    private static let firstHandle = 0x0010

    /// The configuration that `text` is, checked as far as it can be without a radio; `otherName` takes the
    /// place of the name in it.
    init(
        _ text: [UInt8], name otherName: String? = nil, _ context: ConfigurationContext
    ) throws(ConfigurationError) {
        let root = try YAMLComposer.tree(text)
        let fields = try YAMLFields<Key>(root, "a configuration")
        let nameNode = fields[.name]
        let nameInFile = try nameNode?.text("a name")
        name = otherName ?? nameInFile
        if let name, !(1...Self.nameLimit).contains(name.utf8.count) {
            throw ConfigurationError(
                nameNode?.position,
                "the name has \(name.utf8.count) octets; names have 1 to \(Self.nameLimit)")
        }
        let nothing = YAMLNode(position: fields.position, content: .mapping([]))
        advertising = try AdvertiseSettings(
            fields[.advertise] ?? nothing, name: name, at: nameNode?.position, context)
        for node in try fields[.beacons]?.list(of: "beacons") ?? [] {
            beacons.append(try AdvertiseSettings(beacon: node, context))
        }
        if let node = fields[.security] { security = try SecurityConfiguration(node) }
        if let node = fields[.connection] { connection = try ConnectionParameters(node) }
        mtu = try fields[.mtu]?.integer("the MTU", in: 23...517) ?? mtu
        prepareQueue = try fields[.prepareQueue]?.integer("the prepare queue", in: 1...1024) ?? prepareQueue
        hasStandardServices = try fields[.standardServices]?.bool() ?? true
        var reader = ServiceReader(
            context, HandleLayout(start: hasStandardServices ? Self.firstHandle : 1),
            isStrict: try fields[.strict]?.bool() ?? true,
            addsDescriptors: try fields[.standardDescriptors]?.bool() ?? true)
        services = try reader.read(fields.required(.services))
        warnings = reader.warnings
        try check(fields)
    }

    private func check(_ fields: YAMLFields<Key>) throws(ConfigurationError) {
        let standard: [BluetoothUUID] = [0x1800, 0x1801]
        if hasStandardServices, let service = services.first(where: { standard.contains($0.uuid) }) {
            throw ConfigurationError(
                fields.position(of: .services), "the service \(service.uuid) is added already",
                hint: "with standardServices: false the database is exactly what the file says")
        }
        if !hasStandardServices, connection != nil {
            throw ConfigurationError(
                fields.position(of: .connection), "connection belongs to the GAP service, which is not added",
                hint: "the file can have a GAP service with the characteristic 2a04")
        }
        if !hasStandardServices, services.isEmpty {
            throw ConfigurationError(fields.position(of: .services), "there is nothing to serve")
        }
    }
}

extension SecurityConfiguration {
    private enum Key: String, CaseIterable { case io, bonding, secureConnectionsOnly }

    /// Reads the mapping under `security:`.
    fileprivate init(_ node: YAMLNode) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "security")
        io = try fields[.io]?.word(InputOutput.self) ?? io
        isBonding = try fields[.bonding]?.bool() ?? isBonding
        isSecureConnectionsOnly = try fields[.secureConnectionsOnly]?.bool() ?? isSecureConnectionsOnly
    }
}

extension ConnectionParameters {
    private enum Key: String, CaseIterable { case interval, latency, supervision }

    /// Reads the mapping under `connection:`, and checks the values together.
    fileprivate init(_ node: YAMLNode) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "connection")
        self.init()
        if let node = fields[.interval] {
            let text = try node.text()
            interval = try node.located { () throws(BadInput) in
                try ClosedRange(text: text, within: .microseconds(7500) ... .seconds(4))
            }
        }
        latency = try fields[.latency]?.integer("the latency", in: 0...499) ?? latency
        supervisionTimeout = try fields[.supervision]?.duration() ?? supervisionTimeout
        do {
            _ = try checked()
        } catch {
            throw ConfigurationError(node.position, error.description)
        }
    }
}

extension ServeConfiguration {
    /// The configuration in a file, or with `-` on the standard input; `name` takes the place of its name.
    static func load(
        _ path: String, name: String? = nil, names: @escaping UUIDNames
    ) throws(Failure) -> ServeConfiguration {
        let file = Self.file(path)
        let text: [UInt8]
        do {
            text = try File.argument(path, limit: YAMLComposer.fileLimit)
        } catch {
            throw Failure(file, error, kind: .input)
        }
        do {
            let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            return try ServeConfiguration(
                text, name: name, ConfigurationContext(names: names, directory: directory))
        } catch {
            throw Failure(error, file: file)
        }
    }

    /// Prints what contradicts itself in the file at `path`, which this is of.
    func showWarnings(of path: String, on console: Console) {
        for warning in warnings {
            console.note("\(warning.place(in: Self.file(path))): warning: \(warning.reason)")
        }
    }

    /// Returns the file's name in messages.
    private static func file(_ path: String) -> String { path == "-" ? "stdin" : path }
}

/// What can be done with a characteristic, in the words of Core Bluetooth (Core Specification 5.4, Vol 3,
/// Part G, 3.3.1.1 and 3.3.3.1).
enum CharacteristicProperty: String, Hashable, Sendable, CaseIterable {
    case broadcast
    case read
    case writeWithoutResponse
    case write
    case notify
    case indicate
    case signedWrite
    /// There is an Extended Properties descriptor.
    case extended
    /// Notifies those whose link is encrypted.
    case notifyEncryptionRequired
    /// Indicates to those whose link is encrypted.
    case indicateEncryptionRequired

    var isSubscribable: Bool {
        switch self {
        case .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired: true
        default: false
        }
    }

    var isWritable: Bool { [.write, .writeWithoutResponse, .signedWrite].contains(self) }
}
