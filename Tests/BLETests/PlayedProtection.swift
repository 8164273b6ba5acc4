import BLECore
import GATTServer
import SMP

@testable import BLE

/// The protection of a link of this host, with a controller, a peer, a store and a user whose actions a test
/// determines.
struct PlayedProtection {
    /// An event that a test plays.
    enum Step: CaseIterable {
        case pair
        /// The pairing has a key.
        case offer
        /// The controller is given the pairing's key.
        case usePairing
        /// The controller is given the bond's key.
        case useBond
        /// The central names the key of a bonded device that its address does not identify.
        case useStrangersBond
        /// The link is encrypted with the key that the controller has.
        case on
        case off
        case refused
        /// The pairing ends with a bond, without one, or with a bond of a device that has one already.
        case bonded, paired, claims
        case fails
        /// The user answers the claim.
        case yes, no
        /// Another process removes the bond, or replaces it.
        case removed, replaced
    }

    private enum Key: Hashable {
        case pairing(Int)
        case bond(Bond)
    }

    /// The outcome of a pairing.
    private enum End: Hashable {
        case failed
        case paired(LinkSecurity)
    }

    private(set) var protection: LinkProtection
    private(set) var faults: [String] = []
    private(set) var isEnded = false
    private let role: LinkRole
    private let storeRefuses: Bool
    private var store: [BondID: Bond] = [:]
    private var served: LinkSecurity
    private var shown = LinkSecurity.none
    /// The security that the link is expected to have.
    private var worth = LinkSecurity.none
    /// The key that the controller has, and the one that the link is encrypted with.
    private var (held, used): (Key?, Key?)
    private var pairings = 0
    private var (isPairing, offered): (Bool, LongTermKey?) = (false, nil)
    private var ends: [Int: End] = [:]
    private var claim: (bond: Bond, pairing: Int)?
    private var isGranted = false
    /// The results for callers that wait for security.
    private var raised: [BLEError?] = []
    private var recognized: [Bond] = []

    static let local = DeviceAddress(0xc000_0000_0001, type: .random)
    static let lamp = DeviceAddress(0xc000_0000_0002, type: .random)
    static let stranger = DeviceAddress(0xc000_0000_0003, type: .random)

    static func bond(
        with peer: DeviceAddress = lamp, key: UInt128, isAuthenticated: Bool = false, name: UInt16 = 0
    ) -> Bond {
        var bond = Bond(
            with: peer, as: local,
            PairingStrength(isAuthenticated: isAuthenticated, isSecureConnections: true))
        bond.centralKey = LongTermKey(key, ediv: name)
        bond.peripheralKey = bond.centralKey
        return bond
    }

    init(as role: LinkRole, isBonded: Bool, storeRefuses: Bool) {
        (self.role, self.storeRefuses) = (role, storeRefuses)
        let bond = isBonded ? Self.bond(key: 1) : nil
        let strangersBond = Self.bond(with: Self.stranger, key: 2, name: 7)
        store[strangersBond.id] = strangersBond
        if let bond { store[bond.id] = bond }
        protection = LinkProtection(as: role, isKernel: false, bond: bond)
        served = protection.servedSecurity
    }

    /// Plays a step. Returns false when it cannot occur now.
    mutating func take(_ step: Step) -> Bool {
        guard !isEnded else { return false }
        raised = []
        switch step {
        case .pair:
            guard !isPairing else { return false }
            protection.refuseClaim()
            pairings += 1
            (isPairing, offered) = (true, nil)
        case .offer:
            guard isPairing, offered == nil else { return false }
            let key = LongTermKey(UInt128(100 + pairings))
            offered = key
            protection.offer(key)
        case .usePairing: guard usePairing() else { return false }
        case .useBond: guard useBond() else { return false }
        case .useStrangersBond: guard useStrangersBond() else { return false }
        case .on: guard encrypt() else { return false }
        case .off:
            guard used != nil else { return false }
            (used, worth) = (nil, .none)
            change(isOn: false)
        case .refused:
            guard held != nil else { return false }
            refuse()
        case .bonded, .paired, .claims: guard pair(step) else { return false }
        case .fails:
            guard isPairing else { return false }
            fail()
        case .yes, .no: guard answer(step == .yes) else { return false }
        case .removed, .replaced:
            guard let bond = protection.bond else { return false }
            store[bond.id] = step == .removed ? nil : Self.bond(with: bond.peer, key: 3)
            protection.renew(store[bond.id])
        }
        takeEvents()
        look()
        return true
    }
}

// MARK: - Steps

extension PlayedProtection {
    private mutating func usePairing() -> Bool {
        guard role == .central else {
            // The key of every pairing has EDIV and Rand zero.
            let key = protection.key(named: 0, 0) { nil }
            if isPairing, let offered {
                if key != offered { faults.append("the pairing's key is not given") }
                held = .pairing(pairings)
                return true
            }
            if let key {
                // The key of a bond from LE Secure Connections has zeros, too.
                guard key == protection.bond?.peripheralKey else {
                    faults.append("the key of no pairing")
                    return false
                }
                held = protection.bond.map { .bond($0) }
                return true
            }
            return false
        }
        let isRight = isPairing && offered != nil
        guard pairings > 0 else { return false }
        let given = protection.give(LongTermKey(UInt128(100 + pairings)), of: .pairing)
        if given != isRight { faults.append("the key of a pairing that is over") }
        if given { held = .pairing(pairings) }
        return given
    }

    private mutating func useBond() -> Bool {
        guard role == .central, let (key, bond) = protection.ownKey else { return false }
        if !protection.give(key, of: .bond(bond)) { faults.append("the bond's key is not given") }
        held = .bond(bond)
        return true
    }

    private mutating func useStrangersBond() -> Bool {
        guard role == .peripheral else { return false }
        let bond = store.values.first { $0.peripheralKey?.ediv == 7 }
        let key = protection.key(named: 7, 0) { bond }
        if isPairing, offered != nil, key != nil { faults.append("a bond's key in a pairing") }
        guard let key else { return false }
        guard
            let owner = [protection.bond, bond].compactMap(\.self).first(where: { $0.peripheralKey == key })
        else {
            faults.append("a key that no bond has")
            return false
        }
        held = .bond(owner)
        return true
    }

    private mutating func encrypt() -> Bool {
        guard let held else { return false }
        used = held
        switch held {
        case .pairing(let number):
            switch ends[number] {
            case nil: break
            case .failed?: (worth, isEnded) = (.none, true)
            case .paired(let security)?:
                worth = security
                worth.isBonded = security.isBonded && protection.bond != nil
            }
        case .bond(let bond):
            worth = LinkSecurity(bond.strength, isBonded: store[bond.id] == bond)
        }
        change(isOn: true)
        return true
    }

    private mutating func change(isOn: Bool) {
        let wasEnded = isEnded
        isEnded = false
        let store = store
        protection.encryptionChanged(
            isOn: isOn, isRefresh: false, isPairing: isPairing, isKept: { store[$0.id] == $0 })
        takeEvents()
        if isEnded != wasEnded { faults.append("the link of a failed pairing") }
    }

    private mutating func refuse() {
        if case .bond(let bond)? = held {
            let isOwn = bond == protection.bond
            protection.keyMissing(of: bond)
            if isOwn, !protection.isBondLost { faults.append("the bond is lost") }
            if isOwn, case .encryption = protection.way(to: .encrypted) {
                faults.append("a lost bond is used")
            }
        } else {
            let wasLost = protection.isBondLost
            protection.encryptionFailed()
            if protection.isBondLost != wasLost { faults.append("a bond lost by a pairing") }
        }
        held = nil
    }

    private mutating func pair(_ step: Step) -> Bool {
        guard isPairing, offered != nil, used == .pairing(pairings) else { return false }
        isPairing = false
        offered = nil
        let peer = step == .claims ? Self.stranger : Self.lamp
        let bond = Self.bond(with: peer, key: UInt128(100 + pairings))
        let hasShown = protection.bond?.id == bond.id
        let isTaken = store[bond.id] != nil
        if step != .paired, isTaken, !hasShown {
            claim = (bond, pairings)
            ends[pairings] = .paired(LinkSecurity(bond.strength, isBonded: false))
        } else {
            end(pairings, bond, isBonding: step != .paired)
        }
        protection.paired(bond, isBonding: step != .paired, isTaken: { _ in isTaken })
        takeEvents()
        if raised != (claim == nil ? [step != .paired && storeRefuses ? .cancelled : nil] : []) {
            faults.append("reported of a pairing: \(raised)")
        }
        return true
    }

    /// Records that a pairing has ended with this bond.
    private mutating func end(_ pairing: Int, _ bond: Bond, isBonding: Bool) {
        let isKept = isBonding ? !storeRefuses : worth.isBonded && protection.bond != nil
        let security = LinkSecurity(bond.strength, isBonded: isKept)
        ends[pairing] = .paired(security)
        if used == .pairing(pairing) { worth = security }
    }

    private mutating func fail() {
        (isPairing, offered) = (false, nil)
        if case .pairing(pairings)? = held { ends[pairings] = .failed }
        protection.pairingFailed(.pairing(.timeout))
        takeEvents()
        if raised.last != .pairing(.timeout) { faults.append("the failure is not reported") }
    }

    private mutating func answer(_ isWanted: Bool) -> Bool {
        guard let claim, !isPairing else { return false }
        isGranted = isWanted
        // An answer to a claim of another bond has no effect.
        protection.answered(true, toClaimOf: Self.bond(key: 1).id)
        if isWanted {
            self.claim = nil
            end(claim.pairing, claim.bond, isBonding: true)
        }
        protection.answered(isWanted, toClaimOf: claim.bond.id)
        takeEvents()
        isGranted = false
        let answer: BLEError? = isWanted ? (storeRefuses ? .cancelled : nil) : Self.refusal
        if raised != [answer] { faults.append("reported of a claim: \(raised)") }
        return true
    }

    private static let refusal = BLEError.pairing(.local(.unspecifiedReason))
}

// MARK: - Events of the protection

extension PlayedProtection {
    private mutating func takeEvents() {
        while let event = protection.nextEvent() {
            switch event {
            case .bond(let bond): if bond != protection.bond { faults.append("\(event)") }
            case .served(let security): served = security
            case .recognized(let bond):
                recognized.append(bond)
                if store[bond.id] != bond { faults.append("recognized: \(bond)") }
            case .security(let security): shown = security
            case .encrypted(let isOn):
                if isOn, isPairing, used != .pairing(pairings) { faults.append("another key's pairing") }
            case .claimed(let bond, let isNew):
                if !isNew || claim?.bond != bond { faults.append("claimed: \(bond)") }
            case .claimRefused(let bond):
                guard let refused = claim.take(), refused.bond == bond else {
                    faults.append("refused: \(bond)")
                    continue
                }
                end(refused.pairing, bond, isBonding: false)
            case .keep(let bond):
                // A device keeps its bond, unless the user agrees to its replacement.
                if store[bond.id] != nil, protection.bond?.id != bond.id, !isGranted {
                    faults.append("another one's bond")
                }
                if storeRefuses {
                    protection.notKept(bond, .cancelled)
                } else {
                    store[bond.id] = bond
                    protection.kept(bond)
                }
            case .raised(let error): raised.append(error)
            case .end: isEnded = true
            case .askKernel, .giveUp, .answerSecurityRequest: faults.append("\(event)")
            }
        }
    }

    private mutating func look() {
        if protection.security != worth { faults.append("\(protection.security) for \(worth)") }
        if shown != worth { faults.append("\(shown) reported for \(worth)") }
        if served != protection.servedSecurity { faults.append("\(served) served") }
        if isPairing, used == .pairing(pairings), served.level == .open {
            faults.append("what only wants encryption is not served")
        }
        if used == nil, served.level != .open { faults.append("served without encryption") }
        if recognized.count > 1 { faults.append("recognized twice") }
        if worth.isBonded, recognized.isEmpty { faults.append("not recognized") }
        if protection.claim != claim?.bond { faults.append("the claim") }
        if isPairing, claim != nil { faults.append("a claim beside a pairing") }
    }
}
