import BLECore
import HCI

/// The periodic trains that this process follows, or is about to. A controller looks for one at a time, so the
/// others wait.
struct PeriodicState {
    /// One train and those who listen to it.
    struct Sync {
        let train: Train
        let options: PeriodicSyncOptions
        var consumers: [UInt64: StreamBuffer<PeriodicAdvertisement>]
        var assembler = PeriodicAssembler()
        /// When the search ends, once it has begun.
        var deadline: Instant?

        func finish(_ end: Result<Void, BLEError>) {
            for buffer in consumers.values { buffer.finish(end) }
        }
    }

    /// Which train.
    struct Train: Hashable {
        let advertiser: DeviceAddress
        let set: UInt8
    }

    /// Trains to look for, the first of them under way.
    var queue: [Sync] = []
    /// Whether the controller was told to look for the first and has not told the outcome yet.
    var isUnderWay = false
    /// Whether it has not yet answered that.
    var isUnanswered = false
    /// Why the controller was told to give it up, while it has not told that it did.
    var ending: BLEError?
    /// Trains that are followed.
    var syncs: [SyncHandle: Sync] = [:]
    /// Trains that the controller follows for nobody, since it could not be told.
    var leftOver: Set<SyncHandle> = []
    var nextID: UInt64 = 0

    /// The controller has forgotten all; the trains that it followed are lost.
    mutating func wasReset() {
        for sync in syncs.values {
            sync.finish(.failure(.syncLost(sync.train.advertiser, set: sync.train.set)))
        }
        syncs.removeAll()
        leftOver.removeAll()
        // The time of this one was over, and only the controller's word was missing.
        if isUnderWay, let ending, !queue.isEmpty { queue.removeFirst().finish(.failure(ending)) }
        queue.removeAll(where: \.consumers.isEmpty)
        isUnderWay = false
        isUnanswered = false
    }

    /// Ends all for their consumers; the trains that the controller follows. One that it looks for is given up,
    /// once it says so.
    mutating func letGo(_ end: Result<Void, BLEError>) -> [SyncHandle] {
        let handles = Array(syncs.keys) + leftOver
        let search = isUnderWay ? queue.first : nil
        finishAll(end)
        if var search {
            search.consumers = [:]
            queue = [search]
        }
        return handles
    }

    /// Ends all.
    mutating func finishAll(_ end: Result<Void, BLEError>) {
        let all = queue + syncs.values
        queue.removeAll()
        syncs.removeAll()
        leftOver.removeAll()
        for sync in all { sync.finish(end) }
    }
}
