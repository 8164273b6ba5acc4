import GATT

/// Names a delivery on one link.
struct DeliveryKey: Hashable, Sendable {
    let link: LinkID
    let id: DeliveryID
}

/// Updates of values whose deliveries have not all come to their end, and what has become of the others.
struct OpenUpdates {
    /// What an update has come to.
    struct Outcome {
        /// The centrals that have received the update.
        var reached: [Central] = []
        /// Who could not be sent a value.
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

    /// A delivery is part of an update.
    mutating func add(_ delivery: DeliveryKey, to update: UInt64) {
        open[update]?.deliveries.insert(delivery)
        updates[delivery] = update
    }

    /// A delivery has come to its end. Gives its update when that was the last.
    mutating func end(_ delivery: DeliveryKey, _ note: (inout Outcome) -> Void) -> UInt64? {
        guard let update = updates.removeValue(forKey: delivery), open[update] != nil else { return nil }
        open[update]?.deliveries.remove(delivery)
        if var outcome = open[update]?.outcome {
            note(&outcome)
            open[update]?.outcome = outcome
        }
        return isOpen(update) ? nil : update
    }

    /// Whether something of an update has not come to its end.
    func isOpen(_ update: UInt64) -> Bool { open[update]?.deliveries.isEmpty == false }

    func deliveries(on link: LinkID) -> [DeliveryKey] { updates.keys.filter { $0.link == link } }

    /// Forgets an update; gives what it has come to, and the deliveries that have not ended.
    mutating func remove(_ update: UInt64) -> (outcome: Outcome, open: Set<DeliveryKey>) {
        let removed = open.removeValue(forKey: update) ?? ([], Outcome())
        for delivery in removed.deliveries { updates[delivery] = nil }
        return (removed.outcome, removed.deliveries)
    }
}
