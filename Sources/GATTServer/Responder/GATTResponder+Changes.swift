import ATT
import BLECore

/// What a change of the database means to a link.
extension GATTResponder {
    /// Handles that changed, on their way to the client.
    struct Reports: Hashable, Sendable {
        /// Not indicated yet.
        var waiting: AttributeRange?
        /// Indicated and not confirmed.
        var indicated: AttributeRange?

        /// All of which the client is not known to know.
        var all: AttributeRange? {
            guard let waiting, let indicated else { return waiting ?? indicated }
            return waiting.union(indicated)
        }
    }

    mutating func databaseChanged(_ range: AttributeRange) {
        reports.waiting = reports.waiting?.union(range) ?? range
        awareness.databaseChanged()
        longRead = nil
    }

    /// Handles are gone: what the client subscribed to there, and what it prepared, which a new attribute
    /// with such a handle must not get.
    mutating func forget(_ range: AttributeRange, _ shared: inout GATTServer.Shared) {
        for handle in configurations.keys.sorted() where range.contains(handle) {
            configure(handle, [], &shared)
        }
        prepared.breakParts(in: range)
    }

    /// The range to indicate now, if any.
    mutating func nextReport(_ handle: AttributeHandle) -> AttributeRange? {
        guard reports.indicated == nil, let range = reports.waiting,
            configurations[handle]?.contains(.indicate) == true
        else { return nil }
        reports = Reports(waiting: nil, indicated: range)
        return range
    }

    mutating func confirmReport() {
        reports.indicated = nil
        if reports.waiting == nil { awareness.confirmed() }
    }

    /// What to remember of a bonded client.
    func record(_ shared: GATTServer.Shared) -> GATTClientRecord {
        var record = GATTClientRecord()
        record.configurations = configurations
        record.features = features
        record.databaseHash = shared.database.hash
        record.isChangeAware = awareness.isAware
        record.unreportedChange = reports.all
        record.signCounter = nextSignCounter
        return record
    }

    /// Takes up what was remembered. When the database is another by now, subscriptions may be to anything:
    /// only the one to Service Changed is kept, by which the client hears of it.
    mutating func restore(_ record: GATTClientRecord, _ shared: inout GATTServer.Shared) {
        features = record.features
        nextSignCounter = record.signCounter
        let isSame = record.databaseHash == shared.database.hash
        if !isSame {
            databaseChanged(.all)
        } else if !record.isChangeAware {
            databaseChanged(record.unreportedChange ?? .all)
        }
        for (handle, configuration) in record.configurations.sorted(by: { $0.key < $1.key }) {
            guard let attribute = shared.database[handle], case .value(let properties) = attribute.kind,
                configuration.isSubset(of: ClientCharacteristicConfiguration(allowedBy: properties)),
                isSame || attribute.role == .serviceChanged
            else { continue }
            configure(handle, configuration, &shared)
        }
    }
}
