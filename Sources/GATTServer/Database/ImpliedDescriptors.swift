import ATT
import BLECore

extension GATTCharacteristic {
    /// Returns the listed descriptors, then those that the properties require and the list lacks (Core
    /// Specification 5.4, Vol 3, Part G, 3.3.3). A descriptor that can exist only once must not be listed
    /// twice. With `allowsContradictions`, the list is returned unchanged.
    func allDescriptors(
        _ place: DatabaseError.Place, allowsContradictions: Bool
    ) throws(DatabaseError) -> [GATTDescriptor] {
        guard !allowsContradictions else { return descriptors }
        let needed: [(BluetoothUUID, CharacteristicProperties, [UInt8])] = [
            (
                .characteristicExtendedProperties, .extendedProperties,
                [UInt8](littleEndian: extendedProperties.rawValue)
            ),
            (.clientCharacteristicConfiguration, .anyNotification, []),
            (.serverCharacteristicConfiguration, .broadcast, [0, 0]),
        ]
        var all = descriptors
        for (uuid, properties, value) in needed {
            let listed = all.indices.filter { all[$0].uuid == uuid }
            if listed.count > 1 { throw DatabaseError(place, .repeatedDescriptor(uuid)) }
            if let index = listed.first {
                all[index] = all[index].completed(with: value)
            } else if !self.properties.isDisjoint(with: properties) {
                all.append(GATTDescriptor(uuid).completed(with: value))
            }
        }
        return all
    }

    private var subscriptionPermissions: AttributePermissions {
        var permissions = permissions ?? AttributePermissions(read: .open)
        permissions.write = subscription ?? permissions.read ?? .open
        permissions.read = .open
        permissions.authorize = false
        return permissions
    }

    /// Returns the permissions that a descriptor's type implies if the descriptor specifies none.
    func permissions(for descriptor: GATTDescriptor) -> AttributePermissions {
        switch descriptor.uuid {
        case .clientCharacteristicConfiguration: subscriptionPermissions
        case .serverCharacteristicConfiguration: AttributePermissions(read: .open, write: .open)
        case .characteristicUserDescription where extendedProperties.contains(.writableAuxiliaries):
            AttributePermissions(read: .open, write: .open)
        default: AttributePermissions(read: .open, write: descriptor.onWrite == nil ? .none : .open)
        }
    }
}

extension GATTDescriptor {
    /// Returns the descriptor with the initial value and the length of its type, where it has none of its
    /// own.
    fileprivate func completed(with value: [UInt8]) -> GATTDescriptor {
        var completed = self
        if self.value.isEmpty { completed.value = value }
        if completed.length == .any { completed.length = .fixed(2) }
        return completed
    }
}
