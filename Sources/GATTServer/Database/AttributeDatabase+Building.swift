import ATT
import BLECore

extension AttributeDatabase {
    /// Lays out `services`, after the generic ones unless those are nil, and checks all of it. Services with
    /// a handle stay where they say; the others take, in order, the first room after the service before
    /// them.
    public init(
        _ services: [GATTService], generic: GenericServices? = GenericServices()
    ) throws(DatabaseError) {
        let listed = services.enumerated().map { (DatabaseError.Place(service: $0, $1.uuid), $1) }
        let all = (generic?.services ?? []).map { (DatabaseError.Place(service: nil, $0.uuid), $0) } + listed
        var layouts: [ServiceLayout] = []
        for (place, service) in all {
            guard let handle = service.handle else { continue }
            let layout = try ServiceLayout(service, place, at: Int(handle.rawValue))
            if layouts.contains(where: layout.overlaps) { throw DatabaseError(place, .handleNotFree(handle)) }
            layouts.append(layout)
        }
        var next = 1
        for (place, service) in all {
            if let handle = service.handle {
                next = Int(layouts.first { $0.start == handle }?.end.rawValue ?? 0) + 1
                continue
            }
            var layout = try ServiceLayout(service, place, at: next)
            while let obstacle = layouts.first(where: layout.overlaps) {
                layout = try ServiceLayout(service, place, at: Int(obstacle.end.rawValue) + 1)
            }
            next = Int(layout.end.rawValue) + 1
            layouts.append(layout)
        }
        layouts.sort { $0.start < $1.start }
        try Self.resolveIncludes(&layouts)
        attributes = layouts.flatMap(\.attributes)
    }

    private static func resolveIncludes(_ layouts: inout [ServiceLayout]) throws(DatabaseError) {
        var edges = [[Int]](repeating: [], count: layouts.count)
        for including in layouts.indices {
            for include in layouts[including].includes {
                let found = layouts.firstIndex {
                    switch include.target {
                    case .handle(let handle): $0.start == handle
                    case .uuid(let uuid): $0.uuid == uuid
                    }
                }
                guard let found else {
                    throw DatabaseError(layouts[including].place, .includeNotFound(include.target))
                }
                layouts[including].resolve(include, as: layouts[found])
                edges[including].append(found)
            }
        }
        // Services whose includes are all proved free of circles are so too; what is left has a circle.
        var unproved = layouts.indices.filter { !edges[$0].isEmpty }
        while let first = unproved.first {
            let left = unproved.filter { edges[$0].contains(where: unproved.contains) }
            if left.count == unproved.count { throw DatabaseError(layouts[first].place, .circularInclude) }
            unproved = left
        }
    }
}
