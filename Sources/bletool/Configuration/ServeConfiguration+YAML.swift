import BLE
import BLECore

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
    static let firstHandle = 0x0010

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
                fields.position(of: .connection), "the GAP service would say this, and is not added",
                hint: "its characteristic 2a04 can be one of the file's")
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

    /// What messages call the file.
    private static func file(_ path: String) -> String { path == "-" ? "stdin" : path }
}
