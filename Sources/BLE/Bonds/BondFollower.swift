import BLECore
import SMP

/// The right of an adapter to be notified of the bonds of one identity of this host. It ends with the release.
///
/// The adapter has a table of its own, so that what it looks up does not change while it decides something. It takes
/// the changes after its own ones, and when it is notified of those of others.
package final class BondFollower: Sendable {
    /// A bond that has changed.
    package struct Change: Sendable {
        package let id: BondID
        /// The present record; nil when there is none any more.
        package let record: BondRecord?
        /// Whether the bond was removed meanwhile; a present record is then that of a new one.
        package let wasRemoved: Bool
    }

    package let local: DeviceAddress
    private let store: BondStore
    private let number: UInt64

    /// Follows the bonds of an identity in `store`. `changed` is called after each change, on the thread that has made
    /// it. The first call of `takeChanges` returns all bonds.
    package init(_ store: BondStore, at local: DeviceAddress, _ changed: @escaping @Sendable () -> Void) {
        self.local = local
        self.store = store
        number = store.addFollower(at: local, changed)
    }

    deinit { store.removeFollower(number) }

    /// Returns the bonds that have changed since the last call, in order.
    package func takeChanges() -> [Change] { store.takeChanges(for: number) }
}
