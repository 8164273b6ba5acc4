import BLECore
import HCISocket
import SMP

/// Pairing on a kernel adapter: the kernel pairs, and sends questions and events through the management socket.
/// Confined to its adapter.
final class KernelPairing {
    /// What the adapter was set to, and is to be again; nil while nothing was changed.
    private(set) var before: Management.Settings?
    /// Reports bonds that come and go to the kernel.
    private var watch: Task<Void, Never>?
    /// The keys that the kernel has reported.
    private var keyring = KernelKeyring()
    /// When the kernel is given the keys of all bonds.
    private var loads = KernelKeyLoads()
    private var questions: [DeviceAddress: Task<Void, Never>] = [:]

    /// Cancels all open questions to the user.
    func close() {
        for question in questions.values { question.cancel() }
        questions = [:]
        watch?.cancel()
    }
}

// MARK: - This host's settings

extension KernelPairing {
    /// Whether the kernel has this host's settings and keys.
    var isSetUp: Bool { before != nil }

    /// The kernel is about to get this host's settings; `before` are those that it has.
    func setUp(from before: Management.Settings) { self.before = before }

    /// From now on this task reports changes of bonds to the kernel.
    func watchBonds(_ task: Task<Void, Never>) { watch = task }

    /// The kernel is about to get back the settings that it had; nil if it has them.
    func setBack() -> Management.Settings? {
        watch.take()?.cancel()
        return before.take()
    }
}

// MARK: - Pairings

extension KernelPairing {
    /// Takes an event of the kernel. For a key that encrypts, returns what its pairing has made up to now, as the
    /// device `local`, whose process has links to these peers. Withdraws questions about pairings that have ended.
    func take(
        _ event: ManagementEvent, as local: DeviceAddress, with links: @autoclosure () -> [DeviceAddress],
        at now: Instant
    ) -> KernelKeyring.Pairing? {
        let made = keyring.take(event, as: local, with: links(), at: now)
        for peer in questions.keys where !keyring.isPairing(peer, at: now) { endQuestion(about: peer) }
        return made
    }

    /// The peer of a link begins to pair.
    func begin(_ peer: DeviceAddress, at now: Instant) { keyring.begin(peer, at: now) }

    /// A link of this process to a peer is encrypted.
    func encrypted(_ peer: DeviceAddress, at now: Instant) { keyring.encrypted(peer, at: now) }

    /// A link of this process to a peer has ended.
    func forget(_ peer: DeviceAddress) { keyring.forget(peer) }

    /// Whether the peer of a link is pairing.
    func isPairing(_ peer: DeviceAddress, at now: Instant) -> Bool { keyring.isPairing(peer, at: now) }

    /// The address by which the kernel knows the peer of a link now.
    func identity(of peer: DeviceAddress) -> DeviceAddress { keyring.identity(of: peer) }

    /// Asks the user something about a peer; `answer` is cancelled when the pairing ends before.
    func ask(about peer: DeviceAddress, _ answer: @escaping @Sendable () async -> Void) {
        endQuestion(about: peer)
        questions[peer] = Task { await answer() }
    }

    private func endQuestion(about peer: DeviceAddress) { questions.removeValue(forKey: peer)?.cancel() }
}

// MARK: - The keys of bonds

extension KernelPairing {
    /// Whether a link that the kernel encrypts to that identity shows that it is the bonded device.
    func proves(_ peer: DeviceAddress) -> Bool { loads.proves(peer) }

    /// Whether the kernel has the keys of that bond already: it has paired with the device itself.
    func holds(_ bond: Bond) -> Bool { keyring.holds(bond) }

    /// The kernel has other keys than those of their bonds for these peers, or lacks a bond's.
    func oweKeys(insteadOf peers: [DeviceAddress]) { loads.owe(insteadOf: peers) }

    /// What is to be done now, if the kernel is to have the keys of bonds. After `.load`, `loaded` follows.
    func nextLoad(at now: Instant) -> KernelKeyLoads.Step {
        guard isSetUp else { return .none }
        let step = loads.next(quiet: keyring.quiet(after: now), at: now)
        if case .load(let replaced) = step {
            for peer in replaced { keyring.replace(peer) }
        }
        return step
    }

    /// The kernel has taken the keys of all bonds, or not.
    func loaded(isDone: Bool, at now: Instant) { loads.ended(isDone: isDone, at: now) }
}
