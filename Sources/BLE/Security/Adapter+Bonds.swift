import ATT
import BLECore
import GATTClient
import GATTServer
import Logging
import SMP

/// The state that this host keeps of the devices with which it has paired.
extension Adapter {
    /// The identity of this host in pairings.
    var localIdentity: LocalIdentity { common.localIdentity }

    /// Sets the address by which other devices know this adapter, to whose bonds it has access.
    func setIdentity(_ address: DeviceAddress) {
        common.identity = address
        guard security.follower?.local != address else { return }
        let follower = BondFollower(security.options.bonds, at: address) { [weak self, loop] in
            loop.execute { [weak self] in self?.assumeIsolated { $0.bondsChanged() } }
        }
        security.follow(follower, &common.bonds)
    }

    /// Takes over what has changed in the store.
    func takeBonds() { security.takeChanges(&common.bonds) }

    /// Handles changes of bonds from now on.
    func watchBonds() { security.watchBonds(&common.bonds) }

    /// Handles changes of bonds by this process or by others.
    private func bondsChanged() {
        takeBonds()
        let news = security.takeNews()
        guard end == nil, !news.isNothing else { return }
        for id in news.removed { forgetAttempts(of: id) }
        radio.setPeers(common)
        renewBonds()
        lookAgain()
        radio.peersChanged()
        settle()
    }

    /// Changes bonds in the store, of which look-ups then know.
    @discardableResult
    private func changeBonds<Result, Failure: Error>(
        _ change: (BondStore) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { takeBonds() }
        return try change(store)
    }

    /// The bonds of this adapter's identity with other devices.
    public var bonds: [Bond] { store.records(at: identity).map(\.bond) }

    /// Removes the bond with a device, by its identity address or another address of the device. Returns
    /// false when there is no bond with the device. A link to the device stays as it is. Returns when the
    /// bond is removed from the disk, too.
    ///
    /// - Throws: `BLEError.bonds` when the disk cannot be written: then the bond is removed for this process
    ///   only, until a later call, or another change of the bonds, reaches the disk. The reason can be other
    ///   changes that wait for the disk.
    @discardableResult
    public func removeBond(with peer: DeviceAddress) async throws(BLEError) -> Bool {
        let wasThere = forgetBond(with: peer)
        // An earlier call may have removed the bond from memory only, because the disk could not be written.
        try await store.flush()
        return wasThere
    }

    /// Removes the bond with a device from memory, and that of a device that has only claimed the same address; the
    /// disk follows.
    @discardableResult
    func forgetBond(with peer: DeviceAddress) -> Bool {
        var wasThere = false
        takeBonds()
        while let id = bondRecord(of: peer)?.id {
            // Another may have removed it just now, and look-ups know it then.
            guard changeBonds({ $0.remove(id) }) else { continue }
            clients.cache.forget(id.peer)
            forgetAttempts(of: id)
            wasThere = true
        }
        if wasThere { renewBonds() }
        return wasThere
    }

    /// Forgets the failed pairings with a device whose bond was removed: the owner has made room for it to pair again.
    func forgetAttempts(of id: BondID) {
        security.attempts[id.peer] = PairingAttempts()
        for link in links where link.protection.bond?.id == id || link.peer == id.peer {
            link.pairing.forgetAttempts(at: loop.now)
        }
    }

    /// Updates the bonds of links after bonds were added, removed or changed, perhaps by another process. The
    /// encryption of the links stays as it is until its next change.
    func renewBonds() {
        for link in links {
            let bond: Bond?
            if let known = link.protection.bond?.id {
                bond = common.bonds[known]?.bond
                if bond == nil { clients.cache.forget(known.peer) }
            } else {
                bond = newBond(of: link)
            }
            link.protection.renew(bond)
            protect(link)
        }
    }

    /// Returns the bond of a link that had none. A link that the kernel has already encrypted gets none,
    /// because it is not encrypted with the bond's key.
    private func newBond(of link: Link) -> Bond? {
        guard let bond = bond(with: link.peer, onAir: link.onAir, as: link.role), isProven(bond, of: link)
        else { return nil }
        let isForeign =
            kernelPairing?.isSetUp == true && (kernelSecurity(of: link) ?? link.security).level > .open
        return isForeign ? nil : bond
    }

    /// Removes the bonds from links that the kernel would encrypt with other keys, because that would not
    /// prove the identity of their peers.
    func withholdBonds() {
        for link in links {
            if let bond = knownBond(of: link) { _ = isProven(bond, of: link) }
        }
    }

    /// Returns whether the encryption of a link proves that its peer is the bond's device. If the kernel may
    /// use another key, the link has no bond until its end, because it may be encrypted with that key at this
    /// moment.
    @discardableResult
    func isProven(_ bond: Bond, of link: Link) -> Bool {
        if kernelPairing?.provesIdentity(of: bond.peer) ?? true { return true }
        link.protection.withhold()
        protect(link)
        return false
    }

    /// Returns the bond of a central whose address identifies no bond, by the key that the central names
    /// (Core Specification 5.4, Vol 3, Part H, 2.4.4.2).
    func bondOfStranger(_ link: Link, byKey ediv: UInt16, _ random: UInt64) -> Bond? {
        // The device that has claimed the central's address can have it on the air, if it has no private address now.
        // Then its key proves that.
        if ediv == 0, random == 0 { return bond(with: link.peer) }
        guard let record = common.bonds.record(ediv: ediv, random: random, at: identity) else { return nil }
        log.info("\(link.peer) asks for a key of \(record.id.peer)")
        return record.bond
    }

    private var store: BondStore { security.options.bonds }

    /// Returns the record of the bonded device with this address, or with the identity behind it.
    func bondRecord(of peer: DeviceAddress) -> BondRecord? { common.record(behind: peer) }

    /// Returns the bond with the device that has this address, or the identity behind it.
    func bond(with peer: DeviceAddress) -> Bond? { bondRecord(of: peer)?.bond }

    /// Returns the bond that the link uses, or else the one with its peer's address.
    func knownBond(of link: Link) -> Bond? {
        if let bond = link.protection.bond { return bond }
        return bond(with: link.peer)
    }

    /// Returns the bond of a link's peer, which has the address `onAir` on the air if that is known. As a central, a
    /// peer is a stranger if the bond's device has only claimed its address: the claim must not keep the true owner
    /// of the address from pairing. As a peripheral, it has the bond: it is not used until it shows the key, or
    /// pairs at the user's request.
    func bond(with peer: DeviceAddress, onAir: DeviceAddress?, as role: LinkRole) -> Bond? {
        // A controller that resolves addresses reports the identity, which two peers can have.
        let hidden = onAir.flatMap { $0.kind == .resolvable ? self.bond(with: $0) : nil }
        guard let bond = hidden ?? bond(with: peer) else { return nil }
        return role == .peripheral && bond.isIdentityClaimed && onAir == bond.peer ? nil : bond
    }

    /// Returns whether there is a bond with the identity of a peer that has paired, so that the peer only claims to
    /// be that device. A peer that has the address on the air is another one than one that has only claimed it.
    func isTaken(_ bond: Bond) -> Bool { replaced(by: bond) != nil }

    /// Returns the bond with the identity of a peer that has paired.
    func replaced(by bond: Bond) -> Bond? {
        if let same = common.bonds[bond.id] { return same.bond }
        return bond.isIdentityClaimed ? common.bonds[BondID(bond.peer, at: bond.local)]?.bond : nil
    }

    /// Returns the bond of a peer that has claimed the identity of a bonded device, which the user has accepted, so that
    /// it replaces that device's bond.
    func withDecidedIdentity(_ bond: Bond) -> Bond {
        var bond = bond
        if bond.isIdentityClaimed, common.bonds[bond.id] == nil,
            common.bonds[BondID(bond.peer, at: bond.local)] != nil
        {
            bond.isIdentityClaimed = false
        }
        return bond
    }

    /// Returns whether the device that uses this address is bonded.
    package func isBonded(with address: DeviceAddress) -> Bool { bond(with: address) != nil }

    /// Stores the bond that a pairing has made. Throws when it is weaker than the present bond, because the
    /// identity in it is only what the peer claims.
    func keep(_ bond: Bond, of link: Link) throws(BLEError) {
        if let present = common.bonds[bond.id]?.bond, bond.strength.isWeaker(than: present.strength) {
            throw .invalidRequest(.weakerBond(link.peer, of: bond.peer))
        }
        try changeBonds { (store) throws(BLEError) in try store.insert(bond) }
    }

    /// Restores the server's record of a peer that has proven its identity.
    func restore(_ bond: Bond, of link: Link) {
        checkSignatures(of: link)
        if let record = common.bonds[bond.id] { server.gatt.restore(record.client, of: ClientID(link.id)) }
        changeBonds { $0.noteUse(bond.id) }
        reportServerEvents()
        // Indicates what has changed since the peer's last link.
        reportServicesChanged(on: link)
    }

    /// Enables the server to check signed writes of a bonded peer, also before its link is encrypted, because
    /// the signature proves the peer's identity.
    func checkSignatures(of link: Link) {
        guard let bond = link.protection.bond, let key = bond.peerSigningKey else { return }
        server.gatt.setSigningKey(
            ATTSigningKey(key), nextCounter: common.bonds[bond.id]?.client.signCounter ?? 0,
            of: ClientID(link.id))
    }

    /// Returns the key with which this host signs writes to a bonded peer, and a sign counter that was not
    /// used before.
    func signature(of id: LinkID) async throws(BLEError) -> (key: ATTSigningKey, counter: UInt32) {
        let link = try link(id)
        guard let bond = link.protection.bond, let key = bond.localSigningKey else {
            throw .noSigningKey(link.peer)
        }
        return (ATTSigningKey(key), try await store.takeSignCounter(of: bond.id))
    }

    /// Returns whether the name of a bonded peer is not known: it was not read, for example when a request
    /// has led to the bond.
    func lacksName(of id: LinkID) -> Bool {
        guard let bond = links[id]?.protection.bond else { return false }
        return common.bonds[bond.id]?.name == nil
    }

    /// Keeps the name that was read from a bonded peer.
    func noteName(_ name: String?, of id: LinkID) {
        guard let name, !name.isEmpty, let bond = links[id]?.protection.bond else { return }
        changeBonds { $0.update(bond.id) { $0.name = name } }
    }

    /// Waits until the state of bonded peers is on the disk.
    func saveBonds() async {
        do throws(BLEError) {
            try await store.flush()
        } catch {
            log.error("what is known of bonded devices cannot be saved: \(error)")
        }
    }

    /// Waits until the databases that were discovered of bonded peers are on the disk.
    func saveDatabases() async throws(BLEError) { try await store.flush() }

    /// Loads the database of a bonded peer that an earlier process has discovered.
    func recall(_ link: Link) async {
        guard isBonded(link), let id = link.protection.bond?.id, !clients.cache.holds(id.peer) else {
            return
        }
        do throws(BLEError) {
            if let known = try await store.database(of: id) { clients.cache.keep(known, of: id.peer) }
        } catch {
            log.warning("what was known of the database of \(id.peer) cannot be read: \(error)")
        }
    }

    /// Keeps the database of a bonded peer for later processes, in place of an earlier one. One with faults is not
    /// kept: what is missing may be found the next time.
    func retain(_ database: CachedDatabase, of link: Link) {
        guard isBonded(link), let id = link.protection.bond?.id else { return }
        store.keep(database.database.faults.isEmpty ? database : nil, of: id)
    }

    /// Keeps the server's record of a peer when its link ends, if the peer's identity is proven. Keeps nothing before
    /// services are published: the record of an earlier process is more complete.
    func remember(_ record: GATTClientRecord, of link: Link) {
        guard server.isPublished, link.protection.isRecognized, let bond = link.protection.bond else {
            return
        }
        changeBonds { $0.update(bond.id) { $0.client = record } }
    }

    /// Notes the counter of a signed write of a bonded central: no earlier counter is accepted any more, also
    /// after a restart.
    func noteSignature(_ counter: UInt32, of central: ClientID) {
        guard let bond = links[LinkID(number: central.rawValue)]?.protection.bond else { return }
        changeBonds {
            $0.update(bond.id) { $0.client.signCounter = max($0.client.signCounter, counter) }
        }
    }
}

extension ATTSigningKey {
    /// The CSRK of a bond.
    fileprivate init(_ csrk: UInt128) { self.init(csrk: csrk, cmac: SecurityManager.aesCMAC) }
}
