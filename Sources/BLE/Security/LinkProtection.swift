import GATTServer
import HCISocket
import SMP

/// What a link is worth that is encrypted with a key. It is known when the controller is given the key: until it tells that
/// the link is encrypted, much may happen.
enum GivenKey: Hashable, Sendable {
    /// That of a pairing which is under way.
    case pairing
    /// That of a pairing which has ended well.
    case paired(LinkSecurity)
    /// That of a pairing which has failed.
    case failed
    /// That of a bond.
    indirect case bond(Bond)
}

/// What keeps a link of ours safe: the bond with its peer, and the key of a pairing.
struct LinkProtection {
    /// What an earlier pairing with the peer has left.
    var bond: Bond?
    /// The key that a pairing under way gives when the controller asks.
    var offered: LongTermKey?
    /// What a pairing has made with a peer that says that it is another one, whose bond it would replace: the user is asked.
    var claim: Bond?
    /// The key that the controller was given last.
    var given: GivenKey?
    /// Whether the peer has no key for the bond any more: it refused to encrypt.
    var isBondLost = false
    /// The security that the peripheral has asked for and that nobody sees to yet.
    var wish: LinkSecurityLevel?
    /// Whether an earlier wish is about to be met.
    var isFulfilling = false
    /// Whether the link may be encrypted with a key that another device has made in the name of a bonded one.
    var isUnproven = false
    /// Whether what was remembered of the peer holds again.
    var isRestored = false
    /// What the user is asked or shown.
    var dialogue: Task<Void, Never>?

    /// Whether a link that is encrypted is so with the key of the bond. A kernel that does not say so has no other one,
    /// unless it has paired on the link.
    var isBonded: Bool {
        if case .paired(let security)? = given, !security.isBonded { return false }
        return bond != nil
    }

    init(bond: Bond?) { self.bond = bond }

    /// The user is not needed any more.
    mutating func endDialogue() { dialogue.take()?.cancel() }
}

/// What an adapter's security manager knows beyond one link.
struct SecurityState {
    let options: SecurityOptions
    /// What stands for this host when it pairs; known when the controller is set up.
    var identity: LocalIdentity?
    /// What failed pairings have left, by the peer's address.
    var attempts = RepeatedAttempts()

    init(_ options: SecurityOptions) { self.options = options }
}
