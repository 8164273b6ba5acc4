import ATT
import BLECore

/// A characteristic of a remote server (Core Specification 5.4, Vol 3, Part G, 3.3).
public struct RemoteCharacteristic: Hashable, AttributeReference, HandleRun {
    /// The UUID of the characteristic, which need not be unique in a service.
    public var uuid: BluetoothUUID
    /// The handle of the characteristic's declaration.
    public var handle: AttributeHandle
    /// The handle of the characteristic's value.
    public var valueHandle: AttributeHandle
    /// The last handle that belongs to the characteristic.
    public var endHandle: AttributeHandle
    /// The operations that the value supports.
    public var properties: CharacteristicProperties
    /// The descriptors, in the order of their handles.
    public var descriptors: [RemoteDescriptor]
    /// The error with which the server refused to show its descriptors; nil if they are known, as far as they were
    /// discovered.
    public package(set) var refusedDescriptors: ATTErrorResponse?
    /// The state of the database in which the characteristic was found.
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

    /// The properties of the characteristic.
    public var declaredProperties: CharacteristicProperties? { properties }

    /// The handles that the characteristic's descriptors can have; nil if no handle is left for them.
    package var descriptorRange: AttributeRange? { AttributeRange(valueHandle, endHandle).after(valueHandle) }

    /// Returns the same characteristic, with `generation` in it and its descriptors.
    package func stamped(_ generation: DatabaseGeneration) -> RemoteCharacteristic {
        var stamped = self
        stamped.generation = generation
        stamped.descriptors = descriptors.map { $0.stamped(generation) }
        return stamped
    }

    /// Returns the first descriptor of a type.
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
    /// The state of the database in which the descriptor was found.
    public internal(set) var generation = DatabaseGeneration.unknown

    package init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }

    /// Returns the same descriptor, with `generation` in it.
    package func stamped(_ generation: DatabaseGeneration) -> RemoteDescriptor {
        var stamped = self
        stamped.generation = generation
        return stamped
    }

    /// The handle of the descriptor itself, which is its own value.
    public var valueHandle: AttributeHandle { handle }

    var endHandle: AttributeHandle { handle }
}

/// A value of a remote server, and the handle of its attribute.
public struct RemoteValue: Hashable, Sendable {
    /// The handle of the attribute that was read.
    public var handle: AttributeHandle
    /// The value, or as much of it as fits the response.
    public var value: [UInt8]
    /// The length of the whole value in octets, if the response states it.
    public var length: Int?

    package init(handle: AttributeHandle, value: [UInt8], length: Int? = nil) {
        self.handle = handle
        self.value = value
        self.length = length
    }

    /// Whether the response states that it contains only the beginning of the value.
    public var isTruncated: Bool { length.map { $0 > value.count } ?? false }
}

extension RemoteCharacteristic: CustomStringConvertible {
    /// One line: "characteristic 2a37 at 0x0012: read|notify".
    public var description: String { "characteristic \(uuid) at \(valueHandle): \(properties)" }
}
