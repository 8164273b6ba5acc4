import BLECore
import HCI
import HCISocket

/// What is told of advertisements, and to whom.
struct AdvertisingState {
    /// Names a wait for what becomes of an advertisement; several tasks may wait for the same.
    struct Wait: Hashable, Sendable {
        let id: AdvertisingID
        let number: UInt64
    }

    private var nextWait: UInt64 = 0
    /// What keeps other processes off the sets that are used, on kernel adapters.
    var claims: [AdvertisingHandle: any Sendable] = [:]
    /// What is told of those that are wanted.
    var records: [AdvertisingID: AdvertisingRecord] = [:]
    /// Told when the first packets are on air, or why not.
    let started = Waiters<AdvertisingID, Void>()
    /// Told when a change is on air, or why not.
    let updated = Waiters<AdvertisingUpdateID, Void>()
    /// Told when an advertisement ends.
    let ended = Waiters<Wait, AdvertisingEnd>()
    /// Told when one that was stopped is off the air.
    let departed = Waiters<Wait, Void>()

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
        ended.resume(where: { $0.id == id }, with: result)
    }
}
