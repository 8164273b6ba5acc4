import ATT
import BLECore
import GATTClient
import GATTServer
import Logging
import SMP

/// What this host keeps of the devices that it has paired with.
extension Adapter {
    /// What stands for this host when it pairs.
    var localIdentity: LocalIdentity { security.identity ?? LocalIdentity(address: identity, identityKey: 0) }

    /// The bonds of this adapter's identity with other devices.
    public var bonds: [Bond] { store.records(at: identity).map(\.bond) }

    /// Removes the bond with a device, by its identity address or another address of the device. Returns false
    /// when there is no bond with it. A link to it stays as it is. Returns when the bond is gone from the disk,
    /// too.
    ///
    /// - Throws: `BLEError.bonds` when the disk cannot be written: the bond is gone for this process only, until a
    ///   later call, or another change of the bonds, reaches the disk. Other changes that wait for the disk may be the
    ///   reason.
    @discardableResult
    public func removeBond(with peer: DeviceAddress) async throws(BLEError) -> Bool {
        let wasThere = forgetBond(with: peer)
        // Another call may have taken it from memory, and the disk may have refused.
        try await store.flush()
        return wasThere
    }

    /// Forgets a device; the disk follows.
    @discardableResult
    func forgetBond(with peer: DeviceAddress) -> Bool {
        guard let id = bondRecord(of: peer)?.id else { return false }
        clients.cache.forget(id.peer)
        defer { renewBonds() }
        return store.remove(id)
    }

    /// Bonds have come, gone or other keys, perhaps by the hand of another process: links have those that there are
    /// now. Their encryption stays as it is until the next change of that.
    func renewBonds() {
        for link in links.values {
            let known = link.protection.bond?.id
            let bond = known.map { store.record($0)?.bond } ?? newBond(of: link)
            if bond == nil, let known { clients.cache.forget(known.peer) }
            link.protection.renew(bond)
            protect(link)
        }
    }

    /// The bond of a link that had none. A link that the kernel has encrypted meanwhile is not encrypted with its key.
    private func newBond(of link: Link) -> Bond? {
        guard let bond = bond(with: link.peer), isProven(bond, of: link) else { return nil }
        let isForeign =
            kernelPairing?.isSetUp == true && (kernelSecurity(of: link) ?? link.security).level > .open
        return isForeign ? nil : bond
    }

    /// Takes the bonds from links that the kernel would encrypt with other keys: that would not show who they are.
    func withholdBonds() {
        for link in links.values {
            if let bond = link.protection.bond ?? bond(with: link.peer) { _ = isProven(bond, of: link) }
        }
    }

    /// Whether a link that is encrypted shows that its peer is the bond's device. When the kernel may use
    /// another key, the link has no bond to its end: it may be just being encrypted with that.
    @discardableResult
    func isProven(_ bond: Bond, of link: Link) -> Bool {
        if kernelPairing?.proves(bond.peer) ?? true { return true }
        link.protection.withhold()
        protect(link)
        return false
    }

    /// The bond of a central whose address identifies none, by the key that it names (Core Specification 5.4, Vol 3,
    /// Part H, 2.4.4.2).
    func bondOfStranger(_ link: Link, byKey ediv: UInt16, _ random: UInt64) -> Bond? {
        guard let record = store.record(ediv: ediv, random: random, at: identity) else { return nil }
        log.info("\(link.peer) asks for a key of \(record.id.peer)")
        return record.bond
    }

    /// Whether there is a bond of that name.
    func hasBond(_ id: BondID) -> Bool { store.record(id) != nil }

    private var store: BondStore { security.options.bonds }

    /// What is kept of the device that has that address, or an identity behind it.
    func bondRecord(of peer: DeviceAddress) -> BondRecord? { store.record(behind: peer, at: identity) }

    /// The bond with the device that has that address, or an identity behind it.
    func bond(with peer: DeviceAddress) -> Bond? { bondRecord(of: peer)?.bond }

    /// Stores what a pairing has made. The peer itself says who it is, so a bond that is worth
    /// more is not given up for that.
    func keep(_ bond: Bond, of link: Link) throws(BLEError) {
        if let present = store.record(bond.id)?.bond, bond.strength.isWeaker(than: present.strength) {
            throw .invalidRequest(.weakerBond(link.peer, of: bond.peer))
        }
        try store.insert(bond)
    }

    /// The peer is who it was: what the server kept of it holds again.
    func restore(_ bond: Bond, of link: Link) {
        checkSignatures(of: link)
        if let record = store.record(bond.id) { server.gatt.restore(record.client, of: ClientID(link.id)) }
        store.noteUse(bond.id)
        reportServerEvents()
        // Indicates what has changed since its last link.
        reportServicesChanged(on: link)
    }

    /// Signed writes of a bonded peer can be checked, also before its link is encrypted: the signature shows who it is.
    func checkSignatures(of link: Link) {
        guard let bond = link.protection.bond, let key = bond.peerSigningKey else { return }
        server.gatt.setSigningKey(
            ATTSigningKey(key), nextCounter: store.record(bond.id)?.client.signCounter ?? 0,
            of: ClientID(link.id))
    }

    /// The key that this host signs writes to a bonded peer with, and a sign counter that was not used before.
    func signature(of id: LinkID) async throws(BLEError) -> (key: ATTSigningKey, counter: UInt32) {
        let link = try link(id)
        guard let bond = link.protection.bond, let key = bond.localSigningKey else {
            throw .noSigningKey(link.peer)
        }
        return (ATTSigningKey(key), try await store.takeSignCounter(of: bond.id))
    }

    /// Whether the name of a bonded peer is not known: it was not asked for, as when a request has made the bond.
    func lacksName(of id: LinkID) -> Bool {
        guard let bond = links[id]?.protection.bond else { return false }
        return store.record(bond.id)?.name == nil
    }

    /// Keeps the name that a bonded peer has given itself.
    func noteName(_ name: String?, of id: LinkID) {
        guard let name, !name.isEmpty, let bond = links[id]?.protection.bond else { return }
        store.update(bond.id) { $0.name = name }
    }

    /// Waits until the disk has what is known of bonded peers.
    func saveBonds() async {
        do throws(BLEError) {
            try await store.flush()
        } catch {
            log.error("what is known of bonded devices cannot be saved: \(error)")
        }
    }

    /// Waits until the disk has what was found of the databases of bonded peers.
    func saveDatabases() async throws(BLEError) { try await store.flush() }

    /// Takes up the database of a bonded peer as an earlier process found it.
    func recall(_ link: Link) async {
        guard isBonded(link), let id = link.protection.bond?.id, clients.cache.contents[id.peer] == nil else {
            return
        }
        do throws(BLEError) {
            if let known = try await store.database(of: id) { clients.cache.keep(known, of: id.peer) }
        } catch {
            log.warning("what was known of the database of \(id.peer) cannot be read: \(error)")
        }
    }

    /// Keeps the database of a bonded peer for later processes.
    func retain(_ database: CachedDatabase, of link: Link) {
        guard isBonded(link), let id = link.protection.bond?.id else { return }
        store.keep(database, of: id)
    }

    /// Keeps the server's record of a peer when its link ends, if the peer's identity is proven. Keeps nothing before
    /// services are published: the record of an earlier process is more complete.
    func remember(_ record: GATTClientRecord, of link: Link) {
        guard server.isPublished, link.protection.isRecognized, let bond = link.protection.bond else {
            return
        }
        store.update(bond.id) { $0.client = record }
    }

    /// A bonded central has signed a write: no earlier counter is taken any more, also after a restart.
    func noteSignature(_ counter: UInt32, of central: ClientID) {
        guard let bond = links[LinkID(number: central.rawValue)]?.protection.bond else { return }
        store.update(bond.id) { $0.client.signCounter = max($0.client.signCounter, counter) }
    }
}

extension ATTSigningKey {
    /// The CSRK of a bond.
    fileprivate init(_ csrk: UInt128) { self.init(csrk: csrk, cmac: SecurityManager.aesCMAC) }
}
