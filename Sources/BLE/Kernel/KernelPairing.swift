import BLECore
import HCISocket
import SMP

/// Pairing on a kernel adapter: the kernel pairs, and sends questions and events through the management socket.
/// Confined to its adapter.
final class KernelPairing {
    /// The adapter's earlier settings, which are to be restored; nil while nothing was changed.
    private(set) var before: Management.Settings?
    /// The task that reports added and removed bonds to the kernel.
    private var watch: Task<Void, Never>?
    /// The keys that the kernel has reported.
    private var keyring = KernelKeyring()
    /// The loads of the keys of all bonds into the kernel.
    private var loads = KernelKeyLoads()
    /// The change of the adapter's settings that is under way.
    var setup: Task<BLEError?, Never>?
    private var questions: [DeviceAddress: Task<Void, Never>] = [:]
    /// The loop on which the user is asked.
    private let loop: EventLoop

    init(on loop: EventLoop) { self.loop = loop }

    /// Cancels all open questions to the user.
    func close() {
        for peer in questions.keys.sorted() { endQuestion(about: peer) }
        watch?.cancel()
    }
}

// MARK: - This host's settings

extension KernelPairing {
    /// Whether the kernel has this host's settings and keys.
    var isSetUp: Bool { before != nil }

    /// Notes that the kernel is about to get this host's settings; `before` are the current ones.
    func setUp(from before: Management.Settings) { self.before = before }

    /// Keeps the task that reports changes of bonds to the kernel from now on.
    func watchBonds(_ task: Task<Void, Never>) { watch = task }

    /// Stops the watch of bonds, and gives the earlier settings to the caller, which restores them unless
    /// bluetoothd owns the settings now; nil if there is nothing to restore.
    func setBack() -> Management.Settings? {
        watch.take()?.cancel()
        return before.take()
    }
}

// MARK: - Pairings

extension KernelPairing {
    /// Handles an event of the kernel. For an encryption key, returns the pairing with its keys so far, made
    /// as the device `local`, whose process has links to the peers in `links`. Withdraws questions about
    /// pairings that have ended.
    func take(
        _ event: ManagementEvent, as local: DeviceAddress, with links: @autoclosure () -> [DeviceAddress],
        at now: Instant
    ) -> KernelKeyring.Pairing? {
        let made = keyring.take(event, as: local, with: links(), at: now)
        for peer in questions.keys.sorted() where !keyring.isPairing(peer, at: now) {
            endQuestion(about: peer)
        }
        return made
    }

    /// Notes that the peer of a link starts to pair.
    func begin(_ peer: DeviceAddress, at now: Instant) { keyring.begin(peer, at: now) }

    /// Notes that a link of this process to a peer is encrypted.
    func encrypted(_ peer: DeviceAddress, at now: Instant) { keyring.encrypted(peer, at: now) }

    /// Forgets the identity of a peer, whose link of this process has ended.
    func forget(_ peer: DeviceAddress) { keyring.forget(peer) }

    /// Whether the peer of a link is pairing.
    func isPairing(_ peer: DeviceAddress, at now: Instant) -> Bool { keyring.isPairing(peer, at: now) }

    /// Returns the address by which the kernel now knows the peer of a link.
    func identity(of peer: DeviceAddress) -> DeviceAddress { keyring.identity(of: peer) }

    /// Asks the user a question about a peer. `answer` is cancelled when the pairing ends before.
    func ask(about peer: DeviceAddress, _ answer: @escaping @Sendable () async -> Void) {
        endQuestion(about: peer)
        questions[peer] = Task(executorPreference: loop) { await answer() }
    }

    private func endQuestion(about peer: DeviceAddress) { questions.removeValue(forKey: peer)?.cancel() }
}

// MARK: - The keys of bonds

extension KernelPairing {
    /// Returns whether the kernel's encryption of a link to this identity proves that the peer is the bonded
    /// device.
    func provesIdentity(of peer: DeviceAddress) -> Bool { loads.provesIdentity(of: peer) }

    /// Returns whether the kernel already has the keys of this bond, because it has paired with the device
    /// itself.
    func holds(_ bond: Bond) -> Bool { keyring.holds(bond) }

    /// Requests a load, because the kernel has keys other than those of the bonds for these peers, or lacks
    /// the keys of a bond.
    func requestKeys(insteadOf peers: [DeviceAddress]) { loads.requestLoad(insteadOf: peers) }

    /// Returns the next step of a load, if the kernel is to have the keys of bonds. The owner calls `loaded`
    /// after `.load`.
    func nextLoad(at now: Instant) -> KernelKeyLoads.Step {
        guard isSetUp else { return .none }
        let step = loads.next(quiet: keyring.quiet(after: now), at: now)
        if case .load(let replaced) = step {
            for peer in replaced.sorted() { keyring.replace(peer) }
        }
        return step
    }

    /// Handles the end of a load of the keys of all bonds, which the kernel has accepted or not.
    func loaded(isDone: Bool, at now: Instant) { loads.ended(isDone: isDone, at: now) }
}
