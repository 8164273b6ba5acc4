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
    /// Whether a characteristic in none of the services is a fault.
    private let areAll: Bool
    private let uuid: BluetoothUUID?

    /// Finds the characteristics in `range`, a service's handles; only those of type `uuid` if it is given.
    /// The client compares the types, because only the next characteristic shows where one ends.
    package init(in range: AttributeRange, uuid: BluetoothUUID? = nil) {
        self.init(in: range, of: [range], areAll: false, uuid: uuid)
    }

    /// Finds the characteristics of several services at once, whose handles ascend within `range`.
    /// Characteristics in none of the services are left out, which is a fault if these are all services.
    init(in range: AttributeRange, of services: [AttributeRange], areAll: Bool, uuid: BluetoothUUID? = nil) {
        walk = AttributeWalk(.values(.characteristic), in: range)
        self.areAll = areAll
        self.services = services[...]
        self.uuid = uuid
    }

    var result: [RemoteCharacteristic] { found.filter { uuid == nil || $0.uuid == uuid } }

    /// Adds a characteristic. The value must come after its declaration, and the next declaration after the
    /// value (3.3).
    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        guard let declaration = try walk.declaration(entry, CharacteristicDeclaration.self) else { return }
        let (handle, value, uuid) = (entry.handle, declaration.valueHandle, declaration.uuid)
        services = services.drop { $0.end < handle }
        guard let service = services.first, service.contains(handle) else {
            if areAll, walk.tolerance != .nothing { try walk.note(.orphan(handle), at: handle, uuid) }
            return
        }
        if let last = found.indices.last {
            let before = found[last]
            // Reported already if it is in another service.
            if handle <= before.valueHandle, before.valueHandle <= before.endHandle {
                try walk.note(
                    .badValueHandle(before.handle, value: before.valueHandle), at: before.handle, before.uuid)
            }
            found[last].endHandle = min(before.endHandle, AttributeHandle(handle.rawValue - 1))
        }
        if value <= handle || value > service.end {
            try walk.note(.badValueHandle(handle, value: value), at: handle, uuid)
            // A value elsewhere can be read all the same.
            guard value > handle else { return }
        }
        found.append(
            RemoteCharacteristic(
                uuid: uuid, handle: handle, valueHandle: value, endHandle: service.end,
                properties: declaration.properties))
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
