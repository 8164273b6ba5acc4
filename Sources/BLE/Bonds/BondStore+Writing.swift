import BLECore
import Logging

extension BondStore {
    /// Waits until all changes that were made before are on the disk; throws when they cannot be written. They
    /// stay in memory then, and are tried again with the next change or flush.
    public func flush() async throws(BLEError) {
        guard let folder else { return }
        try await offLoop { [self] () throws(BLEError) in try await write(to: folder) }
    }

    /// Notes what is to be written.
    func note(_ operation: BondOperation, of id: BondID, in state: inout State) {
        guard folder != nil else { return }
        state.pending.add(operation, to: id)
        schedule(&state)
    }

    /// Sees to it that what is pending is written soon. What comes until then goes with it.
    func schedule(_ state: inout State) {
        guard let folder, !state.isScheduled else { return }
        state.isScheduled = true
        Task.detached { [self] in
            do throws(BLEError) {
                try await write(to: folder)
            } catch {
                log.error("bonds cannot be written: \(error)")
            }
        }
    }

    /// Writes what is pending. Calls come one after the other, as the folder is an actor, so what was taken by an
    /// earlier one is on the disk when this one begins.
    private func write(to folder: isolated BondFolder) throws(BLEError) {
        let batch = state.withLock { state in
            state.isScheduled = false
            defer { state.pending = BondBatch() }
            var batch = state.pending
            for id in batch.reservations { batch.fallbacks[id] = state.table[id] }
            return batch
        }
        guard !batch.isEmpty else { return }
        do throws(BLEError) {
            take(try folder.write(batch))
        } catch {
            state.withLock { $0.pending.restore(batch) }
            throw error
        }
    }

    /// Takes over what the disk has: other processes may have changed it.
    func take(_ outcome: BondOutcome) {
        changing { state, change in
            for (id, record) in outcome.records {
                // Counters are those of a key: not of the one that a pairing has made meanwhile.
                if let counters = outcome.reserved[id], let record, state.table[id]?.bond == record.bond {
                    state.counters[id] = counters
                }
                // What has changed here meanwhile goes to the disk next.
                guard state.pending.operations[id] == nil else { continue }
                if let record {
                    if state.table[id]?.bond != record.bond {
                        change.added.append(id)
                        state.counters[id] = nil
                    }
                    state.table.put(record)
                } else if state.table.remove(id) {
                    state.counters[id] = nil
                    change.removed.append(id)
                }
            }
        }
    }
}
