import ATT
import BLECore

/// A service of a remote server (Core Specification 5.4, Vol 3, Part G, 3.1).
public struct RemoteService: Hashable, ServiceReference, HandleRun {
    /// The UUID of the service, which need not be unique on a device.
    public var uuid: BluetoothUUID
    /// The handle of the service's declaration.
    public var handle: AttributeHandle
    /// The last handle that belongs to the service.
    public var endHandle: AttributeHandle
    /// Whether the service is primary; a secondary service exists only to be included.
    public var isPrimary: Bool
    /// The services that this one includes, in ascending order of their declarations.
    public var includes: [RemoteInclude]
    /// The characteristics, in the order of their handles.
    public var characteristics: [RemoteCharacteristic]
    /// The state of the database in which the service was found.
    public internal(set) var generation = DatabaseGeneration.unknown

    package init(
        uuid: BluetoothUUID, handle: AttributeHandle, endHandle: AttributeHandle, isPrimary: Bool = true,
        includes: [RemoteInclude] = [], characteristics: [RemoteCharacteristic] = []
    ) {
        self.uuid = uuid
        self.handle = handle
        self.endHandle = endHandle
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }

    /// The handles from the declaration to the last attribute.
    public var range: AttributeRange { AttributeRange(handle, endHandle) }

    mutating func stamp(_ generation: DatabaseGeneration) {
        self.generation = generation
        includes = includes.map { $0.stamped(generation) }
        characteristics = characteristics.map { $0.stamped(generation) }
    }

    /// Returns the first characteristic of a type.
    public func characteristic(_ uuid: BluetoothUUID) -> RemoteCharacteristic? {
        characteristics.first { $0.uuid == uuid }
    }
}

/// A service that another one includes (Core Specification 5.4, Vol 3, Part G, 3.2).
public struct RemoteInclude: Hashable, ServiceReference {
    /// The handle of the include declaration.
    public var handle: AttributeHandle
    /// The UUID of the included service.
    public var uuid: BluetoothUUID
    /// The handle of the included service's declaration.
    public var serviceHandle: AttributeHandle
    /// The last handle of the included service.
    public var endHandle: AttributeHandle
    /// The state of the database in which the include was found.
    public internal(set) var generation = DatabaseGeneration.unknown

    /// The handles of the included service.
    public var range: AttributeRange { AttributeRange(serviceHandle, endHandle) }

    /// Returns the same include, with `generation` in it.
    package func stamped(_ generation: DatabaseGeneration) -> RemoteInclude {
        var stamped = self
        stamped.generation = generation
        return stamped
    }

    package init(
        handle: AttributeHandle, uuid: BluetoothUUID, serviceHandle: AttributeHandle,
        endHandle: AttributeHandle
    ) {
        self.handle = handle
        self.uuid = uuid
        self.serviceHandle = serviceHandle
        self.endHandle = endHandle
    }
}

/// A service that discovery found, by itself or as included by another, or a bare range of handles.
public protocol ServiceReference: Sendable {
    /// The handles of the service, from its declaration to its last attribute.
    var range: AttributeRange { get }
    /// The state of the server's database that the handles belong to.
    var generation: DatabaseGeneration { get }
}

extension AttributeRange: ServiceReference {
    /// The range itself: the handles of a service that the application knows.
    public var range: AttributeRange { self }
    /// Unknown: bare handles are not checked.
    public var generation: DatabaseGeneration { .unknown }
}

extension RemoteService: CustomStringConvertible {
    /// One line: "service 180d at 0x0010...0x0015: 2a37, 2a38".
    public var description: String {
        let list = characteristics.map { "\($0.uuid)" }.joined(separator: ", ")
        return "\(isPrimary ? "" : "secondary ")service \(uuid) at \(range)\(list.isEmpty ? "" : ": ")\(list)"
    }
}
