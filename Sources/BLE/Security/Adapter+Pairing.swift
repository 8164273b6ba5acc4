import BLECore
import GATT
import GATTServer
import HCI
import HCISocket
import Logging
import SMP

/// Pairing on links that this host encrypts itself. Either side can start it. The link's `SecurityManager`
/// carries it out: it asks the user through the delegate, and the controller for encryption.
extension Adapter {
    /// Creates the security manager of a new link.
    func securityManager(
        between addresses: AddressesOnAir, as role: LinkRole, _ bond: Bond?
    ) -> SecurityManager {
        var policy = security.options.policy(existing: bond?.strength)
        // A peer with the identity key expects private addresses, and may ignore others (Vol 6, Part B,
        // 6.1.4).
        if !radio.privacyOptions.isEnabled { policy.keysToSend.remove(.identity) }
        // A peer without a bond here must not keep one.
        if policy.isBonding, bond == nil, !security.options.bonds.hasRoom {
            log.warning("there is no room for more bonds: \(addresses.peer) can pair for its link only")
            policy.isBonding = false
        }
        var manager = SecurityManager(
            role: role, own: addresses.own, peer: addresses.peer,
            policy: policy, identity: localIdentity, random: common.random.split())
        if let fixed = policy.fixedPasskey {
            let failures = security.options.bonds.failures(with: fixed, at: identity)
            if failures > 0 { manager.passkeyFailures[fixed] = failures }
        }
        return manager
    }

    /// Whether the fixed passkey is not used any more, because too many pairings with it have failed.
    package var isFixedPasskeyRetired: Bool {
        guard let fixed = security.options.fixedPasskey else { return false }
        return security.options.bonds.failures(with: fixed, at: identity)
            >= SecurityManager.passkeyFailureLimit
    }

    /// Counts a link's failed pairings with the fixed passkey for all links, and for later runs.
    func shareFailures(of link: Link) {
        guard let fixed = security.options.fixedPasskey else { return }
        let number = (link.pairing.passkeyFailures[fixed] ?? 0) - link.sharedFailures
        guard number > 0 else { return }
        // What is added up is what has failed on this link since then: the owner may have cleared the count.
        let count = security.options.bonds.addFailures(number, with: fixed, at: identity)
        for other in links {
            (other.pairing.passkeyFailures[fixed], other.sharedFailures) = (count, count)
        }
        if count == SecurityManager.passkeyFailureLimit {
            log.warning(
                "\(count) pairings with the fixed passkey have failed: random passkeys are displayed now")
        }
    }

    /// Pairs, or as peripheral asks the central to pair or to encrypt. Returns when the link has reached
    /// `level`.
    func pair(_ link: Link, _ level: SecurityLevel) async throws(BLEError) {
        let id = link.id
        let callers = try callers(of: id)
        try await waits.wait(in: self) { () throws(BLEError) in
            let link = try self.link(id)
            link.protection.refuseClaim()
            protect(link)
            do throws(PairingImpossible) {
                try link.pairing.begin(PairingRequirements(level), at: loop.now)
            } catch {
                throw .cannotPair(error)
            }
            drain(link)
            pump(link)
            return .pending(.security(id))
        }
        guard link.security.reaches(level) else {
            throw .pairing(.local(.authenticationRequirements))
        }
        try await saveBond(of: link, callers)
    }

    /// Ends the pairing whose caller does not wait any more: no other caller has asked for it.
    func cancelPairing(on id: LinkID) {
        guard let link = links[id] else { return }
        link.pairing.cancel(at: loop.now)
        drain(link)
        pump(link)
    }

    /// Handles an event of a link's security manager.
    func handle(_ event: SecurityManager.Event, of link: Link) {
        let (delegate, peer) = (security.options.delegate, link.peer)
        switch event {
        case .securityRequested(let wanted): securityRequested(wanted, of: link)
        case .pairingRequested, .confirm:
            let replaced = link.security.isBonded ? nil : link.protection.bond
            guard security.options.acceptsPairing || event == .confirm else {
                return answer(.refuse(.pairingNotSupported), on: link.id)
            }
            ask(link) { [loop] in
                guard await !delegate.authorizePairing(with: peer, replacing: replaced) else {
                    return .accept
                }
                // A peer that asks again and again must not keep the user busy, or fill a log.
                _ = await loop.sleep(for: Self.pauseOfRefusal)
                return .refuse(.unspecifiedReason)
            }
        case .display(let passkey):
            ask(link) {
                await delegate.display(passkey, for: peer); return nil
            }
        case .enterPasskey:
            let id = link.id
            let keys = KeypressSender { [weak self] key in await self?.press(key, on: id) }
            ask(link) {
                await delegate.enterPasskey(for: peer, reportingTo: keys).map { .passkey($0) }
                    ?? .refuse(.passkeyEntryFailed)
            }
        case .compare(let passkey): ask(link) { .comparison(await delegate.compare(passkey, with: peer)) }
        case .outOfBandWanted: ask(link) { .outOfBand(await delegate.outOfBandData(of: peer)) }
        case .keypress(let key):
            Task(executorPreference: loop) { await delegate.peerPressed(key, peer: peer) }
        case .encrypt(let key): encrypt(link, with: key)
        case .provide(let key): link.protection.offer(key)
        case .paired(let bond, let isBonding):
            callers.links[link.id]?.endDialogue()
            link.protection.paired(bond, isBonding: isBonding, isTaken: isTaken)
            protect(link)
        case .failed(let failure):
            callers.links[link.id]?.endDialogue()
            log.info("pairing with \(peer) failed: \(failure)")
            shareFailures(of: link)
            link.protection.pairingFailed(.pairing(failure))
            protect(link)
            reportPairingFailure(.pairing(failure), of: link)
        case .refused(let code, let reason):
            log.info("\(peer) was refused its \(code): \(reason)")
            if code == .pairingRequest { reportPairingFailure(.pairing(.local(reason)), of: link) }
        }
    }

    /// Reports a pairing that a central has begun, and that was refused or has failed.
    func reportPairingFailure(_ error: BLEError, of link: Link) {
        if link.role == .peripheral { server.emit(.pairingFailed(Central(link), error)) }
    }

    /// The time from the user's refusal to its answer. Refusals count as no attempts, so nothing else makes a peer wait.
    private static let pauseOfRefusal = Duration.seconds(1)

    /// Asks the user a question, whose answer goes to the security manager. Cancels the question before.
    private func ask(_ link: Link, _ question: @escaping @Sendable () async -> PairingAnswer?) {
        let id = link.id
        link.protection.refuseClaim()
        protect(link)
        callers.links[id]?.ask(on: loop) { [weak self] in
            guard let answer = await question(), !Task.isCancelled else { return }
            await self?.answer(answer, on: id)
        }
    }

    private func answer(_ answer: PairingAnswer, on id: LinkID) {
        guard let link = links[id] else { return }
        link.pairing.answer(answer, at: loop.now)
        drain(link)
        pump(link)
    }

    /// Reports a key that the user has pressed while entering a passkey.
    private func press(_ key: KeypressNotification, on id: LinkID) {
        guard let link = links[id] else { return }
        link.pairing.press(key, at: loop.now)
        pump(link)
    }

    /// Handles a peripheral's request for security.
    private func securityRequested(_ wanted: AuthenticationRequirements, of link: Link) {
        guard link.role == .central else { return }
        // Without input and output, this host pairs without authentication: the peripheral decides whether
        // that suffices.
        let isAuthenticated = wanted.contains(.mitm) && link.pairing.canMeet(.authenticated)
        let level: SecurityLevel = isAuthenticated ? .authenticated : .encrypted
        guard link.protection.securityRequested(level, raisesSecurity: link.raisesSecurity) else {
            return answer(.refuse(.pairingNotSupported), on: link.id)
        }
        protect(link)
    }

    private func answerSecurityRequest(on id: LinkID) async {
        while let step = links[id]?.protection.nextSecurityStep() {
            do throws(BLEError) {
                switch step {
                case .refresh: try await refreshEncryption(of: id)
                case .security(let level): try await secure(id, level)
                }
            } catch {
                log.info("the security that the peripheral requests failed: \(error)")
                if case .cannotPair(let reason) = error { refuseSecurityRequest(reason, on: id) }
                links[id]?.protection.securityStepFailed()
            }
        }
    }

    /// Refuses a Security Request, unless no packet may be sent any more.
    private func refuseSecurityRequest(_ reason: PairingImpossible, on id: LinkID) {
        switch reason {
        case .timedOut, .busy: break
        case .repeatedAttempts: answer(.refuse(.repeatedAttempts), on: id)
        default: answer(.refuse(.authenticationRequirements), on: id)
        }
    }

    /// Encrypts a link with a key of the security manager.
    private func encrypt(_ link: Link, with key: LongTermKey) {
        link.protection.offer(key)
        link.procedures.ask(nextNumber(), for: .encryption, by: .encryption(key, .pairing))
        proceed(with: link)
    }
}

// MARK: - The security of links

extension Adapter {
    /// Handles the events of a link's protection.
    func protect(_ link: Link) {
        while let event = link.protection.nextEvent() {
            switch event {
            case .bond(let bond):
                link.pairing.policy.existing = bond?.strength
                // Without the peer's key its signatures cannot be checked any more.
                if bond?.peerSigningKey == nil { server.gatt.setSigningKey(nil, of: ClientID(link.id)) }
                checkSignatures(of: link)
            case .served(let security): server.gatt.setSecurity(security, of: ClientID(link.id))
            case .recognized(let bond): restore(bond, of: link)
            case .security(let security): emit(security, of: link)
            case .askKernel: noteSecurity(of: link)
            case .encrypted(let isOn): link.pairing.encryptionChanged(isOn: isOn, at: loop.now)
            case .claimed(let bond, let isNew): claimed(bond, isNew: isNew, by: link)
            case .claimRefused(let bond):
                log.warning(
                    "\(link.peer) has sent the identity address \(bond.peer), which has a bond: that bond is kept"
                )
                link.pairing.policy.existing = link.protection.bond?.strength
                reportPairingFailure(.pairing(.local(.unspecifiedReason)), of: link)
            case .keep(let bond):
                // Another process may have stored a stronger bond just now.
                takeBonds()
                let bond = withDecidedIdentity(bond)
                do throws(BLEError) {
                    try keep(bond, of: link)
                    save(bond, of: link, callers.links[link.id])
                    link.protection.kept(bond)
                } catch {
                    link.protection.notKept(bond, error)
                    reportPairingFailure(error, of: link)
                }
            case .giveUp(let bond, let error): giveUp(bond, of: link, error)
            case .raised(let error):
                waits.end(.security(link.id), error.map { .failure($0) } ?? .success(()))
            case .end(let error):
                log.warning("the link to \(link.peer) ends: \(error)")
                fail(link, error, .authenticationFailure)
            case .answerSecurityRequest:
                let id = link.id
                Task(executorPreference: loop) { await self.answerSecurityRequest(on: id) }
            }
        }
    }

    /// Reports a change of a link's security or key to the application and the watchers of the link. While a
    /// bond is still to be saved, which a crash would lose, the report is withheld.
    private func emit(_ security: LinkSecurity, of link: Link) {
        log.debug(
            "the link to \(link.peer) is now \(security.level), with a key of \(security.keySize) octets")
        guard link.bondsBeingSaved == 0 else {
            link.isSecurityWithheld = true
            return
        }
        reportSecurity(of: link)
    }

    /// Saves a bond that was made on a link, and then reports the link's security. A bond that cannot be
    /// saved is not reported.
    private func save(_ bond: Bond, of link: Link, _ callers: LinkCallers?) {
        let bonds = security.options.bonds
        guard bonds.stateFolder != nil else { return }
        link.bondsBeingSaved += 1
        let id = link.id
        let saving = Task(executorPreference: loop) { [weak self, loop] () -> Result<Void, BLEError> in
            do throws(BLEError) {
                try await loop.withClockHeld { () throws(BLEError) in try await bonds.flush() }
                await self?.saved(bond, of: id, nil)
                return .success(())
            } catch {
                await self?.saved(bond, of: id, error)
                return .failure(error)
            }
        }
        callers?.saving = saving
    }

    /// Waits until the bond that was made on a link is on the disk, so that a caller can rely on it. Tries
    /// again to save a bond that could not be saved.
    ///
    /// The link may have ended, so its callers are passed.
    func saveBond(of link: Link, _ callers: LinkCallers) async throws(BLEError) {
        guard link.security.isBonded else { return }
        if link.isBondUnsaved, link.bondsBeingSaved == 0, let bond = link.protection.bond {
            save(bond, of: link, callers)
        }
        try await callers.saving?.value.get()
    }

    private func saved(_ bond: Bond, of id: LinkID, _ error: BLEError?) {
        if let error { log.error("the bond with \(bond.peer) is not saved: \(error)") }
        guard let link = links[id] else { return }
        link.bondsBeingSaved -= 1
        if link.isBondUnsaved != (error != nil) {
            link.isBondUnsaved = error != nil
            link.isSecurityWithheld = true
        }
        if link.bondsBeingSaved == 0 { reportWithheldSecurity(of: link) }
    }

    /// Reports a change of security that was withheld because a bond was not on the disk yet.
    func reportWithheldSecurity(of link: Link) {
        guard link.isSecurityWithheld else { return }
        link.isSecurityWithheld = false
        reportSecurity(of: link)
    }

    private func reportSecurity(of link: Link) {
        link.gatt.session.noteSecurity()
        if link.role == .peripheral { server.emit(.security(Central(link), link.reportedSecurity)) }
        callers.links[link.id]?.parameters.emit(link.parameters)
    }

    /// Asks the user about a peer that claims the identity of a bonded device, without proof that it has the
    /// bond.
    private func claimed(_ bond: Bond, isNew: Bool, by link: Link) {
        if kernel != nil {
            // Until the answer, the kernel gets the bond's keys back.
            loadKeysSoon(insteadOf: [bond.peer])
            let isClaimed = links.contains { $0.id != link.id && $0.protection.claim?.id == bond.id }
            if isClaimed { return link.protection.refuseClaim() }
        }
        guard isNew else { return }
        callers.links[link.id]?.endDialogue()
        let (id, delegate) = (link.id, security.options.delegate)
        let replaced = replaced(by: bond)
        // A weaker bond would not be kept, whatever the user answers.
        if let replaced, bond.strength.isWeaker(than: replaced.strength) {
            return link.protection.refuseClaim()
        }
        callers.links[id]?.ask(on: loop) { [weak self, loop] in
            let isWanted = await delegate.authorizeReplacement(of: replaced, by: bond.peer, on: loop)
            guard !Task.isCancelled else { return }
            await self?.answer(isWanted, toClaimOf: bond.id, on: id)
        }
    }

    private func answer(_ isWanted: Bool, toClaimOf bond: BondID, on id: LinkID) {
        guard let link = links[id] else { return }
        link.protection.answered(isWanted, toClaimOf: bond)
        protect(link)
    }
}

extension PairingDelegate {
    /// Asks whether a device may replace one that has a bond. The user has as much time as each step of a
    /// pairing can take (Core Specification 5.4, Vol 3, Part H, 3.4).
    fileprivate func authorizeReplacement(
        of bond: Bond?, by peer: DeviceAddress, on loop: EventLoop
    ) async -> Bool {
        let answer = try? await withDeadline(.seconds(30), on: loop, orThrow: .pairing(.timeout)) {
            () throws(BLEError) in
            let answer = await self.authorizePairing(with: peer, replacing: bond)
            return answer && !Task.isCancelled
        }
        return answer ?? false
    }
}

extension Adapter {
    /// The out-of-band data for peers, by which they authenticate this host when they pair: the offer of
    /// `SecurityOptions.outOfBandOffer` with the address of this adapter. With privacy that is the private
    /// address, and the record is valid for as long as the address. Nil when there is no offer.
    ///
    /// With LE Secure Connections it is enough that one side has the data of the other. It is safer if both have:
    /// each side then authenticates the other.
    public var outOfBandRecord: OutOfBandRecord? {
        security.options.outOfBandOffer.map {
            OutOfBandRecord($0.data, of: addressOnAir, role: .peripheralPreferred)
        }
    }
}

/// New keys for a link that is already encrypted. Data wait while the controllers change the keys, and none
/// are lost (Core Specification 5.4, Vol 6, Part B, 5.1.3.2).
extension Adapter {
    /// Gives an encrypted link a new session key, made from the long term key of the bond. A peripheral
    /// requests that from its central (Vol 3, Part H, 2.4.6). Returns when the link uses the new key.
    func refreshEncryption(of id: LinkID) async throws(BLEError) {
        let (link, handle) = try bondedLink(id)
        let turn = try await enter(\.elevation, of: id)
        defer { turn.leave() }
        guard link.role == .central else { return try await pair(link, .encrypted) }
        guard let (key, bond) = link.protection.ownKey else {
            throw .invalidRequest(.noEncryptionKey(link.peer))
        }
        try await encrypt(id, handle, with: key, of: bond)
    }

    /// Pairs again with a bonded peer, on a link that proves the peer's identity with the present key. The
    /// new bond replaces the present one, and is at least as strong.
    func renewBond(of id: LinkID, _ level: SecurityLevel) async throws(BLEError) {
        let (link, _) = try bondedLink(id)
        guard link.role == .central else {
            throw .invalidRequest(.onlyCentralPairs)
        }
        let turn = try await enter(\.elevation, of: id)
        defer { turn.leave() }
        try await pair(link, level)
    }

    /// Returns a link that this host encrypts itself, and that is encrypted with the key of a bond. Throws
    /// for any other link.
    private func bondedLink(_ id: LinkID) throws(BLEError) -> (Link, ConnectionHandle) {
        let link = try link(id)
        guard case .acl(let handle) = link.channel else {
            throw .adapter(.unsupported(.keyRefresh))
        }
        guard link.security.isBonded, link.protection.bond != nil else {
            throw .invalidRequest(.notEncryptedByBond(link.peer))
        }
        return (link, handle)
    }
}

extension Peripheral {
    /// Gives the encrypted link a new session key, made from the key of the bond, which does not change. This is
    /// for links that are up for very long. Data that are sent meanwhile wait, and none are lost.
    ///
    /// `renewBond` replaces the bond itself. Throws `BLEError.bondLost` when the peripheral no longer has the
    /// key; a link that was encrypted then ends (Core Specification 5.4, Vol 6, Part B, 5.1.3.2).
    public func refreshEncryption() async throws(BLEError) { try await adapter.refreshEncryption(of: link) }

    /// Pairs again with a bonded peripheral whose link is encrypted with the bond's key. All keys of the bond are
    /// replaced, on both sides, by those of a pairing that is at least as secure. Returns the security of the
    /// link.
    ///
    /// Use this only to replace the keys. `refreshEncryption` is enough against too much data under one key, and
    /// this call cannot pair with a peer that has lost its bond.
    @discardableResult
    public func renewBond(_ level: SecurityLevel = .encrypted) async throws(BLEError) -> LinkSecurity {
        try await adapter.renewBond(of: link, level)
        return try await security
    }
}

extension PeripheralManager {
    /// Requests a new session key from a bonded central, made from the key of the bond, which does not
    /// change. Returns when the link uses the new key; the central has 30 s.
    public func refreshEncryption(of central: Central) async throws(BLEError) {
        try await adapter.refreshEncryption(of: central.link)
    }
}
