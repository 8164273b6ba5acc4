import BLECore
import GATTClient
import HCISocket
import Logging
import SMP

/// The bonds of this machine, in memory and, for a store that was opened in a folder, on the disk.
///
/// ```swift
/// let bonds = try await BondStore.open("/var/lib/thermometer")
/// var options = AdapterOptions()
/// options.security.bonds = bonds
/// let adapter = try await Adapter.open(.kernel(.index(0)), options: options)
/// ```
///
/// Adapters and processes can share a store. Look-ups and changes take effect at once, on any thread; an adapter
/// decides by a change from the next turn of its event loop. Changes are written to the disk afterwards, never on an
/// event loop. `flush` waits until they are written, for example before a program reports to its user that devices
/// have paired.
public final class BondStore: Sendable {
    /// The maximum number of bonds in a store. It keeps peers with ever new identities from filling the disk.
    package static let limit = 16_384

    struct State: ~Copyable {
        var table = BondTable()
        var identities: [DeviceAddress: LocalIdentity] = [:]
        /// The random static addresses of adapters without a public one.
        var addresses: [String: DeviceAddress] = [:]
        /// The changes that are not on the disk yet.
        var pending = BondBatch()
        /// Whether a task is scheduled to write the pending changes.
        var isScheduled = false
        /// The databases of peers in a store without a folder.
        var databases: [BondID: CachedDatabase] = [:]
        /// The reserved counters that signed writes can use.
        var counters: [BondID: Range<UInt32>] = [:]
        /// The failed pairings with a fixed passkey, by identity of this host.
        var failures: [DeviceAddress: PasskeyFailures] = [:]
        var watchers = Watchers<BondChange>()
        private var followers: [Follower] = []
        private var lastFollower: UInt64 = 0

        private struct Follower {
            let number: UInt64
            let local: DeviceAddress
            let changed: @Sendable () -> Void
            /// The bonds that have changed since they were taken, and whether one was removed since.
            var bonds: [BondID: Bool]
            /// Whether there are changes of which the follower was not notified.
            var isDue = false
        }
    }

    /// The errors of files that could not be read when the store was opened. All other bonds are in the store.
    public let problems: [StateError]

    private let state = Lock(State())
    let folder: BondFolder?
    let clock: @Sendable () -> Timestamp
    private let log = Logger(label: "ble.bonds")

    /// Creates a store that keeps bonds in memory, for as long as the process runs. `clock` returns the time at
    /// which a bond is made or used.
    public init(clock: @escaping @Sendable () -> Timestamp = { .now }) {
        folder = nil
        problems = []
        self.clock = clock
    }

    init(_ folder: BondFolder?, problems: [StateError], clock: @escaping @Sendable () -> Timestamp) {
        self.folder = folder
        self.problems = problems
        self.clock = clock
    }

    deinit {
        for watcher in state.withLock({ $0.watchers.buffers }) { watcher.finish() }
    }
}

// MARK: - Looking up

extension BondStore {
    /// Returns all bonds, or those of one identity of this host, in the order of their addresses.
    public func records(at local: DeviceAddress? = nil) -> [BondRecord] {
        let all = state.withLock { Array($0.table.records.values) }
        return all.filter { local == nil || $0.id.local == local }.sorted { $0.id < $1.id }
    }

    /// Returns the bond with a peer, by the peer's identity.
    public func record(_ id: BondID) -> BondRecord? { state.withLock { $0.table[id] } }

    /// Returns the bond with the peer that uses `address`: its identity address, or a resolvable private address.
    /// With thousands of bonds it takes time to try all keys, so the result for an address is remembered.
    public func record(behind address: DeviceAddress, at local: DeviceAddress) -> BondRecord? {
        state.withLock { $0.table.record(behind: address, at: local) }
    }
}

// MARK: - Changing

extension BondStore {
    /// Adds the bond of a pairing that has just ended, in place of an earlier one with the same peer. Of the
    /// earlier record only the name is kept, and the counters of signing keys that have not changed;
    /// subscriptions are not kept. If the encryption keys are the same, the bond is of the same pairing, of which
    /// further keys are known now, and the whole record is kept.
    @discardableResult
    package func insert(_ bond: Bond, name: String? = nil) throws(BLEError) -> BondRecord {
        var record = BondRecord(bond, name: name, created: clock())
        let total = changing { state, change in
            let old = state.table[record.id]
            if old == nil, state.table.records.count >= Self.limit,
                let least = state.table.leastUseful(before: unusedLimit)
            {
                log.warning(
                    "there are \(Self.limit) bonds: that with \(least.peer), never used again, is removed")
                drop(least, in: &state, &change)
            }
            let total = state.table.records.count + (old == nil ? 1 : 0)
            guard total <= Self.limit else { return total }
            if let old, old.isOfSamePairing(as: bond) {
                record = old.with(bond, name: name)
            } else {
                // A peer that has lost its bond has not indicated changes of its database since.
                forgetDatabase(of: record.id, in: &state)
            }
            if let old { record.inherit(from: old) }
            if old?.bond.localSigningKey != bond.localSigningKey { state.counters[record.id] = nil }
            state.put(record)
            note(.insert(record), of: record.id, in: &state)
            change.added.append(record.id)
            return total
        }
        guard total <= Self.limit else { throw .limit(.bonds, maximum: Self.limit, value: total) }
        return record
    }

    /// Changes the data that are kept about a peer besides its keys. Returns false when there is no bond with the
    /// peer.
    @discardableResult
    public func update(_ id: BondID, _ change: (inout BondRecord) -> Void) -> Bool {
        changing { state, _ in
            guard let old = state.table[id] else { return false }
            var record = old
            change(&record)
            if record != old {
                state.put(record)
                note(.update(record), of: id, in: &state)
            }
            return true
        }
    }

    /// Records that a peer has a link now. `lastUsed` changes once a minute at most, so that a peer that connects
    /// every second does not wear out the disk. A clock that was set back changes it, too.
    package func noteUse(_ id: BondID) {
        let now = clock()
        update(id) {
            let elapsed = now.milliseconds - $0.lastUsed.milliseconds
            if elapsed >= 60_000 || elapsed <= -60_000 { $0.lastUsed = now }
        }
    }

    /// Removes a bond and all data about the peer. Returns false when there is no such bond.
    @discardableResult
    public func remove(_ id: BondID) -> Bool {
        changing { state, change in
            guard state.table[id] != nil else { return false }
            drop(id, in: &state, &change)
            return true
        }
    }

    private func drop(_ id: BondID, in state: inout State, _ change: inout BondChange) {
        guard state.remove(id) else { return }
        state.counters[id] = nil
        state.databases[id] = nil
        note(.remove, of: id, in: &state)
        change.removed.append(id)
    }

    /// Whether the store can keep the bond of a new peer. If it is full, the newest bond is removed for it that was made
    /// without authentication, at least ten minutes ago, and never used again: any device in range can make such bonds.
    package var hasRoom: Bool {
        state.withLock {
            $0.table.records.count < Self.limit || $0.table.leastUseful(before: unusedLimit) != nil
        }
    }

    /// The time before which a bond that was not used again may be removed. The link that made it may still exist.
    private var unusedLimit: Timestamp { Timestamp(milliseconds: clock().milliseconds - 600_000) }
}

// MARK: - Failures with a fixed passkey

extension BondStore {
    /// Returns the number of failed pairings with the fixed passkey of an identity of this host.
    func failures(with passkey: Passkey, at local: DeviceAddress) -> Int {
        state.withLock { state in
            guard let known = state.failures[local], known.passkey == passkey else { return 0 }
            return known.count
        }
    }

    /// Adds failed pairings with the fixed passkey of an identity of this host. Returns their new number.
    @discardableResult
    func addFailures(_ number: Int, with passkey: Passkey, at local: DeviceAddress) -> Int {
        state.withLock { state in
            let known = state.failures[local].map { $0.passkey == passkey ? $0.count : 0 } ?? 0
            let counted = PasskeyFailures(passkey: passkey, count: known + number)
            state.failures[local] = counted
            guard folder != nil else { return counted.count }
            state.pending.failures[local] = .some(counted)
            schedule(&state)
            return counted.count
        }
    }

    /// The identities of this host with failed pairings with a fixed passkey, and their number. After three, the
    /// passkey is not used any more (``SecurityOptions/fixedPasskey``).
    public var passkeyFailures: [DeviceAddress: Int] {
        state.withLock { $0.failures.mapValues(\.count) }
    }

    /// Forgets the failed pairings with fixed passkeys, so that these are used again. Each further failure can show
    /// two more bits of the passkey to a stranger: set another passkey instead, which begins at 0 as well. Returns
    /// when that is on the disk.
    public func clearPasskeyFailures() async throws(BLEError) {
        state.withLock { state in
            if folder != nil {
                state.pending.failures.merge(state.failures.mapValues { _ in nil }) { _, cleared in cleared }
            }
            state.failures = [:]
        }
        try await flush()
    }
}

// MARK: - Observing changes

extension BondStore {
    /// Returns a stream of the bonds that are added and removed from now on, by this process or by others. The
    /// stream ends with `BLEError.overflow` when more than 1,024 changes wait; its consumer can then read
    /// `records` and begin again. It also ends when the store is released.
    public func changes() -> BoundedStream<BondChange> {
        let buffer = StreamBuffer<BondChange>(.overflow(limit: 1024))
        let number = state.withLock { $0.watchers.add(buffer) }
        buffer.onEnd { [weak self] in self?.state.withLock { $0.watchers.remove(number) } }
        return BoundedStream(buffer)
    }

    /// Changes the state, reports the added and removed bonds to the watchers, and notifies the followers. That happens
    /// outside of the lock, because a watcher whose buffer is full ends and then takes the lock. A follower is notified
    /// of each change, also when it has not taken the one before: what the caller does next comes after its own change.
    func changing<Result: Sendable, Failure: Error>(
        _ body: (inout State, inout BondChange) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var change = BondChange()
        let (result, watchers, due) = try state.withLock { (state) throws(Failure) in
            let result = try body(&state, &change)
            return (result, change.isNothing ? [] : state.watchers.buffers, state.takeDue())
        }
        for watcher in watchers { watcher.yield(change) }
        for notify in due { notify() }
        return result
    }

    /// Adds a follower, for which all bonds of the identity have changed.
    func addFollower(at local: DeviceAddress, _ changed: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { $0.addFollower(at: local, changed) }
    }

    func removeFollower(_ number: UInt64) { state.withLock { $0.removeFollower(number) } }

    /// Returns the changes that a follower has not taken yet.
    func takeChanges(for follower: UInt64) -> [BondFollower.Change] {
        state.withLock { state in
            state.takeBonds(of: follower).map {
                BondFollower.Change(id: $0, record: state.table[$0], wasRemoved: $1)
            }
        }
    }
}

extension BondStore.State {
    /// Adds a record, or replaces that with the same identifier.
    mutating func put(_ record: BondRecord) {
        table.put(record)
        noteChange(of: record.id, isRemoval: false)
    }

    /// Removes a record; returns false when there is none.
    mutating func remove(_ id: BondID) -> Bool {
        guard table.remove(id) else { return false }
        noteChange(of: id, isRemoval: true)
        return true
    }

    private mutating func noteChange(of id: BondID, isRemoval: Bool) {
        for index in followers.indices where followers[index].local == id.local {
            followers[index].isDue = true
            followers[index].bonds[id] = isRemoval || followers[index].bonds[id] == true
        }
    }

    /// Returns the notifications of followers that are due.
    fileprivate mutating func takeDue() -> [@Sendable () -> Void] {
        followers.indices.compactMap { index in
            guard followers[index].isDue else { return nil }
            followers[index].isDue = false
            return followers[index].changed
        }
    }

    fileprivate mutating func addFollower(
        at local: DeviceAddress, _ changed: @escaping @Sendable () -> Void
    ) -> UInt64 {
        lastFollower += 1
        // In any order: they are taken in that of their identifiers.
        let bonds = table.records.keys.filter { $0.local == local }.map { ($0, false) }
        followers.append(
            Follower(
                number: lastFollower, local: local, changed: changed,
                bonds: Dictionary(uniqueKeysWithValues: bonds)))
        return lastFollower
    }

    fileprivate mutating func removeFollower(_ number: UInt64) {
        followers.removeAll { $0.number == number }
    }

    /// Returns the bonds that have changed for a follower since the last call, in order.
    fileprivate mutating func takeBonds(of follower: UInt64) -> [(key: BondID, value: Bool)] {
        guard let index = followers.firstIndex(where: { $0.number == follower }) else { return [] }
        defer { followers[index].bonds = [:] }
        return followers[index].bonds.sorted { $0.key < $1.key }
    }
}

extension BondStore {
    /// Opens the bonds in the state folder `path`, which is created if it is missing; the folder `bonds` in
    /// it belongs to this library. Files that are damaged, or of a later version, are listed in `problems`;
    /// all others are read.
    ///
    /// Throws ``StateError/folder(_:)`` in ``BLEError/bonds(_:)`` when the folder `bonds` is a link, belongs to
    /// another user or can be written to by one, who could read or replace the keys.
    ///
    /// Other processes may use the folder at the same time. Their changes are noticed through `loop`; without a
    /// loop a change is noticed only when this process changes the same bond.
    public static func open(
        _ path: String, on loop: EventLoop? = .shared, clock: @escaping @Sendable () -> Timestamp = { .now }
    ) async throws(BLEError) -> BondStore {
        try await open(path, Disk(), on: loop, clock: clock)
    }

    static func open(
        _ path: String, _ disk: Disk, on loop: EventLoop? = nil,
        clock: @escaping @Sendable () -> Timestamp = { .now }
    ) async throws(BLEError) -> BondStore {
        try await offLoop { () throws(BLEError) in
            do throws(StateError) {
                return try await open(BondFolder(state: path, disk), on: loop, clock: clock)
            } catch {
                throw .bonds(error)
            }
        }
    }

    /// Reads the bonds in the state folder `path` into memory, where changes stay. Changes nothing in the folder:
    /// damaged files stay in place, too. Root can read the folders of all users. Without a folder, the result is
    /// empty.
    package static func copy(of path: String) async throws(BLEError) -> BondStore {
        try await offLoop { () throws(BLEError) in
            do throws(StateError) {
                guard let folder = try BondFolder(reading: path, Disk()) else { return BondStore() }
                let contents = try await folder.load()
                let store = BondStore(nil, problems: contents.problems, clock: { .now })
                for problem in contents.problems { store.log.warning("\(problem)") }
                store.take(contents)
                return store
            } catch {
                throw .bonds(error)
            }
        }
    }

    private static func open(
        _ folder: BondFolder, on loop: EventLoop?, clock: @escaping @Sendable () -> Timestamp
    ) async throws(StateError) -> BondStore {
        // Changes that are made while the folder is read must be noticed, too.
        var watch: FolderWatch?
        var problem: StateError?
        if let loop {
            do throws(StateError) {
                watch = try await folder.watch(on: loop)
            } catch {
                problem = error
            }
        }
        let contents = try await folder.load()
        let store = BondStore(folder, problems: contents.problems, clock: clock)
        for problem in contents.problems { store.log.warning("\(problem)") }
        if let problem { store.log.warning("changes by other processes are not noticed: \(problem)") }
        store.take(contents)
        if let watch, let loop { store.listen(to: watch, on: loop) }
        return store
    }

    private func take(_ contents: BondFolder.Contents) {
        changing { state, _ in
            for record in contents.records { state.put(record) }
            for identity in contents.identities { state.identities[identity.address] = identity }
            state.failures = contents.failures
        }
    }
}

extension BondStore {
    /// Waits until all changes made before the call are on the disk. Throws when they cannot be written; they
    /// then stay in memory, and the next change or flush tries to write them again.
    public func flush() async throws(BLEError) {
        guard let folder else { return }
        try await offLoop { [self] () throws(BLEError) in try await write(to: folder) }
    }

    /// Records an operation that is to be written.
    func note(_ operation: BondOperation, of id: BondID, in state: inout State) {
        guard folder != nil else { return }
        state.pending.add(operation, to: id)
        schedule(&state)
    }

    /// Schedules the writing of the pending changes. Changes that are made before it begins are written
    /// together with them.
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

    /// Writes the pending changes. Calls run one at a time, because the folder is an actor, so the changes
    /// that an earlier call took are on the disk when a later one begins.
    private func write(to folder: isolated BondFolder) throws(BLEError) {
        let batch = state.withLock { state in
            state.isScheduled = false
            defer { state.pending = BondBatch() }
            var batch = state.pending
            // In any order: each has a place of its own.
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

    /// Takes over the state of the disk, which other processes may have changed.
    func take(_ outcome: BondOutcome) {
        changing { state, change in
            // In any order: each has a place of its own.
            for (local, failures) in outcome.failures where state.pending.failures[local] == nil {
                state.failures[local] = failures
            }
            for (id, record) in outcome.records.sorted(by: { $0.key < $1.key }) {
                // Counters belong to a key: they are not valid for the key of a pairing that was made
                // meanwhile.
                if let counters = outcome.reserved[id], let record, state.table[id]?.bond == record.bond {
                    state.counters[id] = counters
                }
                // A bond that has changed here meanwhile is written to the disk next.
                guard state.pending.operations[id] == nil else { continue }
                if let record {
                    if state.table[id]?.bond != record.bond {
                        change.added.append(id)
                        state.counters[id] = nil
                    }
                    if state.table[id] != record { state.put(record) }
                } else if state.remove(id) {
                    state.counters[id] = nil
                    change.removed.append(id)
                }
            }
        }
    }
}

extension BondStore {
    /// The number of counters that are reserved at a time; unused ones are lost when the process ends.
    static let counterBlock: UInt32 = 64

    /// Returns the counter for the next Signed Write Command to a peer (Core Specification 5.4, Vol 3, Part H,
    /// 2.4.5). No other call returns the same counter while the key is the same, even if the process is killed.
    ///
    /// A call that has to reserve further counters waits for the disk.
    package func takeSignCounter(of id: BondID) async throws(BLEError) -> UInt32 {
        while true {
            let taken = try changing { (state, _) throws(BLEError) -> UInt32? in
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

    /// Reserves counters in a store without a folder.
    private func reserve(for record: BondRecord, in state: inout State) {
        var record = record
        let counters = record.reserveCounters()
        state.counters[record.id] = counters
        state.put(record)
    }
}

extension BondStore {
    /// Returns the database of a bonded peer as it was last found; nil when none is kept.
    package func database(of id: BondID) async throws(BLEError) -> CachedDatabase? {
        let waiting = state.withLock { $0.pending.databases[id] ?? $0.databases[id].map { .some($0) } }
        if let waiting { return waiting }
        guard let folder, record(id) != nil else { return nil }
        return try await offLoop { () throws(BLEError) in try await folder.database(of: id) }
    }

    /// Stores the database of a bonded peer; nil deletes it. Does nothing for a peer without a bond.
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

extension BondStore {
    /// Returns the identity that this host distributes with an address; nil if none has been made yet.
    package func knownIdentity(at address: DeviceAddress) -> LocalIdentity? {
        state.withLock { $0.identities[address] }
    }

    /// Returns the identity that this host distributes with `address`. The first call makes it, and it is on the
    /// disk before the call returns, because peers keep its key for as long as their bonds last.
    package func identity(at address: DeviceAddress) async throws(BLEError) -> LocalIdentity {
        var random = SystemRandomNumberGenerator()
        return try await identity(
            orNew: LocalIdentity(address: address, identityKey: .newIdentityKey(using: &random)))
    }

    /// Returns the stored identity with the address of `made`; stores and returns `made` if there is none.
    func identity(orNew made: LocalIdentity) async throws(BLEError) -> LocalIdentity {
        if let known = knownIdentity(at: made.address) { return known }
        var present = made
        if let folder {
            present = try await offLoop { () throws(BLEError) in try await folder.identity(orNew: made) }
        }
        return state.withLock { [present] state in
            if let known = state.identities[present.address] { return known }
            state.identities[present.address] = present
            return present
        }
    }

    /// Returns the random static address of an adapter without a public one. The first call stores `made`, and later
    /// calls return the same address, because peers know this host by it. `adapter` identifies the adapter, for
    /// example by its device file.
    package func staticAddress(
        of adapter: String, orNew made: DeviceAddress
    ) async throws(BLEError) -> DeviceAddress {
        if let known = state.withLock({ $0.addresses[adapter] }) { return known }
        var present = StaticAddress(made, of: adapter)
        if let folder {
            present = try await offLoop { [present] () throws(BLEError) in
                try await folder.address(orNew: present)
            }
        }
        return state.withLock { [present] state in
            if let known = state.addresses[adapter] { return known }
            state.addresses[adapter] = present.address
            return present.address
        }
    }
}

extension BondStore {
    /// The result of an import.
    public struct Import: Hashable, Sendable {
        /// Bonds that are now in the store.
        public var imported: [BondID] = []
        /// Bonds that were not imported, because the store has a later pairing with the same peer.
        public var older: [BondID] = []
        /// The addresses of this host whose imported identity is the one in the store.
        public var identities: [DeviceAddress] = []
        /// Addresses for which the store has another identity. The store keeps that one, because its peers know
        /// it.
        public var otherIdentities: [DeviceAddress] = []
    }

    /// Returns bonds, and the identities of this host that they belong to, as text for another machine or a
    /// backup. The text contains all keys, so any reader of it can impersonate either side.
    public func export(_ records: [BondRecord]) -> [UInt8] {
        let locals = Set(records.map(\.id.local))
        let identities = state.withLock { Array($0.identities.values) }
            .filter { locals.contains($0.address) }
            .sorted { BondID($0.address, at: $0.address) < BondID($1.address, at: $1.address) }
        return identities.flatMap(\.text) + records.flatMap(\.text)
    }

    /// Imports the text that `export` returned. The sign counter of a bond that is not in the store continues
    /// 65,536 after the exported one. If more counters have been used since, or the same export is imported once
    /// more, peers ignore signed writes until the counter is beyond. Of two pairings with the same peer the later one is kept. Throws,
    /// and imports no bond, when the text is malformed, the store would have too many bonds, or an identity cannot
    /// be written. When the bonds cannot be written, it throws as well, but they are in memory, and the next
    /// change or flush tries to write them again.
    public func takeIn(_ export: [UInt8]) async throws(BLEError) -> Import {
        let (records, identities) = try Self.parts(of: export)
        let ids = Set(records.map(\.id))
        func check(_ state: borrowing State) throws(BLEError) {
            let total = state.table.records.count + ids.subtracting(state.table.records.keys).count
            if total > Self.limit { throw .limit(.bonds, maximum: Self.limit, value: total) }
        }
        try state.withLock { (state) throws(BLEError) in try check(state) }
        var result = Import()
        for identity in identities {
            if try await self.identity(orNew: identity) == identity {
                result.identities.append(identity.address)
            } else {
                result.otherIdentities.append(identity.address)
            }
        }
        // The store may have filled up meanwhile.
        try changing { (state, change) throws(BLEError) in
            try check(state)
            for var record in records {
                let old = state.table[record.id]
                // Counters may have been used since the export.
                if let key = record.bond.localSigningKey, key != old?.bond.localSigningKey {
                    record = record.afterDamage
                }
                if let old, old.created > record.created {
                    result.older.append(record.id)
                    continue
                }
                if let old {
                    let isSame = old.isOfSamePairing(as: record.bond)
                    // Data about the peer that were stored after the export are newer.
                    if isSame { (record.client, record.lastUsed) = (old.client, old.lastUsed) }
                    record.inherit(from: old)
                    if !isSame { forgetDatabase(of: record.id, in: &state) }
                }
                state.counters[record.id] = nil
                state.put(record)
                note(.insert(record), of: record.id, in: &state)
                result.imported.append(record.id)
                change.added.append(record.id)
            }
        }
        try await flush()
        return result
    }

    /// Parses the text of an export; throws when any of it is malformed.
    private static func parts(
        of export: [UInt8]
    ) throws(BLEError) -> (records: [BondRecord], identities: [LocalIdentity]) {
        var reader = TextReader(export)
        var (records, identities): ([BondRecord], [LocalIdentity]) = ([], [])
        do throws(TextError) {
            while let section = try reader.next() {
                switch section.kind {
                case BondRecord.kind: records.append(try BondRecord(section))
                case LocalIdentity.kind: identities.append(try LocalIdentity(section))
                default: throw TextError(section.number, .kind(String(section.kind), expected: nil))
                }
            }
            guard !reader.hasMore else { throw TextError(reader.number + 1, .missingEnd) }
        } catch {
            throw .bonds(StateError(error, in: "import"))
        }
        return (records, identities)
    }
}

// MARK: - Changes by other processes

extension BondStore {
    /// Follows other processes' changes of the folder, from now on and for as long as the store exists.
    func listen(to watch: FolderWatch, on loop: EventLoop) {
        loop.execute { [weak self, log] in
            do throws(PortError) {
                try watch.start { [weak self] events in
                    // Files must not be accessed on the event loop.
                    Task.detached { [weak self] in
                        if let self, let folder { await apply(events, in: folder) }
                    }
                }
            } catch {
                log.warning("changes by other processes are not followed: \(error)")
            }
        }
    }

    private func apply(_ events: [FolderWatch.Event], in folder: isolated BondFolder) {
        let known = state.withLock { Set($0.table.records.keys) }
        do throws(StateError) {
            let outcome = try folder.records(
                try folder.bonds(events, known: known), failuresAt: try folder.localsWithFailures(events))
            take(outcome)
            restore(outcome.damaged)
        } catch {
            log.warning("changes by other processes are not read: \(error)")
        }
    }
}

extension BondStore {
    /// Writes bonds again whose files were damaged, because other processes do not find them. Skips bonds
    /// whose text could not be read again.
    private func restore(_ ids: Set<BondID>) {
        state.withLock { state in
            for id in ids where state.pending.operations[id] == nil {
                guard let record = state.table[id], record.isReadable else { continue }
                note(.update(record), of: id, in: &state)
            }
        }
    }
}

extension UInt128 {
    /// Returns a new identity resolving key. Zero is excluded: it means that no resolvable addresses are used.
    static func newIdentityKey(using random: inout some RandomNumberGenerator) -> UInt128 {
        .random(in: 1 ... .max, using: &random)
    }
}
