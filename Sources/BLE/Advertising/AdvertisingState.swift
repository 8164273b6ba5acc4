import BLECore
import HCI
import HCISocket

/// What is known of advertisements, and the callers that wait for them.
struct AdvertisingState {
    /// Names a wait for what becomes of an advertisement; several tasks may wait for the same.
    struct Wait: Hashable, Sendable {
        let id: AdvertisingID
        let number: UInt64
    }

    private var nextWait: UInt64 = 0
    /// What keeps other processes off the sets that are used, on kernel adapters.
    private var claims: [AdvertisingHandle: any Sendable] = [:]
    /// What is known of those that are wanted.
    private var records: [AdvertisingID: AdvertisingRecord] = [:]
    /// Resumed when the first packets are on air, or with the error.
    let started = PendingOperations<AdvertisingID, Void>()
    /// Resumed when a change is on air, or with the error.
    let updated = PendingOperations<AdvertisingUpdateID, Void>()
    /// The callers that wait for the end of an advertisement.
    let ended = PendingOperations<Wait, AdvertisingEnd>()
    /// Resumed when one that was stopped is off the air.
    let departed = PendingOperations<Wait, Void>()

    mutating func wait(for id: AdvertisingID) -> Wait {
        nextWait += 1
        return Wait(id: id, number: nextWait)
    }

    /// Keeps a record of an advertisement, until that ends.
    mutating func begin(_ id: AdvertisingID) -> AdvertisingRecord {
        let record = AdvertisingRecord(id)
        records[id] = record
        return record
    }

    /// The controller sends it that strong.
    func notePower(_ power: Int8?, of id: AdvertisingID) { records[id]?.power = power }

    /// Reports how an advertisement ended to all callers that wait.
    mutating func finish(_ id: AdvertisingID, _ result: Result<AdvertisingEnd, BLEError>) {
        records.removeValue(forKey: id)?.end = result
        // Who waits for its start cannot have stopped it.
        started.resume(
            id, with: result == .success(.stopped) ? .failure(.adapter(.closed)) : result.map { _ in })
        ended.resume(where: { $0.id == id }, with: result)
    }
}

// MARK: - Whose a set is

extension AdvertisingState {
    /// Whether other processes are kept off a set.
    func hasClaim(on set: AdvertisingHandle) -> Bool { claims[set] != nil }

    /// Keeps other processes off a set, until it is given back.
    mutating func take(_ claim: any Sendable, on set: AdvertisingHandle) { claims[set] = claim }

    /// Gives back the sets that are not used any more.
    mutating func giveBackSets(but used: some Collection<AdvertisingHandle>) {
        for set in claims.keys where !used.contains(set) { claims[set] = nil }
    }
}
