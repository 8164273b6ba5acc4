import ATT
import BLECore

/// The attributes of a remote server as discovery found them, in the order of their handles.
public struct RemoteDatabase: Hashable, Sendable {
    /// All services, primary and secondary.
    public let services: [RemoteService]

    /// A database of `services`, which must not overlap.
    public init(services: [RemoteService] = []) {
        self.services = services.sorted { $0.handle < $1.handle }
    }

    /// The services of a type.
    public func services(_ uuid: BluetoothUUID) -> [RemoteService] { services.filter { $0.uuid == uuid } }

    /// The first service of a type.
    public func service(_ uuid: BluetoothUUID) -> RemoteService? { services.first { $0.uuid == uuid } }

    /// The characteristics of a type, in all services or in those of one type.
    public func characteristics(
        _ uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) -> [RemoteCharacteristic] {
        services.filter { service == nil || $0.uuid == service }
            .flatMap { $0.characteristics.filter { $0.uuid == uuid } }
    }

    /// The service that an attribute belongs to.
    public func service(containing handle: AttributeHandle) -> RemoteService? {
        services.containing(handle)
    }

    /// The characteristic that an attribute belongs to, be it the declaration, the value or a descriptor.
    public func characteristic(containing handle: AttributeHandle) -> RemoteCharacteristic? {
        services.containing(handle)?.characteristics.containing(handle)
    }

    /// The descriptor with this handle.
    public func descriptor(_ handle: AttributeHandle) -> RemoteDescriptor? {
        characteristic(containing: handle)?.descriptors.containing(handle)
    }
}

/// Something that takes a run of handles.
protocol HandleRun {
    var handle: AttributeHandle { get }
    var endHandle: AttributeHandle { get }
}

extension Array where Element: HandleRun {
    /// The element that `handle` lies in, found by halving; the array is in the order of the handles.
    func containing(_ handle: AttributeHandle) -> Element? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].endHandle < handle { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low].handle <= handle ? self[low] : nil
    }
}
