import BLECore

/// Decides when the keys of all bonds are loaded into the kernel. A load removes all other keys from the
/// kernel, including those that a pairing is just producing, so it waits until no device is pairing. Until
/// then the kernel can have keys other than those of the bonds.
struct KernelKeyLoads {
    enum Step: Equatable {
        /// No load is due, or one is under way.
        case none
        case wait(until: Instant)
        /// The keys of all bonds are to be loaded now. They replace the keys that the kernel has for these
        /// peers.
        case load(replacing: Set<DeviceAddress>)
    }

    /// The delay before a load that the kernel has refused is retried.
    static let pause = Duration.seconds(10)

    /// Identities whose keys in the kernel are not those of their bonds.
    private var outdated: Set<DeviceAddress> = []
    /// The outdated identities when the load under way began; nil while there is no load.
    private var replaced: Set<DeviceAddress>?
    private var isDue = false
    /// The earliest time at which the kernel can be asked again.
    private var retry: Instant?

    /// Returns whether the kernel's encryption of a link to this identity proves that the peer is the bonded
    /// device.
    func provesIdentity(of peer: DeviceAddress) -> Bool { !outdated.contains(peer) }

    /// Requests a load, because the kernel has keys other than those of the bonds for these peers, or lacks
    /// the keys of a bond.
    mutating func requestLoad(insteadOf peers: [DeviceAddress]) {
        outdated.formUnion(peers)
        isDue = true
    }

    /// Returns the next step. `quiet` is the time at which no device is pairing any more, unless more events
    /// arrive.
    mutating func next(quiet: Instant?, at now: Instant) -> Step {
        guard isDue, replaced == nil else { return .none }
        if let wait = [quiet, retry].compactMap(\.self).max(), wait > now { return .wait(until: wait) }
        isDue = false
        replaced = outdated
        return .load(replacing: outdated)
    }

    /// Handles the end of a load, which the kernel has accepted or not. Changes since it began wait for the
    /// next load.
    mutating func ended(isDone: Bool, at now: Instant) {
        let replaced = replaced.take() ?? []
        if isDone, !isDue { outdated.subtract(replaced) }
        if !isDone { isDue = true }
        retry = isDone ? nil : now + Self.pause
    }
}
