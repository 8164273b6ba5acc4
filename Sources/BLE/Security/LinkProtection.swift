import BLECore
import DequeModule
import GATTServer
import HCISocket
import SMP

/// The security of a link that is encrypted with a key. It is recorded when the controller is given the key,
/// because other events may arrive before the one that reports the encryption.
enum GivenKey: Hashable, Sendable {
    /// The key of a pairing that is in progress.
    case pairing
    /// The key of a pairing that has succeeded.
    case paired(LinkSecurity)
    /// The key of a pairing that has failed.
    case failed
    /// The key of a bond.
    indirect case bond(Bond)

    fileprivate var isBond: Bool { if case .bond = self { true } else { false } }
}

/// The security of a link: its encryption, the bond with its peer, and how a pairing changes both.
///
/// On links of this host it records which key the controller was given. For links of the kernel, the kernel reports the
/// security level, and this records which of its keys belong to a bond.
///
/// ```swift
/// // A pairing has a key.
/// protection.offer(key)
/// guard protection.give(key, of: .pairing) else { return }
/// // The controller uses it.
/// protection.encryptionChanged(isOn: true, isRefresh: false, isPairing: true) {
///     bonds.record($0.id)?.bond == $0
/// }
/// protection.paired(bond, isBonding: true, isTaken: { bonds.record($0.id) != nil })
/// while let event = protection.nextEvent() { handle(event) }
/// ```
struct LinkProtection: Sendable {
    enum Event: Hashable, Sendable {
        /// Pairings and signatures of the peer are based on this bond from now on.
        case bond(Bond?)
        /// The server uses this security from now on.
        case served(LinkSecurity)
        /// The peer has proven that it is the bond's device: the state that is kept of it is to be restored.
        case recognized(Bond)
        /// The link's security has changed, or its key.
        case security(LinkSecurity)
        /// The link's security is to be read from the kernel.
        case askKernel
        /// The encryption of the link has changed, by which a pairing continues or ends.
        case encrypted(Bool)
        /// The user is to be asked whether the peer may replace the device that has this bond's identity; if
        /// not `isNew`, the user is being asked already.
        case claimed(Bond, isNew: Bool)
        case claimRefused(Bond)
        /// The bond is to be stored; `kept` or `notKept` follows.
        case keep(Bond)
        /// The keys that a pairing has made are to be removed from the kernel, and the callers that wait for
        /// them get the error.
        case giveUp(Bond, BLEError)
        /// The waits for more security end: nil if the link has it, otherwise with this error.
        case raised(BLEError?)
        /// The link cannot be used any more.
        case end(BLEError)
        /// The adapter has to act on the peripheral's security request.
        case answerSecurityRequest
    }

    /// The way in which a link reaches a required level.
    enum Way: Hashable, Sendable {
        /// The link has already reached the level.
        case reached
        /// Encryption with the key of the link's bond.
        case encryption(LongTermKey, Bond)
        case pairing
        /// Encryption with the key of the link's bond, which the peer has lost.
        case lost
    }

    /// A step that a peripheral requests from its central.
    enum SecurityStep: Hashable, Sendable {
        /// A new session key for a link that has already reached the requested level (Core Specification 5.4,
        /// Vol 3, Part H, 2.4.6).
        case refresh
        case security(SecurityLevel)
    }

    /// The security of the link's encryption.
    private(set) var security = LinkSecurity.none
    /// The bond of an earlier pairing with the peer.
    private(set) var bond: Bond?
    /// The bond of a pairing with a peer that claims another device's identity, whose bond it would replace.
    private(set) var claim: Bond?
    /// Whether the peer no longer has the key of the bond: it has refused to encrypt.
    private(set) var isBondLost = false
    /// Whether the peer has proven that it is the bond's device, so that its state was restored.
    private(set) var isRecognized = false

    private let role: LinkRole
    private let isKernel: Bool
    /// Whether the kernel may encrypt the link with a key that another device has made with the identity of a
    /// bonded one. The link then has no bond until one is made on it.
    private var isUnproven = false
    /// The size of the key, in octets, of a pairing that has not ended, with which a link is encrypted that
    /// was open before.
    private var earlyKeySize: Int?
    /// The key of a pairing that is under way.
    private var offered: LongTermKey?
    /// The key that the controller was given last.
    private var given: GivenKey?
    /// The given key when the link was encrypted last; nil while it is not encrypted.
    private var used: GivenKey?
    /// The security that the peripheral has requested, and that is not handled yet.
    private var requested: SecurityLevel?
    private var isFulfilling = false
    private var events = Deque<Event>()

    /// Creates the protection of a link. `bond` is the bond with the peer. With `isKernel` the kernel
    /// encrypts the link, and pairs.
    init(as role: LinkRole, isKernel: Bool, bond: Bond?) {
        self.role = role
        self.isKernel = isKernel
        self.bond = bond
    }

    mutating func nextEvent() -> Event? { events.popFirst() }

    /// Whether a link that is encrypted uses the key of the bond. The kernel does not report that, but has no
    /// other key, unless it pairs on the link, or has paired.
    var isBonded: Bool {
        switch given {
        case .pairing?, .failed?: false
        case .paired(let security)? where !security.isBonded: false
        default: bond != nil
        }
    }

    /// Whether the key that the controller was given last is that of a pairing in progress.
    var isPairingKeyGiven: Bool { given == .pairing }

    /// Whether the peer has proven that it is the bond's device, or has made the bond on this link.
    private var isShown: Bool {
        if case .paired(let security)? = given, security.isBonded { return true }
        return isRecognized
    }

    /// The security that the server uses: a central that has a key for its link only has to encrypt it, and
    /// is refused with Insufficient Encryption (Core Specification 5.4, Vol 3, Part C, 10.3.1).
    var servedSecurity: LinkSecurity {
        guard security.level == .open else { return security }
        if let earlyKeySize { return LinkSecurity(level: .encrypted, keySize: earlyKeySize) }
        var served = security
        served.isBonded = bond != nil && !isBondLost
        return served
    }
}

// MARK: - Ways to more security

extension LinkProtection {
    /// The bond with whose key this host, as central, encrypts the link.
    var ownKey: (key: LongTermKey, bond: Bond)? {
        guard role == .central, let bond, let key = bond.centralKey else { return nil }
        return (key, bond)
    }

    /// Returns the way to a level. A bond that is not strong enough is used, too, because only a peer that
    /// still has it may replace it by pairing.
    func way(to level: SecurityLevel) -> Way {
        if security.reaches(level) { return .reached }
        guard let (key, bond) = ownKey else { return .pairing }
        if isBondLost { return .lost }
        return bond.strength.reaches(level) || !security.isBonded ? .encryption(key, bond) : .pairing
    }

    /// Handles a peripheral's request for security. The request is met with the bond's key, else, with
    /// `raisesSecurity`, by pairing. Returns false when it is not met.
    mutating func securityRequested(_ level: SecurityLevel, raisesSecurity: Bool) -> Bool {
        guard raisesSecurity || bond?.strength.reaches(level) ?? false else { return false }
        requested = max(level, requested ?? level)
        guard !isFulfilling else { return true }
        isFulfilling = true
        events.append(.answerSecurityRequest)
        return true
    }

    /// Returns the next step; nil when none is left. All requests of the peripheral that arrive meanwhile
    /// count as one.
    mutating func nextSecurityStep() -> SecurityStep? {
        guard let level = requested.take() else {
            isFulfilling = false
            return nil
        }
        return security.isBonded && security.reaches(level) ? .refresh : .security(level)
    }

    /// Handles the failure of a step: requests that arrived meanwhile would fail as well, and are dropped.
    mutating func securityStepFailed() { requested = nil }
}

// MARK: - Keys

extension LinkProtection {
    /// Notes the key that a pairing has for the link.
    mutating func offer(_ key: LongTermKey) { offered = key }

    /// Records that the controller is about to be given a key of this host; false if the
    /// key is of a pairing that has ended.
    mutating func give(_ key: LongTermKey, of owner: GivenKey) -> Bool {
        if owner == .pairing, offered != key { return false }
        given = owner
        return true
    }

    /// Returns the key that the central has named, which the controller is given next. While devices pair,
    /// that is only the key of the pairing, which has no name (Core Specification 5.4, Vol 3, Part H,
    /// 2.4.4.1). Otherwise it is that of the bond with the peer, or with a peer whose address identifies no
    /// bond and that names its key (2.4.4.2).
    mutating func key(
        named ediv: UInt16, _ random: UInt64, orOf otherPeer: () -> Bond?
    ) -> LongTermKey? {
        if let offered {
            guard ediv == 0, random == 0 else { return nil }
            given = .pairing
            return offered
        }
        guard let bond = bond ?? otherPeer(), let key = bond.peripheralKey, key.ediv == ediv,
            key.random == random
        else { return nil }
        given = .bond(bond)
        return key
    }

    /// Notes that the peer lacks the key of a bond with which this host has tried to encrypt.
    mutating func keyMissing(of bond: Bond) {
        if bond == self.bond { bondLost() }
    }

    /// Notes that the peer has lost the bond.
    mutating func bondLost() {
        guard bond != nil else { return }
        isBondLost = true
        events.append(.served(servedSecurity))
    }

    /// Handles a change of the link's encryption: it is on, with another key than before if `isRefresh`, or
    /// off. With `isPairing` a pairing is under way. `isKept` returns whether a bond is still the one with
    /// its device, because it may have been removed, or replaced, since the controller was given its key.
    mutating func encryptionChanged(isOn: Bool, isRefresh: Bool, isPairing: Bool, isKept: (Bond) -> Bool) {
        // A pairing continues only with its own key.
        if !isOn || given == .pairing || !isPairing { events.append(.encrypted(isOn)) }
        guard isOn else { return unencrypted() }
        used = given ?? .failed
        switch given {
        // The end of the pairing determines the security of the link. Until then, requests that need only
        // encryption are served, and a link that pairs again keeps its security.
        case .pairing?:
            guard security == .none else { return }
            // Pairing agrees on 7 octets at least.
            earlyKeySize = offered?.size ?? 7
            events.append(.served(servedSecurity))
            return
        case .failed?:
            unencrypted()
            events.append(.end(.encryption(.authenticationFailure)))
            return
        case .paired(var security)?:
            // The bond that the pairing has made may have been removed.
            security.isBonded = security.isBonded && self.bond != nil
            note(security, hasNewKey: isRefresh)
        case .bond(let bond)?:
            let isKept = isKept(bond)
            // The peer has proven that it is that device.
            if isKept, self.bond?.id != bond.id { take(bond) }
            note(LinkSecurity(bond.strength, isBonded: isKept), hasNewKey: isRefresh)
        case nil: note(LinkSecurity(level: .encrypted), hasNewKey: isRefresh)
        }
        // A central may meet the request of its peripheral in this way.
        if !isPairing { events.append(.raised(nil)) }
    }

    /// Notes that the controller could not encrypt the link.
    mutating func encryptionFailed() {
        if offered != nil { events.append(.encrypted(false)) }
    }

    /// Takes over the security that the kernel reports.
    mutating func found(_ security: LinkSecurity) { note(security) }

    private mutating func unencrypted() {
        (earlyKeySize, used) = (nil, nil)
        events.append(.served(servedSecurity))
        note(.none)
    }

    private mutating func note(_ security: LinkSecurity, hasNewKey: Bool = false) {
        guard security != self.security || hasNewKey else { return }
        self.security = security
        earlyKeySize = nil
        events.append(.served(servedSecurity))
        if let bond, security.isBonded, !isRecognized {
            isRecognized = true
            events.append(.recognized(bond))
        }
        events.append(.security(security))
    }
}

// MARK: - Pairings

extension LinkProtection {
    /// Handles the bond that a pairing has made, which is to be kept if `isBonding`. `isTaken` returns whether there
    /// is already a bond with the identity of one. The kernel reports the keys of a legacy pairing one by one, and each
    /// produces the bond again. A peer that distributes no identity keeps the one of its bond. Without a bond,
    /// it can be recognized again only as a central that names its key, as in LE legacy pairing; otherwise its
    /// keys are for this link only.
    mutating func paired(_ bond: Bond, isBonding: Bool, isTaken: (Bond) -> Bool) {
        offered = nil
        var (bond, isBonding) = (bond, isBonding)
        // The peer is the same, whether it uses a private address now or not.
        if let known = self.bond, known.peer == bond.peer { bond.isIdentityClaimed = known.isIdentityClaimed }
        switch bond.peer.kind {
        case .public, .static: break
        case .resolvable, .nonResolvable, .reserved:
            if !isKernel, let known = self.bond {
                (bond.peer, bond.peerIdentityKey) = (known.peer, known.peerIdentityKey)
                bond.isIdentityClaimed = known.isIdentityClaimed
            } else if isBonding, role == .central || bond.strength.isSecureConnections {
                isBonding = false
                events.append(.bond(self.bond))
            }
        }
        // The identity is unproven: any peer could replace the bond of another one.
        let isOther = self.bond?.id != bond.id || isUnaskedRenewal(bond)
        let isClaim = isBonding && isOther && isTaken(bond)
        // The keys of an earlier claim are no longer used.
        if !isClaim || claim?.id != bond.id { refuseClaim() }
        guard isClaim else { return finish(bond, isBonding) }
        give(LinkSecurity(bond.strength, isBonded: false))
        let isNew = claim == nil
        claim = bond
        if isKernel { events.append(.askKernel) }
        events.append(.claimed(bond, isNew: isNew))
    }

    /// Returns whether the kernel has renewed the bond for a central that has not proven to have it, without
    /// asking the user: the kernel asks only in a pairing without authentication. Any device can use the
    /// central's address.
    private func isUnaskedRenewal(_ bond: Bond) -> Bool {
        isKernel && role == .peripheral && !isShown && bond.strength.isAuthenticated
    }

    /// Handles a question of the kernel in a pairing that the central has started: the key with which the
    /// link is encrypted next does not prove the central's identity.
    mutating func kernelPairs() {
        guard isKernel, role == .peripheral, !isShown else { return }
        given = .pairing
    }

    /// Handles the failure of that pairing: the link may still be encrypted with the key of the bond, if it
    /// is not encrypted yet.
    mutating func kernelPairingFailed() {
        guard isKernel, given == .pairing else { return }
        given = security == .none ? nil : .failed
    }

    /// Handles the user's answer to whether the peer may replace the bonded device.
    mutating func answered(_ isWanted: Bool, toClaimOf id: BondID) {
        guard let claim, claim.id == id else { return }
        guard isWanted else { return refuseClaim() }
        self.claim = nil
        finish(claim, true)
    }

    /// Refuses a claim of another device's identity: the user has refused it, or the peer pairs once more.
    mutating func refuseClaim() {
        guard let claim = claim.take() else { return }
        let error = BLEError.pairing(.local(.unspecifiedReason))
        events.append(.claimRefused(claim))
        guard isKernel else { return settle(claim, isBonded: staysBonded, error) }
        events += [.raised(error), .end(error)]
    }

    /// Notes that the store has saved the bond.
    mutating func kept(_ bond: Bond) {
        take(bond)
        settle(bond, isBonded: true, nil)
    }

    /// Handles a bond that the store has not accepted.
    mutating func notKept(_ bond: Bond, _ error: BLEError) {
        guard isKernel else { return settle(bond, isBonded: false, error) }
        events.append(.giveUp(bond, error))
    }

    /// Handles the failure of a pairing.
    mutating func pairingFailed(_ error: BLEError) {
        refuseClaim()
        offered = nil
        earlyKeySize = nil
        if given == .pairing { given = .failed }
        events += [.served(servedSecurity), .raised(error)]
    }

    /// A pairing without bonding leaves the bond of a link of this host as it is. On a link of the kernel,
    /// the kernel then has the keys of that pairing instead of the bond's.
    private var staysBonded: Bool { !isKernel && security.isBonded && bond != nil }

    private mutating func finish(_ bond: Bond, _ isBonding: Bool) {
        if isBonding {
            events.append(.keep(bond))
        } else {
            settle(bond, isBonded: staysBonded, nil)
        }
    }

    private mutating func settle(_ bond: Bond, isBonded: Bool, _ error: BLEError?) {
        let security = LinkSecurity(bond.strength, isBonded: isBonded)
        give(security)
        if isKernel {
            events.append(.askKernel)
        } else if let used, !used.isBond {
            note(security, hasNewKey: true)
        }
        events.append(.raised(error))
    }

    /// Records the security of a pairing's key, unless the controller was given a bond's key since.
    private mutating func give(_ security: LinkSecurity) {
        if given?.isBond != true { given = .paired(security) }
    }
}

// MARK: - Bonds

extension LinkProtection {
    /// Updates the bond with the peer after bonds were added, removed or changed. The encryption stays as it
    /// is until its next change.
    mutating func renew(_ bond: Bond?) {
        guard bond != self.bond, self.bond != nil || !isUnproven else { return }
        take(bond)
    }

    /// Withholds the bond, because the kernel may encrypt the link with another key, which would not prove
    /// the peer's identity.
    mutating func withhold() {
        guard !isRecognized || bond == nil else { return }
        isUnproven = true
        if bond != nil { take(nil) }
    }

    /// Removes the bond from the link, because the peer is not the bond's device.
    mutating func dropBond() { take(nil) }

    private mutating func take(_ bond: Bond?) {
        self.bond = bond
        isBondLost = false
        events += [.bond(bond), .served(servedSecurity)]
    }
}

extension LinkSecurity {
    /// Creates the security of a link that is encrypted with a key from a pairing.
    init(_ strength: PairingStrength, isBonded: Bool) {
        let level: SecurityLevel =
            switch (strength.isAuthenticated, strength.isSecureConnections) {
            case (true, true): .secureConnections
            case (true, false): .authenticated
            case (false, _): .encrypted
            }
        self.init(level: level, keySize: strength.keySize, isBonded: isBonded)
    }

    /// Returns whether the link reaches this level.
    func reaches(_ wanted: SecurityLevel) -> Bool { level >= wanted && hasKey(for: wanted) }

    /// The highest level that the link reaches, with the length of its key.
    package var reached: SecurityLevel { SecurityLevel.allCases.last(where: reaches) ?? .open }

    /// Level 4 requires a key of full length (Core Specification 5.4, Vol 3, Part C, 10.2.1, level 4).
    private func hasKey(for wanted: SecurityLevel) -> Bool { wanted < .secureConnections || keySize == 16 }
}

extension PairingRequirements {
    /// Creates the requirements of this level for a pairing.
    init(_ level: SecurityLevel) {
        self.init(isAuthenticated: level >= .authenticated, isSecureConnections: level >= .secureConnections)
    }
}

extension PairingStrength {
    /// Returns whether a link that is encrypted with such a key reaches this level.
    func reaches(_ level: SecurityLevel) -> Bool {
        LinkSecurity(self, isBonded: true).reaches(level)
    }
}
