import ATT
import BLECore

/// Finds the characteristics of a service, without their descriptors (Core Specification 5.4, Vol 3, Part
/// G, 4.6).
package struct DiscoverCharacteristics: WalkingProcedure {
    package static let isPreparation = true

    /// The characteristics in ascending order of handles.
    package typealias Output = [RemoteCharacteristic]

    var walk: AttributeWalk
    private var found: [RemoteCharacteristic] = []
    /// The services that can still have characteristics, in the order of their handles.
    private var services: ArraySlice<AttributeRange>
    private let uuid: BluetoothUUID?

    /// Finds the characteristics in `range`, a service's handles; only those of type `uuid` if it is given.
    /// The client compares the types, because only the next characteristic shows where one ends.
    package init(in range: AttributeRange, uuid: BluetoothUUID? = nil) {
        self.init(in: range, of: [range], uuid: uuid)
    }

    /// Finds the characteristics of several services at once, whose handles ascend within `range`.
    /// Characteristics in none of the services are left out.
    init(in range: AttributeRange, of services: [AttributeRange], uuid: BluetoothUUID? = nil) {
        walk = AttributeWalk(.values(.characteristic), in: range)
        self.services = services[...]
        self.uuid = uuid
    }

    var result: [RemoteCharacteristic] { found.filter { uuid == nil || $0.uuid == uuid } }

    /// Adds a characteristic. The value must come after its declaration, and the next declaration after the
    /// value (3.3).
    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        let declaration = try walk.declaration(entry, CharacteristicDeclaration.self)
        services = services.drop { $0.end < entry.handle }
        guard let service = services.first, service.contains(entry.handle) else { return }
        if let last = found.indices.last {
            guard entry.handle > found[last].valueHandle else {
                let value = found[last].valueHandle
                throw .misbehaving(walk.opcode, .badValueHandle(found[last].handle, value: value))
            }
            found[last].endHandle = min(found[last].endHandle, AttributeHandle(entry.handle.rawValue - 1))
        }
        guard declaration.valueHandle > entry.handle, declaration.valueHandle <= service.end else {
            throw .misbehaving(walk.opcode, .badValueHandle(entry.handle, value: declaration.valueHandle))
        }
        found.append(
            RemoteCharacteristic(
                uuid: declaration.uuid, handle: entry.handle, valueHandle: declaration.valueHandle,
                endHandle: service.end, properties: declaration.properties))
    }
}

/// Finds the descriptors of a characteristic (Core Specification 5.4, Vol 3, Part G, 4.7).
package struct DiscoverDescriptors: WalkingProcedure {
    package static let isPreparation = true

    /// The descriptors in ascending order of handles.
    package typealias Output = [RemoteDescriptor]

    var walk: AttributeWalk
    private(set) var result: [RemoteDescriptor] = []

    /// Finds the descriptors in `range`, a characteristic's `descriptorRange`; sends no request if that is
    /// nil.
    package init(in range: AttributeRange?) { walk = AttributeWalk(.types, in: range) }

    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        guard let type = entry.type else { return }
        result.append(RemoteDescriptor(uuid: type, handle: entry.handle))
    }
}
