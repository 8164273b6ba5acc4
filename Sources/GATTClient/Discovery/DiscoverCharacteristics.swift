import ATT
import BLECore

/// Finds the characteristics of a service, without their descriptors (Core Specification 5.4, Vol 3, Part
/// G, 4.6).
package struct DiscoverCharacteristics: WalkingProcedure {
    /// The characteristics in ascending order of handles.
    package typealias Output = [RemoteCharacteristic]

    var walk: AttributeWalk
    private var found: [RemoteCharacteristic] = []
    /// The services that may have some, those first that come first.
    private var services: ArraySlice<AttributeRange>
    private let uuid: BluetoothUUID?

    /// Looks for those in `range`, a service's handles; only for those of type `uuid` if it is given. The
    /// client compares the types, since only the next characteristic shows where one ends.
    package init(in range: AttributeRange, uuid: BluetoothUUID? = nil) {
        self.init(in: range, of: [range], uuid: uuid)
    }

    /// Looks for those of several services at once, whose handles ascend within `range`. What is in none of
    /// them is left out.
    init(in range: AttributeRange, of services: [AttributeRange], uuid: BluetoothUUID? = nil) {
        walk = AttributeWalk(.values(.characteristic), in: range)
        self.services = services[...]
        self.uuid = uuid
    }

    var result: [RemoteCharacteristic] { found.filter { uuid == nil || $0.uuid == uuid } }

    /// The value comes after its declaration, and the next declaration after that (3.3).
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
    /// The descriptors in ascending order of handles.
    package typealias Output = [RemoteDescriptor]

    var walk: AttributeWalk
    private(set) var result: [RemoteDescriptor] = []

    /// Looks for those in `range`, a characteristic's `descriptorRange`; asks nothing when it has none.
    package init(in range: AttributeRange?) { walk = AttributeWalk(.types, in: range) }

    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        guard let type = entry.type else { return }
        result.append(RemoteDescriptor(uuid: type, handle: entry.handle))
    }
}
