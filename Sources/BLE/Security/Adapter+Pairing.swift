import BLECore
import GATTServer
import HCI
import HCISocket
import Logging
import SMP

/// Pairing on links of ours: begun by either side, led by the link's `SecurityManager`, which asks the user through the
/// delegate and the controller for encryption.
extension Adapter {
    /// The security manager of a new link.
    func securityManager(
        between addresses: AddressesOnAir, as role: LinkRole, _ bond: Bond?
    ) -> SecurityManager {
        var policy = security.options.policy(existing: bond?.strength)
        // Who has that key expects private addresses, and may hear no others (Vol 6, Part B, 6.1.4).
        if !privacy.options.isEnabled { policy.keysToSend.remove(.identity) }
        return SecurityManager(
            role: role == .central ? .initiator : .responder, own: addresses.own, peer: addresses.peer,
            policy: policy, identity: localIdentity)
    }

    /// Pairs, or as peripheral asks the central to pair or to encrypt; returns when the link is at least as safe as
    /// `level`.
    func pair(_ link: Link, _ level: LinkSecurityLevel) async throws(BLEError) {
        let id = link.id
        try await securings.wait(in: self) { adapter, id in
            // Who gives up ends the pairing: nobody else has asked for it.
            adapter.securings.resume(id, with: .failure(.cancelled))
            guard let link = adapter.links[id] else { return }
            link.pairing.cancel(at: adapter.loop.now)
            adapter.drain(link)
            adapter.pump(link)
        } start: { () throws(BLEError) in
            let link = try self.link(id)
            refuseClaim(of: link)
            do throws(PairingImpossible) {
                try link.pairing.begin(PairingRequirements(level), at: loop.now)
            } catch {
                throw .cannotPair(error)
            }
            drain(link)
            pump(link)
            return id
        }
        guard link.security.reaches(level) else {
            throw .pairing(.local(.authenticationRequirements))
        }
        // Who is told that devices are bonded can rely on it.
        if link.security.isBonded { try await security.options.bonds.flush() }
    }

    /// Acts on what a link's security manager has to tell.
    func handle(_ event: SecurityManager.Event, of link: Link) {
        let (delegate, peer) = (security.options.delegate, link.peer)
        switch event {
        case .securityRequested(let wanted): securityRequested(wanted, of: link)
        case .pairingRequested, .confirm:
            let isBonded = link.protection.bond != nil && !link.security.isBonded
            guard security.options.acceptsPairing || event == .confirm else {
                return answer(.refuse(.pairingNotSupported), on: link.id)
            }
            ask(link) {
                await delegate.authorizePairing(with: peer, isBonded: isBonded)
                    ? .accept : .refuse(.unspecifiedReason)
            }
        case .display(let passkey):
            ask(link) {
                await delegate.display(passkey, for: peer); return nil
            }
        case .enterPasskey:
            ask(link) {
                await delegate.enterPasskey(for: peer).map { .passkey($0) } ?? .refuse(.passkeyEntryFailed)
            }
        case .compare(let passkey): ask(link) { .comparison(await delegate.compare(passkey, with: peer)) }
        case .outOfBandWanted: ask(link) { .outOfBand(await delegate.outOfBandData(of: peer)) }
        case .keypress(let key):
            Task(executorPreference: loop) { await delegate.peerPressed(key, peer: peer) }
        case .encrypt(let key): encrypt(link, with: key)
        case .provide(let key): link.protection.offered = key
        case .paired(let bond, let isBonding): paired(link, bond, isBonding)
        case .failed(let failure): pairingFailed(link, failure)
        case .refused(let code, let reason): log.info("\(peer) was refused its \(code): \(reason)")
        }
    }

    /// Puts a question to the user, whose answer goes to the security manager. The question before is over.
    private func ask(_ link: Link, _ question: @escaping @Sendable () async -> PairingAnswer?) {
        let id = link.id
        refuseClaim(of: link)
        link.protection.endDialogue()
        link.protection.dialogue = Task(executorPreference: loop) { [weak self] in
            let answer = await question()
            guard let answer, !Task.isCancelled else { return }
            await self?.answer(answer, on: id)
        }
    }

    private func answer(_ answer: PairingAnswer, on id: LinkID) {
        guard let link = links[id] else { return }
        link.pairing.answer(answer, at: loop.now)
        drain(link)
        pump(link)
    }

    /// The peripheral wants security: it gets it by the bond's key, else, where the link's user lets security be
    /// raised, by a pairing. However often it asks meanwhile, it is heard once more.
    private func securityRequested(_ wanted: AuthenticationRequirements, of link: Link) {
        guard link.role == .central else { return }
        let level: LinkSecurityLevel = wanted.contains(.mitm) ? .high : .medium
        let isBonded = link.protection.bond?.strength.reaches(level) ?? false
        guard isBonded || link.raisesSecurity else {
            return answer(.refuse(.pairingNotSupported), on: link.id)
        }
        link.protection.wish = max(level, link.protection.wish ?? level)
        guard !link.protection.isFulfilling else { return }
        link.protection.isFulfilling = true
        let id = link.id
        Task(executorPreference: loop) { await self.fulfilWishes(on: id) }
    }

    private func fulfilWishes(on id: LinkID) async {
        defer { links[id]?.protection.isFulfilling = false }
        while let level = links[id]?.protection.wish.take() {
            do throws(BLEError) {
                try await fulfil(level, on: id)
            } catch {
                log.info("the peripheral wants security: \(error)")
                links[id]?.protection.wish = nil
            }
        }
    }

    private func fulfil(_ level: LinkSecurityLevel, on id: LinkID) async throws(BLEError) {
        // Of a link that is so safe already, another session key is wanted (Core Specification 5.4, Vol 3, Part H,
        // 2.4.6).
        if let security = links[id]?.security, security.isBonded, security.reaches(level) {
            try await refreshEncryption(of: id)
        } else {
            try await secure(id, level)
        }
    }

    /// The security manager has a key for the link.
    private func encrypt(_ link: Link, with key: LongTermKey) {
        guard let handle = link.handle else { return }
        link.protection.offered = key
        let id = link.id
        Task(executorPreference: loop) { await self.encryptForPairing(id, handle, with: key) }
    }

    private func encryptForPairing(
        _ id: LinkID, _ handle: ConnectionHandle, with key: LongTermKey
    ) async {
        let problem: BLEError
        do throws(BLEError) {
            return try await encrypt(id, handle, with: key, of: .pairing)
        } catch {
            problem = error
        }
        guard let link = links[id] else { return }
        log.warning("cannot encrypt the link to \(link.peer): \(problem)")
        link.protection.isBondLost = false
        tellServerSecurity(of: link)
        link.pairing.encryptionChanged(isOn: false, at: loop.now)
        drain(link)
        pump(link)
    }

    private func paired(_ link: Link, _ bond: Bond, _ isBonding: Bool) {
        link.protection.endDialogue()
        link.protection.offered = nil
        link.protection.given = .paired(LinkSecurity(bond.strength, isBonded: false))
        guard isBonding, takesPlace(bond, of: link) else { return finish(link, bond, isBonding) }
        // Whoever has the bond would lose it.
        link.protection.claim = bond
        let (id, delegate) = (link.id, security.options.delegate)
        link.protection.dialogue = Task(executorPreference: loop) { [weak self, loop] in
            let isWanted = await delegate.authorizeReplacement(by: bond.peer, on: loop)
            guard !Task.isCancelled else { return }
            await self?.answer(isWanted, toClaim: bond, on: id)
        }
    }

    private func answer(_ isWanted: Bool, toClaim bond: Bond, on id: LinkID) {
        guard let link = links[id], link.protection.claim == bond else { return }
        guard isWanted else { return refuseClaim(of: link) }
        link.protection.claim = nil
        finish(link, bond, true)
    }

    /// A device does not take another one's place: by the user's wish, or since it pairs once more.
    private func refuseClaim(of link: Link) {
        guard let bond = link.protection.claim.take() else { return }
        log.warning("\(link.peer) says that it is \(bond.peer), which has a bond: that stays")
        link.pairing.policy.existing = link.protection.bond?.strength
        finish(link, bond, false, .failure(.pairing(.local(.unspecifiedReason))))
    }

    private func finish(
        _ link: Link, _ bond: Bond, _ isBonding: Bool, _ result: Result<Void, BLEError> = .success(())
    ) {
        var result = result
        // Without a bond of its own a pairing changes nothing about whom the link is with.
        var isBonded = !isBonding && link.security.isBonded && link.protection.bond != nil
        if isBonding {
            do throws(BLEError) {
                try keep(bond, of: link)
                isBonded = true
            } catch {
                log.warning("the bond with \(link.peer) is not kept: \(error)")
                result = .failure(error)
            }
        }
        let security = LinkSecurity(bond.strength, isBonded: isBonded)
        link.protection.given = .paired(security)
        noteSecurity(security, of: link, hasNewKey: true)
        securings.resume(link.id, with: result)
    }

    private func pairingFailed(_ link: Link, _ failure: PairingFailure) {
        refuseClaim(of: link)
        link.protection.endDialogue()
        link.protection.offered = nil
        if link.protection.given == .pairing { link.protection.given = .failed }
        tellServerSecurity(of: link)
        log.info("pairing with \(link.peer) failed: \(failure)")
        securings.resume(link.id, with: .failure(.pairing(failure)))
    }
}

extension PairingDelegate {
    /// Asks whether a device may take the place of one that has a bond. The user has as long for it as each step of a
    /// pairing takes at most (Core Specification 5.4, Vol 3, Part H, 3.4).
    func authorizeReplacement(by peer: DeviceAddress, on loop: EventLoop) async -> Bool {
        let answer = try? await withDeadline(.seconds(30), on: loop, orThrow: .pairing(.timeout)) {
            () throws(BLEError) in
            let answer = await self.authorizePairing(with: peer, isBonded: true)
            return answer && !Task.isCancelled
        }
        return answer ?? false
    }
}
