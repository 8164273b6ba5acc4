import GATT

/// Identifies a delivery on one link.
struct DeliveryKey: Hashable, Comparable, Sendable {
    let link: LinkID
    let id: DeliveryID

    static func < (left: Self, right: Self) -> Bool {
        (left.link.number, left.id.rawValue) < (right.link.number, right.id.rawValue)
    }
}

/// The updates of values whose deliveries have not all ended, and the outcomes of those that have.
struct OpenUpdates {
    /// The outcome of an update so far.
    struct Outcome {
        /// The centrals that have received the update.
        var reached: [Central] = []
        /// The centrals to which a value could not be sent.
        var refused: [(central: Central, error: BLEError)] = []
    }

    private var open: [UInt64: (deliveries: Set<DeliveryKey>, outcome: Outcome)] = [:]
    private var updates: [DeliveryKey: UInt64] = [:]
    private var last: UInt64 = 0

    /// Begins an update and returns its number.
    mutating func begin() -> UInt64 {
        last += 1
        open[last] = ([], Outcome())
        return last
    }

    /// Adds a delivery to an update.
    mutating func add(_ delivery: DeliveryKey, to update: UInt64) {
        open[update]?.deliveries.insert(delivery)
        updates[delivery] = update
    }

    /// Handles the end of a delivery. Returns its update if that was the last delivery.
    mutating func end(_ delivery: DeliveryKey, _ note: (inout Outcome) -> Void) -> UInt64? {
        guard let update = updates.removeValue(forKey: delivery), open[update] != nil else { return nil }
        open[update]?.deliveries.remove(delivery)
        if var outcome = open[update]?.outcome {
            note(&outcome)
            open[update]?.outcome = outcome
        }
        return isOpen(update) ? nil : update
    }

    /// Returns whether deliveries of an update have not ended.
    func isOpen(_ update: UInt64) -> Bool { open[update]?.deliveries.isEmpty == false }

    func deliveries(on link: LinkID) -> [DeliveryKey] { updates.keys.filter { $0.link == link }.sorted() }

    /// Removes an update. Returns its outcome, and the deliveries that have not ended.
    mutating func remove(_ update: UInt64) -> (outcome: Outcome, open: [DeliveryKey]) {
        let removed = open.removeValue(forKey: update) ?? ([], Outcome())
        for delivery in removed.deliveries { updates[delivery] = nil }
        return (removed.outcome, removed.deliveries.sorted())
    }
}
