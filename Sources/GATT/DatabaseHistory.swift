import ATT
import BLECore
import GATTClient

/// The states of a server's database that were known on a link, each with the handles that have changed since. The other
/// handles of an earlier state can still be used (Core Specification 5.4, Vol 3, Part G, 7.1).
struct DatabaseHistory: Sendable {
    private struct State: Sendable {
        let generation: UInt64
        var changed: [AttributeRange] = []

        mutating func note(_ range: AttributeRange) {
            changed.append(range)
            guard changed.count > DatabaseHistory.rangeLimit else { return }
            changed = [changed.reduce(range) { $0.union($1) }]
        }
    }

    private static let stateLimit = 16
    private static let rangeLimit = 64

    /// The states, oldest first.
    private var states: [State] = []

    /// Adds a state that was found just now, or that was found to be the present one again.
    mutating func add(_ generation: DatabaseGeneration) {
        states.removeAll { $0.generation == generation.number }
        states.append(State(generation: generation.number))
        if states.count > Self.stateLimit { states.removeFirst() }
    }

    /// Records that the attributes within `range` have changed.
    mutating func note(_ range: AttributeRange) {
        for index in states.indices { states[index].note(range) }
    }

    /// Records that `found` is the present database, and that attributes of `old` that it does not contain are gone,
    /// whatever the server has reported.
    mutating func replace(_ old: RemoteDatabase, with found: RemoteDatabase) {
        let present = found.types
        for (handle, type) in old.types.sorted(by: { $0.key < $1.key }) where present[handle] != type {
            note(AttributeRange(handle, handle))
        }
    }

    /// Returns whether handles belong to a state that is known here, and none of them has changed since.
    func isCurrent(_ range: AttributeRange, of generation: DatabaseGeneration) -> Bool {
        states.contains { state in
            state.generation == generation.number && !state.changed.contains { $0.overlaps(range) }
        }
    }
}

extension RemoteDatabase {
    /// The types of the services, values and descriptors by their handles.
    fileprivate var types: [AttributeHandle: BluetoothUUID] {
        var types: [AttributeHandle: BluetoothUUID] = [:]
        for service in services {
            types[service.handle] = service.uuid
            for characteristic in service.characteristics {
                types[characteristic.valueHandle] = characteristic.uuid
                for descriptor in characteristic.descriptors { types[descriptor.handle] = descriptor.uuid }
            }
        }
        return types
    }
}
