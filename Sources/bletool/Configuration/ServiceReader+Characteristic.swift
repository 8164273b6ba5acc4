import AssignedNumbers
import BLECore

extension ServiceReader {
    private enum Key: String, CaseIterable {
        case uuid, handle, valueHandle, properties, permissions, value, length, read, write, notify,
            descriptors
    }

    mutating func characteristic(_ node: YAMLNode) throws(ConfigurationError) -> CharacteristicConfiguration {
        let fields = try YAMLFields<Key>(node, "a characteristic")
        let uuid = try attributeUUID(fields.required(.uuid), .characteristic)
        let properties = try self.properties(fields.required(.properties))
        let implied = PermissionConfiguration(
            read: properties.contains(.read) ? .open : nil,
            write: properties.contains(where: \.isWritable) ? .open : nil)
        let permissions = try fields[.permissions]?.permissions(implied: implied) ?? implied
        if permissions.read == nil && implied.read != nil
            || permissions.write == nil && implied.write != nil
        {
            try contradiction(
                fields.position(of: .permissions), "the properties offer what the permissions forbid",
                hint: "take read or write out of the properties, or permit it")
        }
        var value = try StoredValue(value: fields[.value], length: fields[.length], context)

        let read = try fields[.read]?.program(of: "read", context)
        if read != nil, permissions.read == nil {
            try contradiction(
                fields.position(of: .read), "read makes values, and the permissions let no central read them")
        }
        let write = try fields[.write]?.program(of: "write", context)
        if write != nil, permissions.write == nil {
            try contradiction(
                fields.position(of: .write),
                "write takes values, and the permissions let no central write them")
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
                    throw ConfigurationError(
                        place, "the counter has \(octets) octets, the value \(value.maximum)")
                }
                if fields[.value] == nil { value.octets = [UInt8](repeating: 0, count: octets) }
            }
        }

        let handle = try layout.take(fields[.handle], for: "the characteristic \(uuid)", at: node.position)
        let valueHandle = try layout.take(
            fields[.valueHandle], for: "the value of \(uuid)", at: node.position)
        return CharacteristicConfiguration(
            uuid: uuid, handle: handle, valueHandle: valueHandle, properties: properties,
            permissions: permissions,
            value: value, read: read, write: write, notify: notify,
            descriptors: try descriptors(fields[.descriptors], of: properties, at: node.position))
    }

    private func properties(_ node: YAMLNode) throws(ConfigurationError) -> Set<CharacteristicProperty> {
        var properties: Set<CharacteristicProperty> = []
        for node in try node.list(of: "properties") {
            let property = try node.word(CharacteristicProperty.self)
            guard properties.insert(property).inserted else {
                throw ConfigurationError(node.position, "\(property.rawValue) is there twice")
            }
        }
        return properties
    }

    /// The UUID of a characteristic or descriptor, which is none of those that declare them.
    func attributeUUID(
        _ node: YAMLNode, _ kind: AssignedNumbers.UUIDKind
    ) throws(ConfigurationError) -> BluetoothUUID {
        let uuid = try node.uuid(kind, context.names)
        guard let short = uuid.uint16, (0x2800...0x2803).contains(short) else { return uuid }
        throw ConfigurationError(
            node.position, "\(uuid) is the UUID of a declaration", hint: "declarations are made for you")
    }
}
