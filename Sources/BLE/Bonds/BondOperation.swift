import GATTClient

/// What is to become of one bond on the disk.
enum BondOperation: Hashable, Sendable {
    /// A pairing has made it, or made it anew.
    case insert(BondRecord)
    /// Something other than the keys has changed.
    case update(BondRecord)
    /// The bond is deleted.
    case remove

    /// The two, one after the other, as one.
    func followed(by next: BondOperation) -> BondOperation {
        if case (.insert, .update(let record)) = (self, next) { .insert(record) } else { next }
    }
}

/// Changes that go to the disk together.
struct BondBatch: Sendable {
    /// The operations that are not written yet, by bond.
    var operations: [BondID: BondOperation] = [:]
    /// Databases of peers that were found; nil for one that is to be forgotten.
    var databases: [BondID: CachedDatabase?] = [:]
    /// Bonds whose next counters of signed writes are to be reserved.
    var reservations: Set<BondID> = []
    /// What this process knows of those, for where the file is damaged.
    var fallbacks: [BondID: BondRecord] = [:]

    var isEmpty: Bool { operations.isEmpty && databases.isEmpty && reservations.isEmpty }

    /// Adds an operation on a bond. A removal drops the bond's database and reservation.
    mutating func add(_ operation: BondOperation, to id: BondID) {
        operations[id] = operations[id]?.followed(by: operation) ?? operation
        if operation == .remove {
            databases[id] = nil
            reservations.remove(id)
        }
    }

    /// Puts back an earlier batch, none of which was done.
    mutating func restore(_ earlier: BondBatch) {
        for (id, operation) in earlier.operations {
            operations[id] = operations[id].map { operation.followed(by: $0) } ?? operation
        }
        databases.merge(earlier.databases) { later, _ in later }
        reservations.formUnion(earlier.reservations)
    }
}

/// What the disk has after a batch, or after a look at it.
struct BondOutcome: Sendable {
    /// Bonds as they are now; nil for those that are gone.
    var records: [BondID: BondRecord?] = [:]
    /// Counters of signed writes that are now this process's to use.
    var reserved: [BondID: Range<UInt32>] = [:]
    /// Bonds whose files were damaged, and are there under other names.
    var damaged: Set<BondID> = []
}

/// Bonds that were added and removed in one change, by this process or by another one that shares the folder.
/// `BondStore.record(_:)` returns their present state.
public struct BondChange: Hashable, Sendable {
    /// Bonds that are new, or whose keys have changed.
    public var added: [BondID]
    /// The bonds that have been removed.
    public var removed: [BondID]

    package init(added: [BondID] = [], removed: [BondID] = []) {
        self.added = added
        self.removed = removed
    }

    var isNothing: Bool { added.isEmpty && removed.isEmpty }
}
