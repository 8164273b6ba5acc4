import AssignedNumbers
import BLECore

/// Reads `services:` and assigns the handles.
struct ServiceReader {
    let context: ConfigurationContext
    var layout: HandleLayout
    /// Whether descriptors that the properties require and the file does not list are added.
    let addsDescriptors: Bool
    /// The contradictions, if they are not errors.
    private(set) var warnings: [ConfigurationError] = []
    private let isStrict: Bool
    private var services: [ServiceConfiguration] = []
    private var includes: [(owner: Int, handle: AttributeHandle, node: YAMLNode)] = []

    /// Creates a reader that takes handles from `layout`. Contradictions are errors if `isStrict`, otherwise
    /// warnings.
    init(
        _ context: ConfigurationContext, _ layout: HandleLayout, isStrict: Bool, addsDescriptors: Bool
    ) {
        self.context = context
        self.layout = layout
        self.isStrict = isStrict
        self.addsDescriptors = addsDescriptors
    }

    /// Reports a contradiction that does not prevent serving: an error if `isStrict`, otherwise a warning.
    private mutating func contradiction(
        _ position: SourcePosition, _ reason: String, hint: String? = nil
    ) throws(ConfigurationError) {
        let error = ConfigurationError(position, reason, hint: hint)
        guard !isStrict else { throw error }
        warnings.append(error)
    }

    private enum ServiceKey: String, CaseIterable {
        case uuid, uuidBits, primary, handle, endHandle, includes, characteristics
    }
    private enum IncludeKey: String, CaseIterable { case handle, uuid }

    /// Reads a list of services.
    mutating func read(_ node: YAMLNode) throws(ConfigurationError) -> [ServiceConfiguration] {
        for node in try node.list(of: "services") { services.append(try service(node)) }
        for include in includes {
            let target = try target(of: include.node)
            services[include.owner].includes.append(.init(handle: include.handle, service: target))
            if includes(include.owner, below: target) {
                try contradiction(
                    include.node.position,
                    "\(services[include.owner].uuid) includes itself, directly or through others")
            }
        }
        return services
    }

    /// Returns whether `other` is `service`, or includes it directly or through other services.
    private func includes(_ service: Int, below other: Int) -> Bool {
        var seen: Set<Int> = []
        var waiting = [other]
        while let next = waiting.popLast() {
            if next == service { return true }
            if seen.insert(next).inserted { waiting += services[next].includes.map(\.service) }
        }
        return false
    }

    private mutating func service(_ node: YAMLNode) throws(ConfigurationError) -> ServiceConfiguration {
        let fields = try YAMLFields<ServiceKey>(node, "a service")
        let uuid = try fields.required(.uuid).uuid(.service, context.names)
        let handle = try layout.take(fields[.handle], for: "the service \(uuid)", at: node.position)
        var service = ServiceConfiguration(uuid: uuid, handle: handle, endHandle: handle)
        service.isStrict = isStrict
        service.isPrimary = try fields[.primary]?.bool() ?? true
        for include in try fields[.includes]?.list(of: "services, each {handle: …} or {uuid: …}") ?? [] {
            let handle = try layout.take(for: "an include of \(uuid)", at: include.position)
            service.endHandle = handle
            includes.append((services.count, handle, include))
        }
        for node in try fields[.characteristics]?.list(of: "characteristics") ?? [] {
            let characteristic = try characteristic(node)
            service.endHandle = characteristic.descriptors.last?.handle ?? characteristic.valueHandle
            service.characteristics.append(characteristic)
        }
        let includeCount = includes.count { $0.owner == services.count }
        warnOfHoles(in: service, includeCount, at: node.position)
        service.hasLongUUID = try hasLongUUID(fields[.uuidBits], uuid)
        if let node = fields[.endHandle] { try end(&service, at: node) }
        return service
    }

    /// Sets the last handle of a service.
    private mutating func end(_ service: inout ServiceConfiguration, at node: YAMLNode)
        throws(ConfigurationError)
    {
        let end = AttributeHandle(try node.integer("a handle", in: 1...0xffff))
        if end < service.endHandle {
            try contradiction(
                node.position,
                "the service \(service.uuid) ends before its last attribute, \(service.endHandle)")
            guard end > service.handle else {
                throw ConfigurationError(
                    node.position, "the service \(service.uuid) ends before it begins, at \(service.handle)")
            }
        }
        // With contradictions, services may overlap.
        if isStrict { layout.reserve(upTo: end, for: "the service \(service.uuid)") }
        service.endHandle = end
    }

    /// Returns whether a UUID has 128 bits on the air, although it has a form of 16.
    private func hasLongUUID(_ node: YAMLNode?, _ uuid: BluetoothUUID) throws(ConfigurationError) -> Bool {
        guard let node else { return false }
        let bits: Int = try node.integer("the bits of a UUID", in: 16...128)
        guard bits == 128 || bits == 16 && uuid.uint16 != nil else {
            throw ConfigurationError(
                node.position,
                "ATT has UUIDs of 16 and 128 bits\(uuid.uint16 == nil ? ", and \(uuid) has 128" : "")")
        }
        return bits == 128
    }

    /// Warns of handles within a service that have no attribute. They are allowed, but rare, so the warning
    /// is given only where contradictions are warnings.
    private mutating func warnOfHoles(
        in service: ServiceConfiguration, _ includeCount: Int, at position: SourcePosition
    ) {
        let attributes = service.characteristics.reduce(1 + includeCount) { $0 + 2 + $1.descriptors.count }
        let holes = Int(service.endHandle.rawValue) - Int(service.handle.rawValue) + 1 - attributes
        guard !isStrict, holes > 0 else { return }
        warnings.append(
            ConfigurationError(
                position,
                "\(holes) of the handles \(service.handle) to \(service.endHandle) have no attribute"
            ))
    }

    /// Returns the index of the service that an include names: the one at that handle, or the only one with
    /// that UUID.
    private func target(of node: YAMLNode) throws(ConfigurationError) -> Int {
        let fields = try YAMLFields<IncludeKey>(node, "an include")
        let what: String
        let matches: [Int]
        switch (fields[.handle], fields[.uuid]) {
        case (let wanted?, nil):
            let handle = AttributeHandle(try wanted.integer("a handle", in: 1...0xffff))
            what = "at \(handle)"
            matches = services.indices.filter { services[$0].handle == handle }
        case (nil, let wanted?):
            let uuid = try wanted.uuid(.service, context.names)
            what = "\(uuid)"
            matches = services.indices.filter { services[$0].uuid == uuid }
        default:
            throw ConfigurationError(node.position, "an include needs either handle or uuid")
        }
        guard let target = matches.first else {
            let all = services.map { "\($0.uuid) at \($0.handle)" }.joined(separator: ", ")
            throw ConfigurationError(
                node.position, "there is no service \(what) to include", hint: "there are \(all)")
        }
        guard matches.count == 1 else {
            let all = matches.map { "{handle: \(services[$0].handle)}" }.joined(lastBy: "or")
            throw ConfigurationError(
                node.position, "there are \(matches.count) services \(what) to include",
                hint: "name one of them: \(all)")
        }
        return target
    }
}

extension ServiceReader {
    private enum CharacteristicKey: String, CaseIterable {
        case uuid, uuidBits, handle, valueHandle, properties, permissions, value, length, read, write, notify,
            descriptors
    }

    mutating func characteristic(_ node: YAMLNode) throws(ConfigurationError) -> CharacteristicConfiguration {
        let fields = try YAMLFields<CharacteristicKey>(node, "a characteristic")
        let uuid = try attributeUUID(fields.required(.uuid), .characteristic)
        // The 16-bit UUIDs of all descriptors begin with 29.
        if let short = uuid.uint16, short >> 8 == 0x29 {
            try contradiction(
                fields.position(of: .uuid), "\(uuid) is the UUID of a descriptor",
                hint:
                    "it belongs to the descriptors of a characteristic; 2902 is added for notify and indicate"
            )
        }
        let properties = try self.properties(fields.required(.properties))
        let implied = PermissionConfiguration(
            read: properties.contains(.read) ? .open : nil,
            write: properties.contains(where: \.isWritable) ? .open : nil)
        let requiresEncryption = properties.contains(where: \.requiresEncryption)
        let permissions =
            try fields[.permissions]?.permissions(implied: implied, requiresEncryption: requiresEncryption)
            ?? implied
        if permissions.read == nil && implied.read != nil
            || permissions.write == nil && implied.write != nil
        {
            try contradiction(
                fields.position(of: .permissions), "the properties offer what the permissions forbid",
                hint: "take read or write out of the properties, or permit it")
        }
        if fields[.permissions] != nil {
            for (name, isPermitted) in [
                // The permission to read is also that to subscribe.
                (
                    "read",
                    permissions.read != nil && implied.read == nil
                        && (permissions.subscribe != nil || !properties.contains(where: \.isSubscribable))
                ),
                ("write", permissions.write != nil && implied.write == nil),
            ] where isPermitted {
                warnings.append(
                    ConfigurationError(
                        fields.position(of: .permissions),
                        "centrals can \(name) the value, which its properties do not show"))
            }
        }
        if permissions.subscribe != nil, !properties.contains(where: \.isSubscribable) {
            try contradiction(
                fields.position(of: .permissions),
                "subscribe without a property that lets centrals subscribe",
                hint: "add notify or indicate to the properties")
        }
        if permissions.subscribe == .open, requiresEncryption {
            try contradiction(
                fields.position(of: .permissions),
                "a property requires encryption to subscribe, and subscribe: open does not")
        }
        var value = try StoredValue(value: fields[.value], length: fields[.length], context)

        let read = try fields[.read]?.valueProgram(of: "read", context)
        if read != nil, permissions.read == nil {
            try contradiction(
                fields.position(of: .read), "read makes values, but the permissions let no central read them")
        }
        let write = try fields[.write].map { node throws(ConfigurationError) in
            try WriteConfiguration(node, context)
        }
        if write != nil, permissions.write == nil {
            try contradiction(
                fields.position(of: .write),
                "write takes values, but the permissions let no central write them")
        }
        let notify = try fields[.notify].map { node throws(ConfigurationError) in
            try NotifyConfiguration(node, context)
        }
        if let notify {
            let place = fields.position(of: .notify)
            if !properties.contains(where: \.isSubscribable) {
                try contradiction(
                    place, "notify without a property that lets centrals subscribe",
                    hint: "add notify or indicate to the properties")
            }
            if case .every(_, .counter(let octets)) = notify {
                guard octets <= value.maximum, !value.isFixed || octets == value.maximum else {
                    let room = "\(value.isFixed ? "always" : "at most") \(value.maximum)"
                    throw ConfigurationError(place, "the counter has \(octets) octets, but the value \(room)")
                }
                if fields[.value] == nil { value.octets = [UInt8](repeating: 0, count: octets) }
            }
        }

        let handle = try layout.take(fields[.handle], for: "the characteristic \(uuid)", at: node.position)
        let valueHandle = try layout.take(
            fields[.valueHandle], for: "the value of \(uuid)", at: node.position)
        return CharacteristicConfiguration(
            uuid: uuid, hasLongUUID: try hasLongUUID(fields[.uuidBits], uuid),
            handle: handle, valueHandle: valueHandle, properties: properties,
            permissions: permissions,
            value: value, read: read, write: write, notify: notify,
            descriptors: try descriptors(
                fields[.descriptors], of: properties, permissions, at: node.position))
    }

    private func properties(_ node: YAMLNode) throws(ConfigurationError) -> Set<CharacteristicProperty> {
        var properties: Set<CharacteristicProperty> = []
        for node in try node.list(of: "properties") {
            let property = try node.word(CharacteristicProperty.self)
            guard properties.insert(property).inserted else {
                throw ConfigurationError(node.position, "\(property.rawValue) is given twice")
            }
        }
        return properties
    }

    /// Returns the UUID of a characteristic or descriptor; refuses the UUIDs of declarations.
    private func attributeUUID(
        _ node: YAMLNode, _ kind: AssignedNumbers.UUIDKind
    ) throws(ConfigurationError) -> BluetoothUUID {
        let uuid = try node.uuid(kind, context.names)
        guard let short = uuid.uint16, (0x2800...0x2803).contains(short) else { return uuid }
        throw ConfigurationError(
            node.position, "\(uuid) is the UUID of a declaration", hint: "serve adds declarations itself")
    }
}

extension ServiceReader {
    private enum DescriptorKey: String, CaseIterable {
        case uuid, uuidBits, handle, permissions, value, length
    }

    /// A descriptor that properties require. It is added if the file does not list it.
    private struct Standard: Sendable {
        let uuid: BluetoothUUID
        let what: String
        let belongs: @Sendable (CharacteristicProperty) -> Bool
    }

    /// Core Specification 5.4, Vol 3, Part G, 3.3.3.1, 3.3.3.3 and 3.3.3.4.
    private static let standard = [
        Standard(uuid: 0x2900, what: "the property extended") { $0 == .extended },
        Standard(uuid: 0x2902, what: "the property notify or indicate") { $0.isSubscribable },
        Standard(uuid: 0x2903, what: "the property broadcast") { $0 == .broadcast },
    ]

    /// Reads the descriptors of a characteristic. Missing ones are added before those of the file, or after
    /// them if the file requests a handle that leaves no room for them.
    mutating func descriptors(
        _ node: YAMLNode?, of properties: Set<CharacteristicProperty>,
        _ permissions: PermissionConfiguration, at position: SourcePosition
    ) throws(ConfigurationError) -> [DescriptorConfiguration] {
        var listed: [(fields: YAMLFields<DescriptorKey>, uuid: BluetoothUUID)] = []
        for node in try node?.list(of: "descriptors") ?? [] {
            let fields = try YAMLFields<DescriptorKey>(node, "a descriptor")
            let uuid = try attributeUUID(fields.required(.uuid), .descriptor)
            if let standard = Self.standard.first(where: { $0.uuid == uuid }) {
                if !properties.contains(where: standard.belongs) {
                    try contradiction(node.position, "the descriptor \(uuid) needs \(standard.what)")
                }
            }
            let isSingle = uuid == 0x2901 || Self.standard.contains { $0.uuid == uuid }
            if isSingle, listed.contains(where: { $0.uuid == uuid }) {
                try contradiction(node.position, "a characteristic has only one descriptor \(uuid)")
            }
            listed.append((fields, uuid))
        }
        var missing = Self.standard.filter { standard in
            properties.contains(where: standard.belongs) && !listed.contains { $0.uuid == standard.uuid }
        }
        if !addsDescriptors {
            for standard in missing {
                try contradiction(position, "\(standard.what) needs the descriptor \(standard.uuid)")
            }
            missing = []
        }
        let wanted: UInt16? = try listed.first?.fields[.handle]?.integer("a handle", in: 1...0xffff)
        let isRoom = wanted.map { layout.room(before: AttributeHandle($0)) >= missing.count } ?? true

        var descriptors: [DescriptorConfiguration] = []
        if isRoom { descriptors += try added(missing, at: position) }
        let subscribing = PermissionConfiguration(
            read: .open, write: permissions.subscription(for: properties) ?? permissions.read ?? .open,
            keySize: permissions.keySize)
        for (fields, uuid) in listed { descriptors.append(try descriptor(fields, uuid, subscribing)) }
        if !isRoom { descriptors += try added(missing, at: position) }
        return descriptors
    }

    private mutating func added(
        _ missing: [Standard], at position: SourcePosition
    ) throws(ConfigurationError) -> [DescriptorConfiguration] {
        var descriptors: [DescriptorConfiguration] = []
        for standard in missing {
            let handle = try layout.take(for: "the descriptor \(standard.uuid)", at: position)
            descriptors.append(
                DescriptorConfiguration(uuid: standard.uuid, handle: handle, value: .twoOctets))
        }
        return descriptors
    }

    private mutating func descriptor(
        _ fields: YAMLFields<DescriptorKey>, _ uuid: BluetoothUUID, _ subscribing: PermissionConfiguration
    ) throws(ConfigurationError) -> DescriptorConfiguration {
        let handle = try layout.take(fields[.handle], for: "the descriptor \(uuid)", at: fields.position)
        let implied =
            uuid == 0x2902
            ? subscribing : PermissionConfiguration(read: .open, write: uuid == 0x2903 ? .open : nil)
        let permissions = try fields[.permissions]?.permissions(implied: implied)
        if permissions?.subscribe != nil {
            throw ConfigurationError(
                fields.position(of: .permissions), "a descriptor has no subscribers",
                hint: "subscribe belongs to the permissions of the characteristic")
        }
        var value = try StoredValue(value: fields[.value], length: fields[.length], context)
        let isStandard = Self.standard.contains { $0.uuid == uuid }
        if isStandard, fields[.value] == nil { value = .twoOctets }
        guard uuid != 0x2902 || value.octets == [0, 0] else {
            throw ConfigurationError(
                fields.position(of: .value), "each central has its own 2902, which begins as 0000",
                hint: "leave the value out")
        }
        let size = isStandard ? 2 : uuid == 0x2904 ? 7 : nil
        if let size, value.octets.count != size {
            try contradiction(
                fields.position(of: .value),
                "a descriptor \(uuid) has \(size) octets, not \(value.octets.count)")
        }
        if size != nil, fields[.length] == nil { (value.maximum, value.isFixed) = (value.octets.count, true) }
        return DescriptorConfiguration(
            uuid: uuid, hasLongUUID: try hasLongUUID(fields[.uuidBits], uuid), handle: handle,
            permissions: permissions, value: value)
    }
}

extension StoredValue {
    /// A value of two zeros, always two octets.
    fileprivate static let twoOctets = StoredValue(octets: [0, 0], maximum: 2, isFixed: true)
}
