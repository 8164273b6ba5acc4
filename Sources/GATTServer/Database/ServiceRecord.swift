import ATT
import BLECore

/// A service as a server had it, for the next process to have it again with the same handles: what clients remember
/// of it stays true.
public struct ServiceRecord: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var handle: AttributeHandle
        package var type: BluetoothUUID
        /// What a declaration of a service or characteristic says: UUID, properties, handle. Of others nothing.
        package var declaration: [UInt8]

        package init(handle: AttributeHandle, type: BluetoothUUID, declaration: [UInt8]) {
            self.handle = handle
            self.type = type
            self.declaration = declaration
        }
    }

    /// The declaration, then the rest of it; handles ascending.
    package let entries: [Entry]

    /// A service of these attributes; nil when they do not begin with its declaration, or their handles do not ascend.
    package init?(_ entries: [Entry]) {
        guard let first = entries.first, first.type == .primaryService || first.type == .secondaryService,
            (try? ServiceDeclaration(first.declaration)) != nil, first.handle > .none,
            zip(entries, entries.dropFirst()).allSatisfy({ $0.handle < $1.handle })
        else { return nil }
        self.entries = entries
    }

    fileprivate init(_ attributes: some Sequence<Attribute>) {
        entries = attributes.map { attribute in
            let isTold = attribute.kind == .declaration && attribute.type != .include
            return Entry(
                handle: attribute.handle, type: attribute.type, declaration: isTold ? attribute.value : [])
        }
    }

    /// The UUID of the service.
    public var uuid: BluetoothUUID { (try? ServiceDeclaration(entries[0].declaration))?.uuid ?? 0x0000 }
    /// The handle of the service's declaration.
    public var handle: AttributeHandle { entries[0].handle }
    /// The handle of the service's last attribute.
    public var endHandle: AttributeHandle { entries.last?.handle ?? handle }

    /// Whether a service that is described now is laid out just so where this one was.
    fileprivate func fits(_ service: GATTService) -> Bool {
        guard service.handle ?? handle == handle, service.uuid == uuid else { return false }
        let place = DatabaseError.Place(service: nil, service.uuid)
        guard let layout = try? ServiceLayout(service, place, at: Int(handle.rawValue)) else { return false }
        return ServiceRecord(layout.attributes) == self
    }
}

extension AttributeDatabase {
    /// Lays out `services`, each where its record says, when it has one that fits; others, and those whose make has
    /// changed, come after `highest`, so that no client mistakes them for services that are gone.
    package init(
        _ services: [GATTService], generic: GenericServices?, like records: [ServiceRecord],
        above highest: AttributeHandle
    ) throws(DatabaseError) {
        self.init(attributes: [])
        self.highest = highest
        let own = (generic?.services ?? []).map { (DatabaseError.Place(service: nil, $0.uuid), $0) }
        let all = own + services.enumerated().map { (DatabaseError.Place(service: $0, $1.uuid), $1) }
        _ = try insert(Self.placed(all, like: records))
    }

    /// Adds services, each where its record says.
    mutating func add(
        _ services: [GATTService], like records: [ServiceRecord]
    ) throws(DatabaseError) -> AttributeRange? {
        let free = records.filter { index(of: $0.handle) == nil }
        let all = services.enumerated().map { (DatabaseError.Place(service: $0, $1.uuid), $1) }
        return try insert(Self.placed(all, like: free))
    }

    /// Services with the handles of their records, after those that have none: these find their room first.
    private static func placed(
        _ described: [(place: DatabaseError.Place, service: GATTService)], like records: [ServiceRecord]
    ) -> [(place: DatabaseError.Place, service: GATTService)] {
        guard !records.isEmpty else { return described }
        var left = records
        var (placed, others): ([(DatabaseError.Place, GATTService)], [(DatabaseError.Place, GATTService)]) = (
            [], []
        )
        for (place, service) in described {
            guard let index = left.firstIndex(where: { $0.fits(service) }) else {
                others.append((place, service))
                continue
            }
            var service = service
            service.handle = left.remove(at: index).handle
            placed.append((place, service))
        }
        return others + placed
    }

    /// What there is to remember of the services.
    package var records: [ServiceRecord] {
        attributes.filter(\.isService).map { service in
            let range = AttributeRange(service.handle, service.groupEnd)
            return ServiceRecord(attributes.filter { range.contains($0.handle) })
        }
    }
}
