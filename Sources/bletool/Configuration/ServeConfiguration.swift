import BLE
import BLECore

/// The contents of CONFIG.yaml: a GATT server and its advertisements. A value of this type is valid, as far
/// as this can be checked before a radio is used.
struct ServeConfiguration: Hashable, Sendable {
    /// The device's name, 1 to 248 octets of UTF-8.
    var name: String?
    /// The server's advertisement, including the name.
    var advertising = AdvertiseSettings()
    /// The advertisements that are sent in addition to the server's.
    var beacons: [AdvertiseSettings] = []
    var security = SecurityConfiguration()
    /// The preferred connection parameters, which the GAP service contains.
    var connection: ConnectionParameters?
    /// The maximum ATT_MTU that the server agrees to, 23 to 517.
    var mtu = 517
    /// The maximum number of prepared writes that one central can queue.
    var prepareQueue = 64
    /// Whether the GAP and GATT services are added.
    var hasStandardServices = true
    /// The services in the order of their handles.
    var services: [ServiceConfiguration] = []
    /// The contradictions in the file, which `strict: false` permits.
    var warnings: [ConfigurationError] = []
}

extension ServeConfiguration {
    /// The attributes that can be read or written on authenticated links only, by UUID and handle.
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
    /// The input and output capabilities of the device (Core Specification 5.4, Vol 3, Part H, 2.3.2).
    enum InputOutput: String, Hashable, Sendable, CaseIterable {
        /// No input or output: pairing uses Just Works, which does not authenticate the peer.
        case none
        /// The device can display a passkey.
        case display
        /// The device can display a number, and the user can confirm that two numbers are equal.
        case displayYesNo
        /// The user can enter a passkey.
        case keyboard
        /// The device can display a passkey, and the user can enter one.
        case keyboardDisplay
    }

    /// Which bonds a central may replace that has lost its keys, without an operator. Any device in range can claim to
    /// be such a central.
    enum Replacement: String, Hashable, Sendable, CaseIterable {
        /// None: the bond has to be removed first.
        case never
        /// Bonds without authentication, which any device in range could have made as well.
        case unauthenticated
        /// One bond, in the minute after SIGUSR1.
        case window
    }

    /// The input and output capabilities of the device.
    var io = InputOutput.none
    /// Whether pairing creates a bond.
    var isBonding = true
    /// Whether legacy pairing is refused.
    var isSecureConnectionsOnly = false
    /// The bonds that may be replaced.
    var replacement = Replacement.never
}

struct ServiceConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    /// Whether the UUID has 128 bits on the air, also if it has a form of 16.
    var hasLongUUID = false
    /// Whether the service is a primary service.
    var isPrimary = true
    var handle: AttributeHandle
    /// The last handle of the service: that of its last attribute, if the file does not have another.
    var endHandle: AttributeHandle
    var includes: [Include] = []
    /// The characteristics in the order of their handles.
    var characteristics: [CharacteristicConfiguration] = []
    /// Whether contradictions in the service are errors.
    var isStrict = true

    struct Include: Hashable, Sendable {
        /// The handle of the include declaration.
        var handle: AttributeHandle
        /// The index of the included service in the list of services.
        var service: Int
    }
}

struct CharacteristicConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    /// Whether the UUID has 128 bits on the air, also if it has a form of 16.
    var hasLongUUID = false
    var handle: AttributeHandle
    var valueHandle: AttributeHandle
    /// The properties of the characteristic. Its extended properties are in the value of the 0x2900
    /// descriptor.
    var properties: Set<CharacteristicProperty>
    /// The security that reading and writing require.
    var permissions: PermissionConfiguration
    /// The initial value and the allowed lengths.
    var value: StoredValue
    /// The program that provides the value for each read.
    var read: ValueProgram?
    /// The program that receives each written value.
    var write: WriteConfiguration?
    /// The source of the values that subscribers receive.
    var notify: NotifyConfiguration?
    /// The descriptors, including those that the properties require.
    var descriptors: [DescriptorConfiguration] = []
}

struct DescriptorConfiguration: Hashable, Sendable {
    var uuid: BluetoothUUID
    /// Whether the UUID has 128 bits on the air, also if it has a form of 16.
    var hasLongUUID = false
    var handle: AttributeHandle
    /// The permissions of the descriptor, or nil for the defaults of its type.
    var permissions: PermissionConfiguration?
    /// The initial value and the allowed lengths.
    var value: StoredValue
}

/// A value that the server keeps.
struct StoredValue: Hashable, Sendable {
    /// The value when the server starts.
    var octets: [UInt8] = []
    /// The maximum length in octets, up to 512 (Core Specification 5.4, Vol 3, Part F, 3.2.9).
    var maximum = Self.limit
    /// Whether the length is always exactly the maximum.
    var isFixed = false

    /// The maximum length of any value in octets.
    static let limit = 512
}

/// The top level of CONFIG.yaml, as `serve` reads it.
extension ServeConfiguration {
    private enum Key: String, CaseIterable {
        case name, advertise, beacons, security, connection, mtu, prepareQueue, strict, standardServices,
            standardDescriptors, services
    }

    /// The maximum length of a device's name in octets (Core Specification 5.4, Vol 3, Part C, 12.1).
    static let nameLimit = 248
    /// The first handle if the file does not request one. It leaves room for all attributes that the GAP and
    /// GATT services can have.
    private static let firstHandle = 0x0010

    /// Parses a configuration, and checks it as far as possible without a radio. `otherName` replaces its
    /// name.
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
        if hasStandardServices, let index = services.firstIndex(where: { standard.contains($0.uuid) }) {
            let nodes = try fields.required(.services).list(of: "services")
            throw ConfigurationError(
                nodes[index].position, "the service \(services[index].uuid) is added already",
                hint: "with standardServices: false the database is exactly that of the file")
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
    private enum Key: String, CaseIterable { case io, bonding, secureConnectionsOnly, replace }

    /// Reads the mapping under `security:`.
    fileprivate init(_ node: YAMLNode) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "security")
        io = try fields[.io]?.word(InputOutput.self) ?? io
        isBonding = try fields[.bonding]?.bool() ?? isBonding
        isSecureConnectionsOnly = try fields[.secureConnectionsOnly]?.bool() ?? isSecureConnectionsOnly
        replacement = try fields[.replace]?.word(Replacement.self) ?? replacement
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
    /// Loads the configuration from a file, or with `-` from the standard input. `name` replaces its name.
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
            return try ServeConfiguration(
                text, name: name, ConfigurationContext(names: names, directory: File.folder(of: path)))
        } catch {
            throw Failure(error, file: file)
        }
    }

    /// Prints the warnings of this configuration, which was loaded from the file at `path`.
    func showWarnings(of path: String, on console: Console) {
        for warning in warnings {
            console.note("\(warning.place(in: Self.file(path))): warning: \(warning.reason)")
        }
    }

    /// Returns the file's name in messages.
    private static func file(_ path: String) -> String { path == "-" ? "stdin" : path }
}

/// The properties of a characteristic, with the names of Core Bluetooth (Core Specification 5.4, Vol 3, Part
/// G, 3.3.1.1 and 3.3.3.1).
enum CharacteristicProperty: String, Hashable, Sendable, CaseIterable {
    case broadcast
    case read
    case writeWithoutResponse
    case write
    case notify
    case indicate
    case signedWrite
    /// The characteristic has an Extended Properties descriptor.
    case extended
    /// Notifies only centrals whose link is encrypted.
    case notifyEncryptionRequired
    /// Indicates only to centrals whose link is encrypted.
    case indicateEncryptionRequired

    var isSubscribable: Bool {
        switch self {
        case .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired: true
        default: false
        }
    }

    /// Whether subscribing requires encryption.
    var requiresEncryption: Bool { self == .notifyEncryptionRequired || self == .indicateEncryptionRequired }

    var isWritable: Bool { [.write, .writeWithoutResponse, .signedWrite].contains(self) }
}
