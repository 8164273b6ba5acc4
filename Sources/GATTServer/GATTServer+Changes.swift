import ATT
import BLECore

/// Services that come and go while links are up (Core Specification 5.4, Vol 3, Part G, 2.5.2 and 7.1).
///
/// ```swift
/// try server.add([battery])
/// for central in server.centrals {
///     if let change = server.serviceChange(for: central) {
///         try bearer(central).indicate(change.handle, value: change.value, at: now)
///     }
/// }
/// // and when it is confirmed
/// server.confirmServiceChange(for: central)
/// ```
extension GATTServer {
    /// Publishes another database in place of the one before. Subscriptions to values of that end; links that are up are
    /// all affected: see `serviceChange`.
    public mutating func publish(
        _ database: AttributeDatabase, _ configuration: Configuration = Configuration()
    ) {
        for central in centrals { links[central]?.forget(.all, &shared) }
        shared.database = database
        shared.configuration = configuration
        changed(.all)
    }

    /// Publishes more services; gives the handles that changed. All links are affected: see `serviceChange`.
    @discardableResult
    public mutating func add(_ services: [GATTService]) throws(DatabaseError) -> AttributeRange? {
        guard let range = try shared.database.add(services) else { return nil }
        changed(range)
        return range
    }

    /// Takes back the service that begins at `handle`; gives the handles that it had. Who had subscribed to
    /// its values has not any more.
    @discardableResult
    public mutating func remove(_ handle: AttributeHandle) throws(DatabaseError) -> AttributeRange {
        let range = try shared.database.removable(handle)
        // Before they are gone: who is unsubscribed is told by what.
        for central in centrals { links[central]?.forget(range, &shared) }
        shared.database.remove(range)
        changed(range)
        return range
    }

    mutating func changed(_ range: AttributeRange) {
        for central in links.keys { links[central]?.databaseChanged(range) }
    }

    /// What a central is to be told by an indication of Service Changed: the range of handles that changed.
    /// Nil when it did not ask for it, when nothing changed, or while it has not confirmed the last one.
    public mutating func serviceChange(
        for central: CentralID
    ) -> (handle: AttributeHandle, value: [UInt8])? {
        let service = shared.database.attributes.first { $0.role == .serviceChanged }
        guard let handle = service?.handle, let range = links[central]?.nextReport(handle) else { return nil }
        let words = [range.start.rawValue, range.end.rawValue]
        return (
            handle, words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        )
    }

    /// The central confirmed the indication of Service Changed that is on its way.
    public mutating func confirmServiceChange(for central: CentralID) {
        links[central]?.confirmReport()
    }
}
