import GATTClient

extension BondStore {
    /// The database of a bonded peer as it was last found; nil when none is kept.
    package func database(of id: BondID) async throws(BLEError) -> CachedDatabase? {
        let waiting = state.withLock { $0.pending.databases[id] ?? $0.databases[id].map { .some($0) } }
        if let waiting { return waiting }
        guard let folder, record(id) != nil else { return nil }
        return try await offLoop { () throws(BLEError) in try await folder.database(of: id) }
    }

    /// Keeps the database of a bonded peer; nil forgets it. Nothing is kept of peers without a bond.
    package func keep(_ database: CachedDatabase?, of id: BondID) {
        state.withLock { state in
            guard state.table[id] != nil else { return }
            guard folder != nil else {
                state.databases[id] = database
                return
            }
            state.pending.databases[id] = .some(database)
            schedule(&state)
        }
    }

    func forgetDatabase(of id: BondID, in state: inout State) {
        state.databases[id] = nil
        if folder != nil { state.pending.databases[id] = .some(nil) }
    }
}
