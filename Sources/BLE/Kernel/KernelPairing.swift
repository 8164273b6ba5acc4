import BLECore
import HCISocket
import SMP

/// What a kernel adapter knows of pairings: the kernel pairs, and asks and tells through the management socket. Confined
/// to its adapter.
final class KernelPairing {
    /// What the adapter was set to, and is to be again; nil while nothing was changed.
    var before: Management.Settings?
    /// Tells the kernel of bonds that come and go.
    var watch: Task<Void, Never>?
    /// What pairings have made with peers that say that they are others, whose bonds they would replace: the user is
    /// asked.
    var claims: [BondID: (link: LinkID, bond: Bond)] = [:]
    /// The identities of peers whose links began under another address, which they are known by here.
    private var identities: [DeviceAddress: DeviceAddress] = [:]
    private var keyring = KernelKeyring()
    private var questions: [DeviceAddress: Task<Void, Never>] = [:]
    /// Peers about which the kernel has asked and has not told the end yet.
    private var underWay: Set<DeviceAddress> = []
    /// Peers about which it has asked since they were connected.
    private var asked: Set<DeviceAddress> = []

    /// Whether the kernel has this host's settings and keys.
    var isSetUp: Bool { before != nil }

    /// The address by which the kernel knows the peer of a link now.
    func identity(of peer: DeviceAddress) -> DeviceAddress { identities[peer] ?? peer }

    /// Whether devices are pairing, as far as the kernel tells: it asks something in every pairing.
    func isUnderWay(with peer: DeviceAddress) -> Bool { underWay.contains(identity(of: peer)) }

    /// Whether the kernel has asked about the peer of a link since that is there.
    func hasAsked(about peer: DeviceAddress) -> Bool { asked.contains(identity(of: peer)) }

    /// Takes what the kernel tells; what a pairing has made, if that was it.
    func take(_ event: ManagementEvent, as local: DeviceAddress) -> KernelKeyring.Pairing? {
        switch event {
        case .confirmationRequest(let peer, _, _), .passkeyRequest(let peer), .passkeyNotify(let peer, _, _):
            underWay.insert(peer)
            asked.insert(peer)
        case .newIdentityKey(let key, let resolved, _):
            if let resolved {
                identities[resolved] = key.peer
                if underWay.remove(resolved) != nil { underWay.insert(key.peer) }
                if asked.remove(resolved) != nil { asked.insert(key.peer) }
            }
        case .newLongTermKey(let key, _): over(with: key.peer)
        case .authenticationFailed(let peer, _), .unpaired(let peer): over(with: peer)
        case .disconnected(let peer, _):
            over(with: peer)
            asked.remove(peer)
            identities = identities.filter { $0.value != peer }
        default: break
        }
        return keyring.take(event, as: local)
    }

    private func over(with peer: DeviceAddress) {
        underWay.remove(peer)
        for name in [peer] + identities.filter({ $0.value == peer }).keys { endQuestion(about: name) }
    }

    // MARK: Questions

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
