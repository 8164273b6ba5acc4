import BLECore
import GATTServer
import SMP

@testable import BLE

/// The protection of a link of the kernel, with a kernel, a peer, a store and a user whose actions a test
/// determines.
struct PlayedKernelProtection {
    /// An event that a test plays.
    enum Step: CaseIterable {
        /// The kernel encrypts the link with the key that it has for the peer.
        case on
        /// A pairing on the link ends with a bond, without one, or with a bond of a device that has one already.
        case bonded, paired, claims
        /// A pairing with a question of the kernel encrypts the link, and ends with an authenticated bond.
        case authenticates
        /// The kernel reports one more key of the pairing, which produces the bond again.
        case secondKey
        /// The user answers the claim.
        case yes, no
        /// Another process has paired with a device that uses the bonded identity: the kernel has that key.
        case foreign
        /// The kernel has the keys of all bonds again.
        case loaded
        /// Another process removes the bond, or that of the device whose identity is claimed.
        case removed, strangerRemoved
        /// The link's security is read from the kernel.
        case asked
    }

    private(set) var protection: LinkProtection
    private(set) var faults: [String] = []
    private(set) var isEnded = false
    private let role: LinkRole
    private let storeRefuses: Bool
    private var store: [BondID: Bond] = [:]
    /// Every bond that the store has had.
    private var stored: Set<Bond> = []
    /// The key that the kernel has for the peer, and the one that the link is encrypted with.
    private var (held, used): (Bond?, Bond?)
    /// The last bond from a pairing on the link, and the step that produced it.
    private var made: (bond: Bond, step: Step)?
    private var isDistrusted = false
    private var claim: BondID?
    private var isGranted = false
    private var keys: UInt128 = 100
    private var served: LinkSecurity
    private var shown = LinkSecurity.none
    private var raised: [BLEError?] = []
    private var recognized = 0

    init(as role: LinkRole, isBonded: Bool, storeRefuses: Bool) {
        (self.role, self.storeRefuses) = (role, storeRefuses)
        let bond = isBonded ? PlayedProtection.bond(key: 1) : nil
        for bond in [bond, PlayedProtection.bond(with: PlayedProtection.stranger, key: 2)].compactMap(\.self)
        {
            store[bond.id] = bond
            stored.insert(bond)
        }
        held = bond
        protection = LinkProtection(as: role, isKernel: true, bond: bond)
        served = protection.servedSecurity
    }

    /// Plays a step. Returns false when it cannot occur now.
    mutating func take(_ step: Step) -> Bool {
        guard !isEnded else { return false }
        raised = []
        switch step {
        case .on:
            guard let held, used == nil else { return false }
            used = held
            protection.found(worth)
        case .bonded, .paired, .claims: pair(step)
        case .authenticates:
            protection.kernelPairs()
            pair(step)
        case .secondKey:
            guard let made else { return false }
            pair(made.step)
        case .yes, .no: guard answer(step == .yes) else { return false }
        case .foreign:
            guard let bond = store[lamp], claim == nil else { return false }
            keys += 1
            held = PlayedProtection.bond(with: bond.peer, key: keys)
            distrust()
        case .loaded:
            guard isDistrusted else { return false }
            isDistrusted = false
            held = store[lamp]
        case .removed:
            guard let bond = protection.bond, claim == nil else { return false }
            store[bond.id] = nil
            held = nil
            protection.renew(nil)
        case .strangerRemoved:
            guard protection.bond?.id != stranger, store.removeValue(forKey: stranger) != nil else {
                return false
            }
        case .asked: protection.found(worth)
        }
        takeEvents()
        look(after: step)
        return true
    }

    private let lamp = PlayedProtection.bond(key: 1).id
    private let stranger = PlayedProtection.bond(with: PlayedProtection.stranger, key: 2).id

    /// The security that the kernel reports for the link.
    private var worth: LinkSecurity {
        used.map { LinkSecurity($0.strength, isBonded: protection.isBonded) } ?? .none
    }

    /// Withholds the bond, because the kernel has another key than the bond's.
    private mutating func distrust() {
        isDistrusted = true
        if protection.bond ?? store[lamp] != nil { protection.withhold() }
    }

    private mutating func pair(_ step: Step) {
        keys += 1
        let peer = step == .claims ? PlayedProtection.stranger : PlayedProtection.lamp
        let bond = PlayedProtection.bond(with: peer, key: keys, isAuthenticated: step == .authenticates)
        (held, used, made) = (bond, bond, (bond, step))
        let isTaken = store[bond.id] != nil
        // The kernel asks about the renewal of a bond only in a pairing without authentication.
        let isAsked = role == .central || step != .authenticates || recognized > 0
        let hasShown = protection.bond?.id == bond.id && isAsked
        if step == .authenticates, role == .peripheral {
            protection.found(worth)
            takeEvents()
            if shown.isBonded, recognized == 0 { faults.append("bonded by a pairing under way") }
        }
        let isBonding = step != .paired
        let wasClaim = claim
        claim = isBonding && isTaken && !hasShown ? bond.id : nil
        let isRefusal = wasClaim != nil && wasClaim != claim
        protection.paired(bond, isBonding: isBonding, isTaken: { _ in isTaken })
        takeEvents()
        // The kernel now has the key of a pairing without bonding in place of the bond's.
        if isTaken, !isBonding { distrust() }
        let isRefused = isBonding && storeRefuses && claim == nil
        let answers = (isRefusal ? [Self.refusal] : []) + (claim == nil && !isRefused ? [nil] : [])
        if raised != answers { faults.append("reported of a pairing: \(raised)") }
        if isEnded != (isRefused || isRefusal) { faults.append("ended: \(isEnded)") }
    }

    private mutating func answer(_ isWanted: Bool) -> Bool {
        guard let claim else { return false }
        isGranted = isWanted
        self.claim = nil
        protection.answered(isWanted, toClaimOf: claim)
        takeEvents()
        isGranted = false
        if isWanted, !storeRefuses, raised != [nil] { faults.append("reported of a claim: \(raised)") }
        if !isWanted, raised != [Self.refusal] { faults.append("reported of a refused claim: \(raised)") }
        // After a claim that is refused or cannot be stored, the kernel has the keys of the claiming device, so
        // the link ends.
        if isEnded != (!isWanted || storeRefuses) { faults.append("ended: \(isEnded)") }
        return true
    }

    private static let refusal = BLEError.pairing(.local(.unspecifiedReason))

    private mutating func takeEvents() {
        while let event = protection.nextEvent() {
            switch event {
            case .bond(let bond): if bond != protection.bond { faults.append("\(event)") }
            case .served(let security): served = security
            case .recognized(let bond):
                recognized += 1
                if store[bond.id] == nil { faults.append("recognized: \(bond)") }
            case .security(let security): shown = security
            case .askKernel: protection.found(worth)
            case .claimed(let bond, _): if bond.id != claim { faults.append("claimed: \(bond)") }
            case .claimRefused: break
            case .keep(let bond):
                if store[bond.id] != nil, protection.bond?.id != bond.id, !isGranted {
                    faults.append("another one's bond")
                }
                if storeRefuses {
                    protection.notKept(bond, .cancelled)
                } else {
                    store[bond.id] = bond
                    stored.insert(bond)
                    protection.kept(bond)
                }
            case .raised(let error): raised.append(error)
            case .giveUp, .end: isEnded = true
            case .encrypted, .answerSecurityRequest: faults.append("\(event)")
            }
        }
    }

    private mutating func look(after step: Step) {
        guard !isEnded else { return }
        if shown != protection.security { faults.append("\(shown) reported") }
        if served != protection.servedSecurity { faults.append("\(served) served") }
        guard let used else { return }
        if step == .asked || step == .on, shown.level == .open { faults.append("encryption is not reported") }
        if shown.isBonded, !stored.contains(used) { faults.append("bonded with a key that no bond has") }
        if [.bonded, .authenticates, .yes].contains(step), claim == nil, !shown.isBonded {
            faults.append("not bonded")
        }
        if step == .paired, shown.isBonded { faults.append("bonded without a bond") }
        if recognized > 1 { faults.append("recognized twice") }
        if shown.isBonded, recognized == 0 { faults.append("not recognized") }
        if protection.claim?.id != claim { faults.append("the claim") }
    }
}
