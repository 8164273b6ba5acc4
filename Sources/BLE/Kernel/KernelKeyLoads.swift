import BLECore

/// When the kernel is given the keys of all bonds. It forgets all others at that, also those that a device
/// which pairs is just being given: so it is done when no device pairs. Until then the kernel may have other
/// keys than those of bonds.
struct KernelKeyLoads {
    enum Step: Equatable {
        /// Nothing is to be done, or it is under way.
        case none
        case wait(until: Instant)
        /// The keys of all bonds are to be given now, which replace those of these peers.
        case load(replacing: Set<DeviceAddress>)
    }

    /// How long until what the kernel has refused is given to it again.
    static let pause = Duration.seconds(10)

    /// Identities whose keys in the kernel are not those of their bonds.
    private var distrusted: Set<DeviceAddress> = []
    /// Those of them that were so when the load under way began; nil while there is none.
    private var replaced: Set<DeviceAddress>?
    private var isOwed = false
    /// When the kernel may be asked again.
    private var retry: Instant?

    /// Whether a link that the kernel encrypts to that identity shows that it is the bonded device.
    func proves(_ peer: DeviceAddress) -> Bool { !distrusted.contains(peer) }

    /// The kernel has other keys than those of their bonds for these peers, or lacks a bond's.
    mutating func owe(insteadOf peers: [DeviceAddress]) {
        distrusted.formUnion(peers)
        isOwed = true
    }

    /// What is to be done now; `quiet` is when no device pairs any more, unless more events come.
    mutating func next(quiet: Instant?, at now: Instant) -> Step {
        guard isOwed, replaced == nil else { return .none }
        if let wait = [quiet, retry].compactMap(\.self).max(), wait > now { return .wait(until: wait) }
        isOwed = false
        replaced = distrusted
        return .load(replacing: distrusted)
    }

    /// The kernel has taken the keys, or not. What has come up meanwhile waits for the next load.
    mutating func ended(isDone: Bool, at now: Instant) {
        let replaced = replaced.take() ?? []
        if isDone, !isOwed { distrusted.subtract(replaced) }
        if !isDone { isOwed = true }
        retry = isDone ? nil : now + Self.pause
    }
}
