import BLECore
import GATTClient

/// An operation on one bond on the disk.
enum BondOperation: Hashable, Sendable {
    /// A pairing has created or replaced the bond.
    case insert(BondRecord)
    /// Data other than the keys have changed.
    case update(BondRecord)
    /// The bond is deleted.
    case remove

    /// Returns a single operation with the effect of this one followed by `next`.
    func followed(by next: BondOperation) -> BondOperation {
        if case (.insert, .update(let record)) = (self, next) { .insert(record) } else { next }
    }
}

/// Changes that are written to the disk together.
struct BondBatch: Sendable {
    /// The operations that are not written yet, by bond.
    var operations: [BondID: BondOperation] = [:]
    /// The discovered databases of peers; nil for a database that is to be deleted.
    var databases: [BondID: CachedDatabase?] = [:]
    /// The bonds for which further counters of signed writes are to be reserved.
    var reservations: Set<BondID> = []
    /// This process's records of the bonds in `reservations`, for the case that a file is damaged.
    var fallbacks: [BondID: BondRecord] = [:]
    /// The failed pairings with the fixed passkey of each identity of this host; nil to forget them.
    var failures: [DeviceAddress: PasskeyFailures?] = [:]

    var isEmpty: Bool {
        operations.isEmpty && databases.isEmpty && reservations.isEmpty && failures.isEmpty
    }

    /// Adds an operation on a bond. A removal drops the bond's database and reservation.
    mutating func add(_ operation: BondOperation, to id: BondID) {
        operations[id] = operations[id]?.followed(by: operation) ?? operation
        if operation == .remove {
            databases[id] = nil
            reservations.remove(id)
        }
    }

    /// Restores an earlier batch, of which nothing was written.
    mutating func restore(_ earlier: BondBatch) {
        operations.merge(earlier.operations) { later, operation in operation.followed(by: later) }
        databases.merge(earlier.databases) { later, _ in later }
        reservations.formUnion(earlier.reservations)
        failures.merge(earlier.failures) { later, _ in later }
    }
}

/// The state of the disk after a batch was written, or after bonds were read.
struct BondOutcome: Sendable {
    /// The bonds as they are now; nil for those that no longer exist.
    var records: [BondID: BondRecord?] = [:]
    /// The counters of signed writes that are now reserved for this process.
    var reserved: [BondID: Range<UInt32>] = [:]
    /// The bonds whose files were damaged and are now stored under other names.
    var damaged: Set<BondID> = []
    /// The failures with the fixed passkey as they are now; nil when there are none.
    var failures: [DeviceAddress: PasskeyFailures?] = [:]
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
