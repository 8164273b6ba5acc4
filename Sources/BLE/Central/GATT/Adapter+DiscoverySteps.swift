import BLECore
import GATT
import GATTClient
import HCISocket

/// The handles of a service, and the generation of the database that they belong to.
struct CheckedService: Sendable {
    let range: AttributeRange
    let generation: DatabaseGeneration

    init(_ service: some ServiceReference) { (range, generation) = (service.range, service.generation) }

    fileprivate var checked: CheckedHandle { CheckedHandle(range, generation) }
}

/// Discovery of parts of a database.
extension Adapter {
    func discoverServices(
        _ uuids: [BluetoothUUID]?, on id: LinkID
    ) async throws(BLEError) -> [RemoteService] {
        if let database = try link(id).gatt.session.currentDatabase {
            return database.services.filter { $0.isPrimary && uuids?.contains($0.uuid) ?? true }
        }
        let state = try link(id).gatt.session.state
        var found: [RemoteService] = []
        if let uuids {
            for uuid in uuids { found += try await run(DiscoverServices.primary(uuid), on: id) }
        } else {
            found = try await run(DiscoverServices.primary, on: id)
        }
        return RemoteDatabase(services: found).stamped(try generation(since: state, on: id)).services
    }

    func discoverIncludes(
        of service: CheckedService, on id: LinkID
    ) async throws(BLEError) -> [RemoteInclude] {
        if let known = try known(service, on: id) { return known.includes }
        let found = try await run(FindIncludedServices(in: service.range), about: [service.checked], on: id)
        return found.map { $0.stamped(service.generation) }
    }

    func discoverCharacteristics(
        of service: CheckedService, on id: LinkID
    ) async throws(BLEError) -> [RemoteCharacteristic] {
        if let known = try known(service, on: id) { return known.characteristics }
        let found = try await run(
            DiscoverCharacteristics(in: service.range), about: [service.checked], on: id)
        return found.map { $0.stamped(service.generation) }
    }

    func discoverDescriptors(
        of characteristic: RemoteCharacteristic, on id: LinkID
    ) async throws(BLEError) -> [RemoteDescriptor] {
        let checked = CheckedHandle(characteristic)
        try await locate([checked], on: id)
        let session = try link(id).gatt.session
        if session.isCurrent(CheckedHandle(characteristic)), let database = session.currentDatabase,
            let known = database.services.lazy.flatMap(\.characteristics).first(where: {
                $0.handle == characteristic.handle && $0.valueHandle == characteristic.valueHandle
            })
        {
            return known.descriptors
        }
        let found = try await run(
            DiscoverDescriptors(in: characteristic.descriptorRange), about: [checked], on: id)
        return found.map { $0.stamped(characteristic.generation) }
    }

    /// Returns a service of the link's current database; nil when the database is not known.
    private func known(_ service: CheckedService, on id: LinkID) throws(BLEError) -> RemoteService? {
        let link = try link(id)
        try check([service.checked], on: link)
        return link.gatt.session.currentDatabase?.services.first { $0.handle == service.range.start }
    }

    /// Returns the generation of parts that are discovered separately. Throws when the database has changed
    /// meanwhile.
    private func generation(
        since state: ClientSession.DatabaseState, on id: LinkID
    ) throws(BLEError) -> DatabaseGeneration {
        let link = try link(id)
        guard let generation = link.gatt.session.partialGeneration(since: state, in: &clients.cache) else {
            throw .databaseChanged(.none)
        }
        return generation
    }

    func watchServices(of id: LinkID, into buffer: StreamBuffer<ServiceChange>) {
        do throws(BLEError) {
            let link = try link(id)
            let number = try callers(of: id).serviceChanges.add(buffer)
            whenEnded(buffer) { $0.callers.links[id]?.serviceChanges.remove(number) }
            // A discovery subscribes to the changes.
            guard link.gatt.session.currentDatabase == nil else { return }
            Task(executorPreference: loop) {
                do throws(BLEError) {
                    _ = try await self.discover(on: id)
                } catch {
                    buffer.finish(.failure(error))
                }
            }
        } catch {
            buffer.finish(.failure(error))
        }
    }
}
