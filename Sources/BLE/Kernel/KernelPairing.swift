import BLECore
import HCISocket
import SMP

/// Pairing on a kernel adapter: the kernel pairs, and asks and tells through the management socket. Confined to its
/// adapter.
final class KernelPairing {
    /// What the adapter was set to, and is to be again; nil while nothing was changed.
    var before: Management.Settings?
    /// Tells the kernel of bonds that come and go.
    var watch: Task<Void, Never>?
    /// What the kernel has told.
    var keyring = KernelKeyring()
    /// When the kernel is given the keys of all bonds.
    var loads = KernelKeyLoads()
    private var questions: [DeviceAddress: Task<Void, Never>] = [:]

    /// Whether the kernel has this host's settings and keys.
    var isSetUp: Bool { before != nil }

    /// Whether a link that the kernel encrypts to that identity shows that it is the bonded device.
    func proves(_ peer: DeviceAddress) -> Bool { loads.proves(peer) }

    /// Ends what was asked about peers that do not pair any more.
    func endQuestions(at now: Instant) {
        for peer in questions.keys where !keyring.isPairing(peer, at: now) { endQuestion(about: peer) }
    }

    /// Asks the user something about a peer; `answer` is cancelled when the pairing ends before.
    func ask(about peer: DeviceAddress, _ answer: @escaping @Sendable () async -> Void) {
        endQuestion(about: peer)
        questions[peer] = Task { await answer() }
    }

    private func endQuestion(about peer: DeviceAddress) { questions.removeValue(forKey: peer)?.cancel() }

    /// Asks nothing any more.
    func close() {
        for question in questions.values { question.cancel() }
        questions = [:]
        watch?.cancel()
    }
}
