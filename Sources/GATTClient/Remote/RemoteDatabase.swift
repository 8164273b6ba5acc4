import ATT
import BLECore

/// The attributes of a remote server as discovery found them, in the order of their handles.
public struct RemoteDatabase: Hashable, Sendable {
    /// All services in ascending order of handles, primary and secondary.
    public private(set) var services: [RemoteService]
    /// The server's Database Hash, 16 octets as read (Core Specification 5.4, Vol 3, Part G, 7.3); nil if it
    /// has none.
    public let hash: [UInt8]?
    /// What violates the specification in the server's database, or was not shown; in the order in which it was found.
    /// It was corrected or left out. A database with faults is discovered anew on each link.
    public let faults: [DatabaseFault]
    /// The state of the server's database that was found.
    public private(set) var generation = DatabaseGeneration.unknown

    /// Creates a database of `services`, which must not overlap.
    package init(services: [RemoteService] = [], hash: [UInt8]? = nil, faults: [DatabaseFault] = []) {
        self.services = services.sorted { $0.handle < $1.handle }
        self.hash = hash
        self.faults = faults
    }

    /// Returns whether a characteristic has a fault of its own: it is not certain which attribute its value is.
    public func isFaulty(_ characteristic: RemoteCharacteristic) -> Bool {
        faults.contains { $0.handle == characteristic.handle }
    }

    /// The number of services, includes, characteristics and descriptors.
    public var count: Int {
        services.reduce(services.count) { count, service in
            service.characteristics.reduce(count + service.includes.count) { $0 + 1 + $1.descriptors.count }
        }
    }

    /// Returns the same database, with `generation` in all parts of it.
    package func stamped(_ generation: DatabaseGeneration) -> RemoteDatabase {
        var stamped = self
        stamped.generation = generation
        for service in stamped.services.indices { stamped.services[service].stamp(generation) }
        return stamped
    }

    /// Returns the services with this UUID, which may be more than one.
    public func services(_ uuid: BluetoothUUID) -> [RemoteService] { services.filter { $0.uuid == uuid } }

    /// Returns the first service of a type.
    public func service(_ uuid: BluetoothUUID) -> RemoteService? { services.first { $0.uuid == uuid } }

    /// Returns the characteristics of a type, in all services or in those of one type.
    public func characteristics(
        _ uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) -> [RemoteCharacteristic] {
        services.filter { service == nil || $0.uuid == service }
            .flatMap { $0.characteristics.filter { $0.uuid == uuid } }
    }

    /// Returns the service that an attribute belongs to.
    public func service(containing handle: AttributeHandle) -> RemoteService? {
        services.containing(handle)
    }

    /// Returns the characteristic that an attribute belongs to, as its declaration, its value or a
    /// descriptor.
    public func characteristic(containing handle: AttributeHandle) -> RemoteCharacteristic? {
        services.containing(handle)?.characteristics.containing(handle)
    }

    /// Returns the descriptor with this handle, or nil.
    public func descriptor(_ handle: AttributeHandle) -> RemoteDescriptor? {
        characteristic(containing: handle)?.descriptors.containing(handle)
    }
}

/// An element that occupies a range of handles.
protocol HandleRun {
    var handle: AttributeHandle { get }
    var endHandle: AttributeHandle { get }
}

extension Array where Element: HandleRun {
    /// Returns the index of the element that contains `handle`, by binary search; the array must be in the
    /// order of the handles.
    func position(of handle: AttributeHandle) -> Int? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].endHandle < handle { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low].handle <= handle ? low : nil
    }

    /// Returns the element that contains `handle`.
    func containing(_ handle: AttributeHandle) -> Element? { position(of: handle).map { self[$0] } }
}

extension RemoteDatabase: CustomStringConvertible {
    /// One line: "3 services: 1800, 1801, 180d".
    public var description: String {
        let list = services.map { "\($0.uuid)" }.joined(separator: ", ")
        return
            "\(services.count) \(services.count == 1 ? "service" : "services")\(list.isEmpty ? "" : ": ")\(list)"
    }
}
