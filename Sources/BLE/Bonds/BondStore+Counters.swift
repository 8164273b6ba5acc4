import BLECore

extension BondStore {
    /// Counters that are reserved at a time: as many are lost when the process ends.
    static let counterBlock: UInt32 = 64

    /// The counter of the next Signed Write Command to a peer (Core Specification 5.4, Vol 3, Part H, 2.4.5), for
    /// this call alone: whatever happens to the process, no other gets it while the key is the same.
    ///
    /// Now and then this waits for the disk.
    package func takeSignCounter(of id: BondID) async throws(BLEError) -> UInt32 {
        while true {
            let taken = try state.withLock { state throws(BLEError) -> UInt32? in
                guard let record = state.table[id] else { throw .notFound(.bond(id)) }
                guard let ready = state.counters[id]?.first else {
                    guard record.signCounter < .max else { throw .countersUsedUp(id) }
                    if folder == nil { reserve(for: record, in: &state) }
                    return nil
                }
                state.counters[id]?.removeFirst()
                return ready
            }
            if let taken { return taken }
            guard folder != nil else { continue }
            state.withLock { state in
                state.pending.reservations.insert(id)
                schedule(&state)
            }
            try await flush()
        }
    }

    /// Counters of a store without a folder.
    private func reserve(for record: BondRecord, in state: inout State) {
        var record = record
        let counters = record.reserveCounters()
        state.counters[record.id] = counters
        state.table.put(record)
    }
}

extension BondRecord {
    /// What this process knows of a bond whose file is damaged: another one may have had many of the next counters.
    var afterDamage: BondRecord {
        var record = self
        record.signCounter += min(1 << 16, .max - signCounter)
        return record
    }

    /// Takes counters that have never been used.
    mutating func reserveCounters() -> Range<UInt32> {
        let first = signCounter
        // Wraps never: the last counter is never used.
        signCounter += min(BondStore.counterBlock, .max - first)
        return first..<signCounter
    }
}
