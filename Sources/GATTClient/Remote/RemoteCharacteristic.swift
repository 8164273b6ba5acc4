import ATT
import BLECore

/// A characteristic of a remote server (Core Specification 5.4, Vol 3, Part G, 3.3).
public struct RemoteCharacteristic: Hashable, AttributeReference, HandleRun {
    /// The UUID of the characteristic, which need not be unique in a service.
    public var uuid: BluetoothUUID
    /// The handle of its declaration.
    public var handle: AttributeHandle
    /// The handle of its value.
    public var valueHandle: AttributeHandle
    /// The last handle that belongs to it.
    public var endHandle: AttributeHandle
    /// What can be done with its value.
    public var properties: CharacteristicProperties
    /// The descriptors, in the order of their handles.
    public var descriptors: [RemoteDescriptor]
    /// The state of the database that it was found in.
    public internal(set) var generation = DatabaseGeneration.unknown

    package init(
        uuid: BluetoothUUID, handle: AttributeHandle, valueHandle: AttributeHandle,
        endHandle: AttributeHandle,
        properties: CharacteristicProperties, descriptors: [RemoteDescriptor] = []
    ) {
        self.uuid = uuid
        self.handle = handle
        self.valueHandle = valueHandle
        self.endHandle = endHandle
        self.properties = properties
        self.descriptors = descriptors
    }

    /// The handles that its descriptors may have; nil when there is none left for them.
    package var descriptorRange: AttributeRange? { AttributeRange(valueHandle, endHandle).after(valueHandle) }

    /// The same characteristic with its descriptors, named as of `generation`.
    package func stamped(_ generation: DatabaseGeneration) -> RemoteCharacteristic {
        var stamped = self
        stamped.generation = generation
        stamped.descriptors = descriptors.map { $0.stamped(generation) }
        return stamped
    }

    /// The first descriptor of a type.
    public func descriptor(_ uuid: BluetoothUUID) -> RemoteDescriptor? {
        descriptors.first { $0.uuid == uuid }
    }
}

/// A descriptor of a remote characteristic (Core Specification 5.4, Vol 3, Part G, 3.3.3).
public struct RemoteDescriptor: Hashable, AttributeReference, HandleRun {
    /// The UUID of the descriptor, which need not be unique in a characteristic.
    public var uuid: BluetoothUUID
    /// The handle of the descriptor.
    public var handle: AttributeHandle
    /// The state of the database that it was found in.
    public internal(set) var generation = DatabaseGeneration.unknown

    package init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }

    /// The same descriptor, named as of `generation`.
    package func stamped(_ generation: DatabaseGeneration) -> RemoteDescriptor {
        var stamped = self
        stamped.generation = generation
        return stamped
    }

    /// Its handle: a descriptor is its own value.
    public var valueHandle: AttributeHandle { handle }

    var endHandle: AttributeHandle { handle }
}

/// A value of a remote server, and the attribute that has it.
public struct RemoteValue: Hashable, Sendable {
    /// The handle of the attribute that was read.
    public var handle: AttributeHandle
    /// The value, or as much of it as fitted the response.
    public var value: [UInt8]
    /// Octets of the whole value, where the response states it.
    public var length: Int?

    package init(handle: AttributeHandle, value: [UInt8], length: Int? = nil) {
        self.handle = handle
        self.value = value
        self.length = length
    }

    /// Whether the response states that it has only the beginning of the value.
    public var isTruncated: Bool { length.map { $0 > value.count } ?? false }
}

extension RemoteCharacteristic: CustomStringConvertible {
    /// One line: "characteristic 2a37 at 0x0012: read|notify".
    public var description: String { "characteristic \(uuid) at \(valueHandle): \(properties)" }
}
