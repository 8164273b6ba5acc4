import BLECore
import HCI
import HCISocket

/// The state of advertisements, and the callers that wait for them.
struct AdvertisingState {
    /// Identifies a wait for the outcome of an advertisement; several tasks can wait for the same one.
    struct Wait: Hashable, Sendable {
        let id: AdvertisingID
        let number: UInt64
    }

    private var nextWait: UInt64 = 0
    /// The claims that keep other processes from using this process's sets, on kernel adapters.
    private var claims: [AdvertisingHandle: any Sendable] = [:]
    /// The records of the advertisements that have not ended.
    private var records: [AdvertisingID: AdvertisingRecord] = [:]
    /// Resumed when the first packets are on air, or with the error.
    let started = PendingOperations<AdvertisingID, Void>()
    /// Resumed when a change is on air, or with the error.
    let updated = PendingOperations<AdvertisingUpdateID, Void>()
    /// The callers that wait for the end of an advertisement.
    let ended = PendingOperations<Wait, AdvertisingEnd>()
    /// Resumed when an advertisement that was stopped is off the air.
    let departed = PendingOperations<Wait, Void>()

    /// Whether an advertisement has begun and not ended.
    var isActive: Bool { !records.isEmpty }

    mutating func wait(for id: AdvertisingID) -> Wait {
        nextWait += 1
        return Wait(id: id, number: nextWait)
    }

    /// Creates the record of an advertisement, which is kept until the advertisement ends.
    mutating func begin(_ id: AdvertisingID) -> AdvertisingRecord {
        let record = AdvertisingRecord(id)
        records[id] = record
        return record
    }

    /// Records the transmit power of an advertisement, in dBm.
    func notePower(_ power: Int8?, of id: AdvertisingID) { records[id]?.power = power }

    /// Reports how an advertisement ended to all callers that wait.
    mutating func finish(_ id: AdvertisingID, _ result: Result<AdvertisingEnd, BLEError>) {
        records.removeValue(forKey: id)?.end = result
        // A caller that still waits for the start cannot have stopped the advertisement: closing the adapter
        // did.
        started.resume(
            id, with: result == .success(.stopped) ? .failure(.adapter(.closed)) : result.map { _ in })
        ended.resume(where: { $0.id == id }, with: result)
    }
}

// MARK: - Ownership of sets

extension AdvertisingState {
    /// Returns whether this process has a claim on a set.
    func hasClaim(on set: AdvertisingHandle) -> Bool { claims[set] != nil }

    /// Stores the claim on a set, which keeps other processes from using the set until it is given back.
    mutating func take(_ claim: any Sendable, on set: AdvertisingHandle) { claims[set] = claim }

    /// Gives up the claims on sets that are no longer used.
    mutating func giveBackSets(but used: some Collection<AdvertisingHandle>) {
        let unused = claims.keys.filter { !used.contains($0) }.sorted { $0.rawValue < $1.rawValue }
        for set in unused { claims[set] = nil }
    }
}
