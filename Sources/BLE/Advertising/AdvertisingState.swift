import BLECore
import HCI
import HCISocket

/// The advertising of this process, and what the radio does for it.
struct AdvertisingState {
    /// Names a wait for what becomes of an advertisement; several tasks may wait for the same.
    struct Wait: Hashable, Sendable {
        let id: AdvertisingID
        let number: UInt64
    }

    var schedule = AdvertisingSchedule()
    var family = CommandFamily.legacy
    var isChanging = false
    var nextID: UInt64 = 0
    var nextWait: UInt64 = 0
    /// What keeps other processes off the sets that are used, on kernel adapters.
    var claims: [AdvertisingHandle: NameClaim] = [:]
    /// What is told of those that are wanted.
    var records: [AdvertisingID: AdvertisingRecord] = [:]
    /// Told when the first packets are on air, or why not.
    let started = Waiters<AdvertisingID, Void>()
    /// Told when a change is on air, or why not.
    let updated = Waiters<Wait, Void>()
    /// Told when an advertisement ends.
    let ended = Waiters<Wait, AdvertisingEnd>()

    mutating func wait(for id: AdvertisingID) -> Wait {
        nextWait += 1
        return Wait(id: id, number: nextWait)
    }

    /// Tells all who wait how an advertisement ended.
    mutating func finish(_ id: AdvertisingID, _ result: Result<AdvertisingEnd, BLEError>) {
        records.removeValue(forKey: id)?.end = result
        // Who waits for its start cannot have stopped it.
        started.resume(
            id, with: result == .success(.stopped) ? .failure(.adapter(.closed)) : result.map { _ in })
        updated.resume(where: { $0.id == id }, with: result.map { _ in })
        ended.resume(where: { $0.id == id }, with: result)
    }

    /// Ends all, when the radio is not there any more or not asked any more.
    mutating func finishAll(_ result: Result<AdvertisingEnd, BLEError>) {
        for entry in schedule.entries {
            schedule.remove(entry.id)
            finish(entry.id, result)
        }
    }
}
