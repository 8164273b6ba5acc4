import BLECore
import DequeModule
import GATTServer
import HCISocket
import SMP

/// What a link is worth that is encrypted with a key. It is noted when the controller is given the key: other events
/// may come before the one that reports the encryption.
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
/// protection.paired(bond, isBonding: true, isTaken: false)
/// while let event = protection.nextEvent() { handle(event) }
/// ```
struct LinkProtection: Sendable {
    enum Event: Hashable, Sendable {
        /// Pairings and signatures of the peer go by that bond from now on.
        case bond(Bond?)
        /// The server goes by this from now on.
        case served(LinkSecurity)
        /// The peer has shown that it is the bond's device: what is kept of it holds again.
        case recognized(Bond)
        /// The link's security has changed, or its key.
        case security(LinkSecurity)
        /// The kernel is to be asked what the link is worth.
        case askKernel
        /// The pairing goes on, or ends, by this.
        case encrypted(Bool)
        /// The user is to be asked whether the peer may take the place of the device that has this bond's name; if not
        /// `isNew`, is being asked already.
        case claimed(Bond, isNew: Bool)
        case claimRefused(Bond)
        /// The bond is to be stored; `kept` or `notKept` follows.
        case keep(Bond)
        /// The kernel is to lose the keys that a pairing has made, and who waits for them learns why.
        case giveUp(Bond, BLEError)
        /// Ends the waits for more security: nil, the link has it; otherwise why it does not.
        case raised(BLEError?)
        /// The link can be used no more.
        case end(BLEError)
        /// The adapter has to act on the peripheral's security request.
        case answerSecurityRequest
    }

    /// How a link becomes as safe as is wanted.
    enum Way: Hashable, Sendable {
        /// The link is as safe as is wanted.
        case reached
        /// With the key of its bond.
        case encryption(LongTermKey, Bond)
        case pairing
        /// With the key of its bond, which the peer has lost.
        case lost
    }

    /// What a peripheral asks its central for.
    enum SecurityStep: Hashable, Sendable {
        /// Another session key for a link that is as safe as it requires (Core Specification 5.4, Vol 3, Part
        /// H, 2.4.6).
        case refresh
        case security(SecurityLevel)
    }

    /// What the encryption is worth.
    private(set) var security = LinkSecurity.none
    /// What an earlier pairing with the peer has left.
    private(set) var bond: Bond?
    /// What a pairing has made with a peer that says that it is another one, whose bond it would replace.
    private(set) var claim: Bond?
    /// Whether the peer has no key for the bond any more: it has refused to encrypt.
    private(set) var isBondLost = false
    /// Whether what was remembered of the peer holds again.
    private(set) var isRecognized = false

    private let role: LinkRole
    private let isKernel: Bool
    /// Whether the kernel may encrypt the link with a key that another device has made in the name of a
    /// bonded one. So it has no bond until one is made on it.
    private var isUnproven = false
    /// The octets of the key of a pairing that has not ended, with which a link that was open before is encrypted.
    private var earlyKeySize: Int?
    /// The key of a pairing that is under way.
    private var offered: LongTermKey?
    /// The key that the controller was given last.
    private var given: GivenKey?
    /// What that was when the link was encrypted last; nil while it is not encrypted.
    private var used: GivenKey?
    /// The security that the peripheral has asked for and that is not seen to yet.
    private var requested: SecurityLevel?
    private var isFulfilling = false
    private var events = Deque<Event>()

    /// `bond`: the one with the peer. `isKernel`: the kernel encrypts the link, and pairs.
    init(as role: LinkRole, isKernel: Bool, bond: Bond?) {
        self.role = role
        self.isKernel = isKernel
        self.bond = bond
    }

    mutating func nextEvent() -> Event? { events.popFirst() }

    /// Whether a link that is encrypted is so with the key of the bond. A kernel that does not say so has no other one,
    /// unless it pairs on the link, or has paired.
    var isBonded: Bool {
        switch given {
        case .pairing?, .failed?: false
        case .paired(let security)? where !security.isBonded: false
        default: bond != nil
        }
    }

    /// Whether the peer has shown that it is the bond's device, or has made the bond on this link.
    private var isShown: Bool {
        if case .paired(let security)? = given, security.isBonded { return true }
        return isRecognized
    }

    /// What the server goes by: a central that has a key for its link need only encrypt it, and is refused with
    /// Insufficient Encryption (Core Specification 5.4, Vol 3, Part C, 10.3.1).
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
    /// The bond whose key this host, as central, encrypts the link with.
    var ownKey: (key: LongTermKey, bond: Bond)? {
        guard role == .central, let bond, let key = bond.centralKey else { return nil }
        return (key, bond)
    }

    /// A bond that is not strong enough has its turn, too: only a peer that still has it may replace it by pairing.
    func way(to level: SecurityLevel) -> Way {
        if security.reaches(level) { return .reached }
        guard let (key, bond) = ownKey else { return .pairing }
        if isBondLost { return .lost }
        return bond.strength.reaches(level) || !security.isBonded ? .encryption(key, bond) : .pairing
    }

    /// Handles a peripheral's request for security. It gets it by the bond's key, else, where
    /// `raisesSecurity`, by a pairing. False when it does not get it.
    mutating func wanted(_ level: SecurityLevel, raisesSecurity: Bool) -> Bool {
        guard raisesSecurity || bond?.strength.reaches(level) ?? false else { return false }
        requested = max(level, requested ?? level)
        guard !isFulfilling else { return true }
        isFulfilling = true
        events.append(.answerSecurityRequest)
        return true
    }

    /// What to do next; nil when nothing is left. All requests of the peripheral that come meanwhile count as one.
    mutating func nextSecurityStep() -> SecurityStep? {
        guard let level = requested.take() else {
            isFulfilling = false
            return nil
        }
        return security.isBonded && security.reaches(level) ? .refresh : .security(level)
    }

    /// What was seen to has failed: what was asked for meanwhile would fail as well.
    mutating func securityStepFailed() { requested = nil }
}

// MARK: - Keys

extension LinkProtection {
    /// A pairing has a key for the link.
    mutating func offer(_ key: LongTermKey) { offered = key }

    /// Records that the controller is about to be given a key of this host; false if the
    /// key is of a pairing that has ended.
    mutating func give(_ key: LongTermKey, of owner: GivenKey) -> Bool {
        if owner == .pairing, offered != key { return false }
        given = owner
        return true
    }

    /// The key that the central has named, which the controller is given next: while devices pair, that of the pairing,
    /// which has no name (Core Specification 5.4, Vol 3, Part H, 2.4.4.1), and no other; else that of the
    /// bond with the peer, or with one whose address identifies no bond and that names its key (2.4.4.2).
    mutating func key(
        named ediv: UInt16, _ random: UInt64, orOf stranger: () -> Bond?
    ) -> LongTermKey? {
        if let offered {
            guard ediv == 0, random == 0 else { return nil }
            given = .pairing
            return offered
        }
        guard let bond = bond ?? stranger(), let key = bond.peripheralKey, key.ediv == ediv,
            key.random == random
        else { return nil }
        given = .bond(bond)
        return key
    }

    /// The peer has not the key that this host has wanted to encrypt with.
    mutating func keyMissing(_ owner: GivenKey) {
        guard let bond, owner == .bond(bond) else { return }
        bondLost()
    }

    /// The peer has lost the bond.
    mutating func bondLost() {
        guard bond != nil else { return }
        isBondLost = true
        events.append(.served(servedSecurity))
    }

    /// The link is encrypted, with another key than before if `isRefresh`, or is not encrypted any more.
    /// `isPairing`: there is a pairing. `isKept`: whether a bond is still that with its device: it may have
    /// been removed, or replaced, since the controller was given its key.
    mutating func encryptionChanged(isOn: Bool, isRefresh: Bool, isPairing: Bool, isKept: (Bond) -> Bool) {
        // A pairing goes on under its own key only.
        if !isOn || given == .pairing || !isPairing { events.append(.encrypted(isOn)) }
        guard isOn else { return unencrypted() }
        used = given ?? .failed
        switch given {
        // The end of the pairing decides what that is worth. Until then, what needs only encryption is served, and a
        // link that pairs anew keeps its security.
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
            // The bond that it has made may have been removed.
            security.isBonded = security.isBonded && self.bond != nil
            note(security, hasNewKey: isRefresh)
        case .bond(let bond)?:
            let isKept = isKept(bond)
            // The peer has shown that it is that device.
            if isKept, self.bond?.id != bond.id { take(bond) }
            note(LinkSecurity(bond.strength, isBonded: isKept), hasNewKey: isRefresh)
        case nil: note(LinkSecurity(level: .encrypted), hasNewKey: isRefresh)
        }
        // A central may then do what its peripheral has requested.
        if !isPairing { events.append(.raised(nil)) }
    }

    /// The controller could not encrypt the link.
    mutating func encryptionFailed() {
        if offered != nil { events.append(.encrypted(false)) }
    }

    /// The kernel says what the link is worth.
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
    /// A pairing has made a bond, which is worth keeping if `isBonding`. `isTaken`: a device of that identity has a
    /// bond, or says so. The kernel reports the keys of a legacy pairing one by one, and each makes the bond anew.
    mutating func paired(_ bond: Bond, isBonding: Bool, isTaken: Bool) {
        offered = nil
        // The identity is unproven: any peer could replace the bond of another one.
        let isOther = self.bond?.id != bond.id || isUnaskedRenewal(bond)
        let isClaim = isBonding && isTaken && isOther
        // Its keys are used no more.
        if !isClaim || claim?.id != bond.id { refuseClaim() }
        guard isClaim else { return finish(bond, isBonding) }
        give(LinkSecurity(bond.strength, isBonded: false))
        let isNew = claim == nil
        claim = bond
        if isKernel { events.append(.askKernel) }
        events.append(.claimed(bond, isNew: isNew))
    }

    /// Whether the kernel has renewed the bond for a central that has not shown to have it, and has not asked the user
    /// whether the central may do so: it asks only in a pairing without authentication. Any device can have the address.
    private func isUnaskedRenewal(_ bond: Bond) -> Bool {
        isKernel && role == .peripheral && !isShown && bond.strength.isAuthenticated
    }

    /// The kernel has a question in a pairing that the central has begun: the key that the link is encrypted with next
    /// does not show who the central is.
    mutating func kernelPairs() {
        guard isKernel, role == .peripheral, !isShown else { return }
        given = .pairing
    }

    /// That pairing has failed: the link may still be encrypted with the key of the bond, if it is not encrypted yet.
    mutating func kernelPairingFailed() {
        guard isKernel, given == .pairing else { return }
        given = security == .none ? nil : .failed
    }

    /// The user has said whether the peer may take that device's place.
    mutating func answered(_ isWanted: Bool, toClaimOf id: BondID) {
        guard let claim, claim.id == id else { return }
        guard isWanted else { return refuseClaim() }
        self.claim = nil
        finish(claim, true)
    }

    /// The peer does not take another device's place: the user has refused, or it pairs once more.
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

    /// The store does not take the bond.
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

    /// A pairing's key is worth that. The controller may have been given a bond's since.
    private mutating func give(_ security: LinkSecurity) {
        if given?.isBond != true { given = .paired(security) }
    }
}

// MARK: - Bonds

extension LinkProtection {
    /// Bonds have come, gone or other keys: this is the one with the peer now. The encryption stays as it is until the
    /// next change of that.
    mutating func renew(_ bond: Bond?) {
        guard bond != self.bond, self.bond != nil || !isUnproven else { return }
        take(bond)
    }

    /// The kernel may encrypt the link with another key than the bond's, which would not show who the peer is.
    mutating func withhold() {
        guard !isRecognized || bond == nil else { return }
        isUnproven = true
        if bond != nil { take(nil) }
    }

    private mutating func take(_ bond: Bond?) {
        self.bond = bond
        isBondLost = false
        events += [.bond(bond), .served(servedSecurity)]
    }
}

extension LinkSecurity {
    /// The worth of a link that is encrypted with a key from a pairing.
    init(_ strength: PairingStrength, isBonded: Bool) {
        let level: SecurityLevel =
            switch (strength.isAuthenticated, strength.isSecureConnections) {
            case (true, true): .secureConnections
            case (true, false): .authenticated
            case (false, _): .encrypted
            }
        self.init(level: level, keySize: strength.keySize, isBonded: isBonded)
    }

    /// Whether the link is as safe as that.
    func reaches(_ wanted: SecurityLevel) -> Bool { level >= wanted && hasKey(for: wanted) }

    /// The highest level that the link reaches, with the length of its key.
    package var reached: SecurityLevel { SecurityLevel.allCases.last(where: reaches) ?? .open }

    /// Level 4 requires a key of full length (Core Specification 5.4, Vol 3, Part C, 10.2.1, level 4).
    private func hasKey(for wanted: SecurityLevel) -> Bool { wanted < .secureConnections || keySize == 16 }
}

extension PairingRequirements {
    /// What a pairing has to come to for that level.
    init(_ level: SecurityLevel) {
        self.init(isAuthenticated: level >= .authenticated, isSecureConnections: level >= .secureConnections)
    }
}

extension PairingStrength {
    /// Whether a link that is encrypted with such a key is as safe as that.
    func reaches(_ level: SecurityLevel) -> Bool {
        LinkSecurity(self, isBonded: true).reaches(level)
    }
}
