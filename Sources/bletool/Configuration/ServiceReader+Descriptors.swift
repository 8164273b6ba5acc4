import AssignedNumbers
import BLECore

extension ServiceReader {
    private enum Key: String, CaseIterable { case uuid, handle, permissions, value, length }

    /// A descriptor that belongs to properties: it is added where they need it and the file has none.
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

    /// The descriptors of a characteristic. Those that are missing come first, or last when the file asks
    /// for a handle that leaves no room for them.
    mutating func descriptors(
        _ node: YAMLNode?, of properties: Set<CharacteristicProperty>, at position: SourcePosition
    ) throws(ConfigurationError) -> [DescriptorConfiguration] {
        var listed: [(fields: YAMLFields<Key>, uuid: BluetoothUUID)] = []
        for node in try node?.list(of: "descriptors") ?? [] {
            let fields = try YAMLFields<Key>(node, "a descriptor")
            let uuid = try attributeUUID(fields.required(.uuid), .descriptor)
            if let standard = Self.standard.first(where: { $0.uuid == uuid }) {
                if !properties.contains(where: standard.belongs) {
                    try contradiction(node.position, "the descriptor \(uuid) goes with \(standard.what)")
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
                try contradiction(position, "\(standard.what) goes with the descriptor \(standard.uuid)")
            }
            missing = []
        }
        let wanted: UInt16? = try listed.first?.fields[.handle]?.integer("a handle", in: 1...0xffff)
        let isRoom = wanted.map { layout.room(before: AttributeHandle($0)) >= missing.count } ?? true

        var descriptors: [DescriptorConfiguration] = []
        if isRoom { descriptors += try added(missing, at: position) }
        for (fields, uuid) in listed { descriptors.append(try descriptor(fields, uuid)) }
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
        _ fields: YAMLFields<Key>, _ uuid: BluetoothUUID
    ) throws(ConfigurationError) -> DescriptorConfiguration {
        let handle = try layout.take(fields[.handle], for: "the descriptor \(uuid)", at: fields.position)
        let isConfiguration = uuid == 0x2902 || uuid == 0x2903
        let permissions = try fields[.permissions]?.permissions(
            implied: PermissionConfiguration(read: .open, write: isConfiguration ? .open : nil))
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
        return DescriptorConfiguration(uuid: uuid, handle: handle, permissions: permissions, value: value)
    }
}

extension StoredValue {
    /// Two zeros, always two octets.
    fileprivate static let twoOctets = StoredValue(octets: [0, 0], maximum: 2, isFixed: true)
}
