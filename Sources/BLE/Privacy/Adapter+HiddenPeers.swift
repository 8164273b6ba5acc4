import BLECore
import HCI
import Logging

/// Peers that hide behind private addresses, known by their bonds.
extension Adapter {
    /// Who is behind an address: the identity of a bonded peer, else that address.
    func identity(behind address: DeviceAddress) -> DeviceAddress {
        bond(with: address)?.peer ?? address
    }

    /// The bonded peer behind the private address of a report; nil where no bond matches.
    func hiddenPeer(of report: AdvertisingReport) -> DeviceAddress? {
        guard privacy.knowsHiddenPeers, let address = report.address else { return nil }
        if report.advertiser?.isResolved == true {
            privacy.controllerResolved()
            return address
        }
        // Some controllers report the identity as if it had been on air.
        if privacy.controllerKnows(address) { return address }
        guard address.kind == .resolvable, let peer = bond(with: address)?.peer else { return nil }
        if privacy.controllerKnows(peer) {
            privacy.controllerMissed(peer, at: address)
            // The scanner, which asks this, may be notified only afterwards.
            loop.execute { [weak self] in self?.assumeIsolated { $0.takePrivacyEvents() } }
        }
        return peer
    }

    /// Searches for a device that a caller connects to. The controller listens for its address; where it does not know
    /// a peer's private addresses, the host scans, and names the one that it receives.
    func look(for peer: DeviceAddress) {
        if isKnownToHostAlone(peer) {
            initiator.forget(peer)
            connecting.search(for: peer)
        } else {
            endSearch(for: peer)
            initiator.want(peer)
            privacy.trustController(toFind: peer, at: loop.now)
            armPrivacy()
        }
        searchPeers()
        reconcileConnecting()
    }

    /// The controller has not found the peers that it should know: they may be away, or it does not resolve.
    func helpController() {
        for peer in connecting.devices where privacy.controllerKnows(peer) && isLookingFor(peer) {
            connecting.search(for: peer)
        }
        searchPeers()
        reconcileScan()
    }

    /// Has the scanner listen for the peers that the host looks for.
    private func searchPeers() {
        scanner.search(.peers, connecting.search(at: loop.now), at: loop.now)
        wakeForPeerSearch()
    }

    /// Sets the timer for that scan, which changes when those who wait are patient.
    func wakeForPeerSearch() { wake(by: connecting.searchPaceEnd) }

    /// Acts on the time that has passed for it.
    func expirePeerSearch(at now: Instant) {
        guard let end = connecting.searchPaceEnd, end <= now else { return }
        searchPeers()
        reconcileScan()
    }

    /// Other requests wait for a device than before: it may be listened for otherwise.
    func requestsChanged() {
        guard kernel == nil else { return }
        searchPeers()
        reconcileConnecting()
    }

    /// What is known of peers has changed: looks for those that callers wait for in the way that fits now, by their
    /// current identities.
    func lookAgain() {
        guard kernel == nil else { return }
        for old in connecting.devices {
            let peer = identity(behind: old)
            if peer != old {
                connecting.rename(old, peer)
                endLook(for: old)
            }
            // Another name of the device may have been served before.
            guard connecting.isWaiting(for: peer) else { continue }
            if let link = link(to: peer), link.isUsable {
                handOver(link, to: peer)
                continue
            }
            guard isLookingFor(peer) || !hasLink(to: peer) else { continue }
            look(for: peer)
        }
        reconcileScan()
    }

    /// Whether there is a link to a device, be it that it ends.
    func hasLink(to peer: DeviceAddress) -> Bool {
        links.values.contains { $0.peer == peer || $0.identity == peer }
    }

    /// Whether a device is looked for.
    private func isLookingFor(_ peer: DeviceAddress) -> Bool {
        connecting.isSearching(for: peer) || initiator.wanted.contains(peer)
    }

    /// The host does not look for a peer any more.
    private func endSearch(for peer: DeviceAddress) {
        for address in connecting.endSearch(for: peer) { initiator.forget(address) }
    }

    /// No caller looks for a device any more.
    func endLook(for peer: DeviceAddress) {
        endSearch(for: peer)
        initiator.forget(peer)
        searchPeers()
        reconcileConnecting()
    }

    /// Whether a peer may use private addresses that the controller does not know.
    func isKnownToHostAlone(_ peer: DeviceAddress) -> Bool {
        privacy.knowsHiddenPeers && !privacy.controllerKnows(peer)
            && security.options.bonds.record(BondID(peer, at: identity))?.isHidden == true
    }

    /// A report was received while peers are looked for: one of those can be connected to by this address.
    func consider(_ report: AdvertisingReport, of hidden: DeviceAddress?) {
        guard report.type.contains(.connectable), let address = report.address else { return }
        let peer = hidden ?? address
        guard let before = connecting.find(peer, as: address) else { return }
        // Its address before this one is not received any more.
        for old in before { initiator.forget(old) }
        log.debug("\(peer) is \(address)")
        initiator.want(address)
        reconcileConnecting()
    }

    /// The scan that peers are looked for with was refused. Those that the controller looks for, too, it may find.
    func peerSearchFailed(_ error: BLEError) {
        // None is looked for any more while others fail.
        for peer in connecting.endSearches() {
            if initiator.wanted.contains(peer) {
                endSearch(for: peer)
                initiator.want(peer)
            } else {
                failPending(peer, error)
            }
        }
        searchPeers()
    }
}

// MARK: - Bonds that come and go

extension Adapter {
    /// Watches for bonds that come and go from now on, by any process.
    func watchBonds() {
        guard bondWatch == nil else { return }
        let bonds = security.options.bonds
        // First, so that no change is missed.
        let first = bonds.changes()
        bondWatch = OwnedTask(
            Task(executorPreference: loop) { [weak self] in
                var changes = first
                while !Task.isCancelled {
                    do throws(BLEError) {
                        for try await _ in changes { await self?.bondsChanged() }
                        return
                    } catch .overflow {
                        changes = bonds.changes()
                        await self?.bondsChanged()
                    } catch {
                        return
                    }
                }
            })
    }

    private func bondsChanged() {
        guard end == nil else { return }
        notePeers()
        renewBonds()
        lookAgain()
        reconcilePrivacy()
    }
}
