import BLECore
import GATTClient
import HCISocket
import Logging
import SMP

/// The bonds of this machine, in memory and, for a store that was opened in a folder, on the disk.
///
/// ```swift
/// let bonds = try await BondStore.open("/var/lib/thermometer")
/// try bonds.insert(bond, name: "Phone")
/// try await bonds.flush()
/// ```
///
/// Adapters and processes share it. Look-ups and changes are done at once, on any thread, so that a controller's
/// question for a key is answered on the spot; the disk follows by itself, never on an event loop. `flush` waits
/// for it, as before a program reports to its user that devices have paired.
public final class BondStore: Sendable {
    /// Bonds that a store takes, so that peers with ever new identities cannot fill the disk.
    package static let limit = 16_384

    struct State: ~Copyable {
        var table = BondTable()
        var identities: [DeviceAddress: LocalIdentity] = [:]
        /// Addresses of adapters that have none of their own.
        var addresses: [String: DeviceAddress] = [:]
        /// What the disk does not have yet.
        var pending = BondBatch()
        /// Whether a task is about to write what is pending.
        var isScheduled = false
        /// Databases of a store without a folder.
        var databases: [BondID: CachedDatabase] = [:]
        /// Counters of signed writes that may be used: they are reserved.
        var counters: [BondID: Range<UInt32>] = [:]
        var watchers: [UInt64: StreamBuffer<BondChange>] = [:]
        var nextWatcher: UInt64 = 0
    }

    /// Files that could not be read when the store was opened, and why; the other bonds are there.
    public let problems: [StateError]

    let state = Lock(State())
    let folder: BondFolder?
    let clock: @Sendable () -> Timestamp
    let log = Logger(label: "ble.bonds")

    /// Bonds that are kept only as long as the process runs. The clock says when a bond is made and used.
    public init(clock: @escaping @Sendable () -> Timestamp = { .now }) {
        folder = nil
        problems = []
        self.clock = clock
    }

    init(_ folder: BondFolder, problems: [StateError], clock: @escaping @Sendable () -> Timestamp) {
        self.folder = folder
        self.problems = problems
        self.clock = clock
    }

    deinit {
        for watcher in state.withLock({ $0.watchers.values.map { $0 } }) { watcher.finish() }
    }
}

// MARK: - Looking up

extension BondStore {
    /// All bonds, or those of one identity of this host, in the order of their addresses.
    public func records(at local: DeviceAddress? = nil) -> [BondRecord] {
        let all = state.withLock { Array($0.table.records.values) }
        return all.filter { local == nil || $0.id.local == local }.sorted { $0.id < $1.id }
    }

    /// The bond with a peer, by the peer's identity.
    public func record(_ id: BondID) -> BondRecord? { state.withLock { $0.table[id] } }

    /// The bond with the peer that uses an address: its identity, or a resolvable private address. Trying all keys
    /// takes a while with thousands of bonds, so what was found of an address is remembered.
    public func record(behind address: DeviceAddress, at local: DeviceAddress) -> BondRecord? {
        state.withLock { $0.table.record(behind: address, at: local) }
    }

    /// Whether there are peers of an identity of this host that may use private addresses.
    func knowsHiddenPeers(of local: DeviceAddress) -> Bool {
        state.withLock { $0.table.knowsHiddenPeers(of: local) }
    }

    /// The bond whose `peripheralKey` has this name, by which a central asks for it after LE legacy pairing (Core
    /// Specification 5.4, Vol 3, Part H, 2.4.4.2). Keys of LE Secure Connections have no name: 0 and 0 find
    /// nothing, and the peer's address has to do.
    package func record(ediv: UInt16, random: UInt64, at local: DeviceAddress) -> BondRecord? {
        state.withLock { $0.table.record(ediv: ediv, random: random, at: local) }
    }
}

// MARK: - Changing

extension BondStore {
    /// Adds the bond of a pairing that has just ended, in place of an earlier one with the same peer. Of that one,
    /// only the name stays, and counters of signing keys that are the same: subscriptions do not survive it. Where
    /// the keys of encryption are the same it is the same pairing, of which more is known now, and all stays.
    @discardableResult
    package func insert(_ bond: Bond, name: String? = nil) throws(BLEError) -> BondRecord {
        var record = BondRecord(bond, name: name, created: clock())
        let total = changing { state, change in
            let old = state.table[record.id]
            let total = state.table.records.count + (old == nil ? 1 : 0)
            guard total <= Self.limit else { return total }
            if let old, old.isOfSamePairing(as: bond) {
                record = old.with(bond, name: name)
            } else {
                // A peer that has lost its bond has not indicated what changed in its database since.
                forgetDatabase(of: record.id, in: &state)
            }
            if let old { record.inherit(from: old) }
            if old?.bond.localSigningKey != bond.localSigningKey { state.counters[record.id] = nil }
            state.table.put(record)
            note(.insert(record), of: record.id, in: &state)
            change.added.append(record.id)
            return total
        }
        guard total <= Self.limit else { throw .limit(.bonds, maximum: Self.limit, value: total) }
        return record
    }

    /// Changes what is kept of a peer beside its keys; false when there is no bond with it.
    @discardableResult
    public func update(_ id: BondID, _ change: (inout BondRecord) -> Void) -> Bool {
        state.withLock { state in
            guard let old = state.table[id] else { return false }
            var record = old
            change(&record)
            if record != old {
                state.table.put(record)
                note(.update(record), of: id, in: &state)
            }
            return true
        }
    }

    /// There is a link with a peer now: its record says so, to the minute, for a peer that comes every second should
    /// not wear out a disk.
    package func noteUse(_ id: BondID) {
        let now = clock()
        update(id) { if now.milliseconds - $0.lastUsed.milliseconds >= 60_000 { $0.lastUsed = now } }
    }

    /// Removes a bond and all that is kept of the peer; false when there is none.
    @discardableResult
    public func remove(_ id: BondID) -> Bool {
        changing { state, change in
            guard state.table.remove(id) else { return false }
            state.counters[id] = nil
            state.databases[id] = nil
            note(.remove, of: id, in: &state)
            change.removed.append(id)
            return true
        }
    }
}

// MARK: - Hearing of changes

extension BondStore {
    /// Bonds that come and go from now on, also by the hand of other processes. A consumer that lets 1,024 changes
    /// wait ends with `BLEError.overflow`, and may look at `records` and begin anew. The stream ends with the store.
    public func changes() -> BoundedStream<BondChange> {
        let buffer = StreamBuffer<BondChange>(.overflow(limit: 1024))
        let number = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = buffer
            return state.nextWatcher
        }
        buffer.onEnd { [weak self] in self?.state.withLock { $0.watchers[number] = nil } }
        return BoundedStream(buffer)
    }

    /// Changes the state and reports to the watchers which bonds come and go by that. They are notified outside of the
    /// lock: a watcher that is full ends, and takes it.
    func changing<Result: Sendable>(_ body: (inout State, inout BondChange) -> Result) -> Result {
        var change = BondChange()
        let (result, watchers) = state.withLock { state in
            let result = body(&state, &change)
            return (result, change.isNothing ? [] : Array(state.watchers.values))
        }
        for watcher in watchers { watcher.yield(change) }
        return result
    }
}
