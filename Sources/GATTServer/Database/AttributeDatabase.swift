import ATT
import BLECore

/// A server's attributes in the order of their handles (Core Specification 5.4, Vol 3, Part F, 3.2). Handles
/// can have gaps; finding one takes O(1) if there are none before it, otherwise O(log n).
package struct AttributeDatabase: Sendable {
    /// The attributes in ascending order of handles.
    package private(set) var attributes: [Attribute]
    /// The greatest handle that a service has ever had.
    private var highest = AttributeHandle.none

    /// Returns the index in `attributes` of the one with `handle`.
    package func index(of handle: AttributeHandle) -> Int? {
        let index = index(atOrAfter: handle)
        return index < attributes.count && attributes[index].handle == handle ? index : nil
    }

    /// Returns the index in `attributes` of the first one with `handle` or a greater handle; the end if there
    /// is none.
    package func index(atOrAfter handle: AttributeHandle) -> Int {
        let dense = Int(handle.rawValue) - 1
        if dense >= 0, dense < attributes.count, attributes[dense].handle == handle { return dense }
        var low = 0
        var high = attributes.count
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package subscript(handle: AttributeHandle) -> Attribute? { index(of: handle).map { attributes[$0] } }

    /// Replaces the value of the attribute at `index` in `attributes`.
    mutating func setValue(_ value: [UInt8], at index: Int) { attributes[index].value = value }

    /// Returns the Client Characteristic Configuration of the characteristic with this value handle; nil if
    /// it has none.
    func configuration(of value: AttributeHandle) -> Attribute? {
        guard let index = index(of: value) else { return nil }
        return attributes[index...].dropFirst().prefix { $0.kind != .declaration }.first {
            if case .clientConfiguration(value, _) = $0.kind { true } else { false }
        }
    }

    /// Returns the value handle of the first characteristic `uuid`, in the first service `service` if that is
    /// given.
    package func valueHandle(of uuid: BluetoothUUID, in service: BluetoothUUID? = nil) -> AttributeHandle? {
        var range = AttributeRange.all
        if let service {
            let declared = ServiceDeclaration(service).encoded
            let found = attributes.first { $0.isService && $0.value == declared }
            guard let found else { return nil }
            range = AttributeRange(found.handle, found.groupEnd)
        }
        return attributes.first {
            guard case .value = $0.kind else { return false }
            return $0.type == uuid && range.contains($0.handle)
        }?.handle
    }
}

extension Attribute {
    package var isService: Bool {
        kind == .declaration && (type == .primaryService || type == .secondaryService)
    }
}

extension AttributeDatabase {
    /// Lays out `services`, after the generic ones unless those are nil, and checks all of them. Services
    /// with a handle are placed at that handle; the others take, in order, the first room after the service
    /// before them.
    package init(
        _ services: [GATTService], generic: GenericServices? = GenericServices()
    ) throws(DatabaseError) {
        self.init(attributes: [])
        let own = (generic?.services ?? []).map { (DatabaseError.Place(service: nil, $0.uuid), $0) }
        _ = try insert(own + services.enumerated().map { (DatabaseError.Place(service: $0, $1.uuid), $1) })
    }

    /// Adds services, and returns the handles from the first to the last of their attributes. Services
    /// without a handle are placed after all that ever existed, so that no client mistakes them for removed
    /// services; if there is no room left, in the first gap.
    mutating func add(_ services: [GATTService]) throws(DatabaseError) -> AttributeRange? {
        try insert(services.enumerated().map { (DatabaseError.Place(service: $0, $1.uuid), $1) })
    }

    /// Returns the handles of the service that begins at `handle`. Throws if there is no such service, or if
    /// another service includes it.
    func removable(_ handle: AttributeHandle) throws(DatabaseError) -> AttributeRange {
        guard let index = index(of: handle), attributes[index].isService else {
            throw DatabaseError(DatabaseError.Place(service: nil, 0x0000), .serviceNotFound(handle))
        }
        let range = AttributeRange(handle, attributes[index].groupEnd)
        let includes = attributes.first { attribute in
            attribute.type == .include && !range.contains(attribute.handle)
                && (try? IncludeDeclaration(attribute.value))?.start == handle
        }
        if let includes {
            let place = DatabaseError.Place(service: nil, attributes[index].declaredService)
            let service = services.last { $0.handle < includes.handle }?.handle ?? includes.handle
            throw DatabaseError(place, .included(by: service))
        }
        return range
    }

    /// Removes all attributes of a range.
    mutating func remove(_ range: AttributeRange) {
        attributes.removeAll { range.contains($0.handle) }
        updateHash()
    }

    private mutating func insert(
        _ described: [(place: DatabaseError.Place, service: GATTService)]
    ) throws(DatabaseError) -> AttributeRange? {
        var taken = services.map { AttributeRange($0.handle, $0.groupEnd) }
        var layouts: [ServiceLayout] = []
        for (place, service) in described {
            guard let handle = service.handle else { continue }
            let layout = try ServiceLayout(service, place, at: Int(handle.rawValue))
            if taken.contains(where: layout.claimed.overlaps) {
                throw DatabaseError(place, .handleNotFree(handle))
            }
            taken.append(layout.claimed)
            layouts.append(layout)
        }
        var next = Int(highest.rawValue) + 1
        for (place, service) in described {
            if let handle = service.handle {
                next = Int(layouts.first { $0.range.start == handle }?.range.end.rawValue ?? 0) + 1
                continue
            }
            let layout = try Self.layout(service, place, from: next, around: taken)
            next = Int(layout.range.end.rawValue) + 1
            taken.append(layout.range)
            layouts.append(layout)
        }
        layouts.sort { $0.range.start < $1.range.start }
        try resolveIncludes(&layouts)
        attributes = (attributes + layouts.flatMap(\.attributes)).sorted { $0.handle < $1.handle }
        let last = layouts.map(\.range.end).max() ?? .none
        highest = max(highest, last)
        updateHash()
        guard let first = layouts.first else { return nil }
        return AttributeRange(first.range.start, last)
    }

    /// Lays out the service in the first room at `start` or later, otherwise anywhere.
    private static func layout(
        _ service: GATTService, _ place: DatabaseError.Place, from start: Int, around taken: [AttributeRange]
    ) throws(DatabaseError) -> ServiceLayout {
        do {
            return try firstRoom(service, place, from: start, around: taken)
        } catch {
            guard error.reason == .outOfHandles, start > 1 else { throw error }
            return try firstRoom(service, place, from: 1, around: taken)
        }
    }

    private static func firstRoom(
        _ service: GATTService, _ place: DatabaseError.Place, from start: Int, around taken: [AttributeRange]
    ) throws(DatabaseError) -> ServiceLayout {
        var layout = try ServiceLayout(service, place, at: start)
        while let obstacle = taken.first(where: layout.range.overlaps) {
            layout = try ServiceLayout(service, place, at: Int(obstacle.end.rawValue) + 1)
        }
        return layout
    }

    private func resolveIncludes(_ layouts: inout [ServiceLayout]) throws(DatabaseError) {
        let known = services.map {
            Included(range: AttributeRange($0.handle, $0.groupEnd), uuid: $0.declaredService)
        }
        let new = layouts.map { Included(range: $0.range, uuid: $0.uuid) }
        let candidates = (known + new).sorted { $0.range.start < $1.range.start }
        var edges = [[Int]](repeating: [], count: layouts.count)
        for including in layouts.indices {
            for include in layouts[including].includes {
                guard let found = candidates.first(where: { $0.isMeant(by: include.target) }) else {
                    throw DatabaseError(layouts[including].place, .includeNotFound(include.target))
                }
                layouts[including].resolve(include, as: found)
                guard !layouts[including].allowsContradictions else { continue }
                edges[including] += layouts.indices.filter { layouts[$0].range == found.range }
            }
        }
        // Services whose includes are all proved free of cycles are free of cycles too; the remaining ones
        // have a cycle.
        var unproved = layouts.indices.filter { !edges[$0].isEmpty }
        while let first = unproved.first {
            let left = unproved.filter { edges[$0].contains(where: unproved.contains) }
            if left.count == unproved.count { throw DatabaseError(layouts[first].place, .circularInclude) }
            unproved = left
        }
    }

    private var services: [Attribute] { attributes.filter(\.isService) }

    private mutating func updateHash() {
        guard let index = attributes.firstIndex(where: { $0.role == .databaseHash }) else { return }
        attributes[index].value = hash
    }
}

// MARK: - Services of an earlier process

extension AttributeDatabase {
    /// Lays out `services`, each at the handle in its record if it has one that fits. Other services, and
    /// services whose structure has changed, are placed after `highest`, so that no client mistakes them for
    /// removed services.
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

    /// Adds services, each at the handle in its record.
    mutating func add(
        _ services: [GATTService], like records: [ServiceRecord], above highest: AttributeHandle
    ) throws(DatabaseError) -> AttributeRange? {
        self.highest = max(self.highest, highest)
        let free = records.filter { index(of: $0.handle) == nil }
        let all = services.enumerated().map { (DatabaseError.Place(service: $0, $1.uuid), $1) }
        return try insert(Self.placed(all, like: free))
    }

    /// Returns the services with the handles of their records, after the services without a record, whose
    /// room is searched first.
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

    /// The records with which to remember the services.
    package var records: [ServiceRecord] {
        let starts = attributes.indices.filter { attributes[$0].isService }
        return zip(starts, starts.dropFirst() + [attributes.endIndex]).map { start, end in
            ServiceRecord(attributes[start..<end])
        }
    }
}

/// A service that another one includes.
struct Included {
    let range: AttributeRange
    let uuid: BluetoothUUID

    func isMeant(by target: GATTInclude) -> Bool {
        switch target {
        case .handle(let handle): range.start == handle
        case .uuid(let uuid): self.uuid == uuid
        }
    }
}

extension Attribute {
    /// The UUID of the service that a service declaration declares.
    fileprivate var declaredService: BluetoothUUID { (try? ServiceDeclaration(value))?.uuid ?? 0x0000 }
}

extension AttributeDatabase {
    /// A database without attributes: every request is answered with an error.
    package static let empty = AttributeDatabase(attributes: [])
}

extension AttributeDatabase {
    /// A hash of the structure, from which a client recognizes that its remembered database is still valid
    /// (Core Specification 5.4, Vol 3, Part G, 7.3.1): AES-CMAC with a key of zeros over handle, type and
    /// value of declarations and Extended Properties, and handle and type of the other GATT descriptors. 16
    /// octets, least significant first.
    package var hash: [UInt8] {
        var mac = AESCMAC(key: 0)
        for attribute in attributes {
            guard let type = attribute.type.uint16, let part = HashedPart(type) else { continue }
            for word in [attribute.handle.rawValue, type] { mac.update([UInt8](littleEndian: word)) }
            if part == .withValue { mac.update(attribute.value) }
        }
        return [UInt8](littleEndian: mac.finalize())
    }
}

/// The part of an attribute that the hash covers.
private enum HashedPart {
    case withValue
    case withoutValue

    /// Creates the part for an attribute type; nil for attributes that the hash omits.
    init?(_ type: UInt16) {
        switch type {
        case 0x2800...0x2803, 0x2900: self = .withValue
        case 0x2901...0x2905: self = .withoutValue
        default: return nil
        }
    }
}
