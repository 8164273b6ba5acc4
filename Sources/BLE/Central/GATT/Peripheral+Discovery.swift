import ATT
import BLECore
import GATTClient

/// Discovery in steps, as Core Bluetooth has it: each asks for no more than it says, and for nothing at all once
/// `discover()` has found everything. For who wants all of it, `discover()` takes fewer requests.
extension Peripheral {
    /// The primary services, or those of these types, without what is in them (Core Specification 5.4, Vol 3, Part G,
    /// 4.4).
    public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(BLEError) -> [RemoteService] {
        try await adapter.discoverServices(uuids, on: link)
    }

    /// The services that a service includes, or those of these types among them (4.5.1).
    public func discoverIncludedServices(
        _ uuids: [BluetoothUUID]? = nil, for service: some ServiceReference
    ) async throws(BLEError) -> [RemoteInclude] {
        try await adapter.discoverIncludes(of: CheckedService(service), on: link)
            .filter { uuids?.contains($0.uuid) ?? true }
    }

    /// The characteristics of a service, or those of these types among them (4.6). Their descriptors are there where
    /// the whole database is known; `values(of:)` finds what it needs by itself.
    public func discoverCharacteristics(
        _ uuids: [BluetoothUUID]? = nil, for service: some ServiceReference
    ) async throws(BLEError) -> [RemoteCharacteristic] {
        try await adapter.discoverCharacteristics(of: CheckedService(service), on: link)
            .filter { uuids?.contains($0.uuid) ?? true }
    }

    /// The descriptors of a characteristic (4.7).
    public func discoverDescriptors(
        for characteristic: RemoteCharacteristic
    ) async throws(BLEError) -> [RemoteDescriptor] {
        try await adapter.discoverDescriptors(of: characteristic, on: link)
    }

    /// What a descriptor says. Octets that its type does not allow are `BLEError.peerMisbehaved`.
    public func value(of descriptor: RemoteDescriptor) async throws(BLEError) -> DescriptorValue {
        let octets = try await read(descriptor)
        do throws(DecodeError) {
            return try DescriptorValue(descriptor.uuid, octets)
        } catch {
            throw .peerMisbehaved(.malformedValue(error))
        }
    }

    /// What changes in the device's services from now on: the handles among which something was added, removed or
    /// changed. After that `discover()` gives the database as it is then, and what was found before is refused, as
    /// `BLEError.databaseChanged`.
    ///
    /// Servers indicate this to a client that has subscribed, which `discover()` does. Of a slow consumer's waiting
    /// changes the oldest of 64 are dropped and counted. Ends with the link.
    public func serviceChanges() -> BoundedStream<ServiceChange> {
        let buffer = StreamBuffer<ServiceChange>(.newest(64))
        adapter.loop.execute { [adapter, link] in
            adapter.assumeIsolated { $0.watchServices(of: link, into: buffer) }
        }
        return BoundedStream(buffer)
    }
}
