import BLECore
import HCI
import Logging

/// Peers that use private addresses and are recognized by their bonds.
extension Adapter {
    /// Returns the identity of the bonded peer that uses an address, else the address itself.
    func identity(behind address: DeviceAddress) -> DeviceAddress {
        bond(with: address)?.peer ?? address
    }

    /// Searches for a device to which a caller connects. The controller listens for its address, and
    /// connects. If the controller does not know a peer's private addresses, the host scans, and gives the
    /// controller the address that it receives.
    func look(for peer: DeviceAddress) {
        if isKnownToHostAlone(peer) {
            radio.forget(peer)
            connecting.search(for: peer)
        } else {
            endSearch(for: peer)
            radio.connect(to: peer)
            radio.trustController(toFind: peer, at: loop.now)
        }
        searchPeers()
        settle()
    }

    /// Starts a scan for peers that the controller should have found by their keys: they may be out of range,
    /// or the controller does not resolve.
    func helpController() {
        for peer in connecting.devices where radio.controllerHasKey(of: peer) && isLookingFor(peer) {
            connecting.search(for: peer)
        }
        searchPeers()
        settle()
    }

    /// Updates the scan for the peers that the host searches for.
    private func searchPeers() {
        radio.searchPeers(connecting.search(at: loop.now), at: loop.now)
        wakeForPeerSearch()
    }

    /// Sets the timer for the next change of the pace of that scan, which slows down when its requests are
    /// patient.
    func wakeForPeerSearch() { wake(by: connecting.searchPaceEnd) }

    /// Changes the pace of that scan when its time has come.
    func expirePeerSearch(at now: Instant) {
        guard let end = connecting.searchPaceEnd, end <= now else { return }
        searchPeers()
        settle()
    }

    /// Updates the search after the requests that wait for devices have changed, because its pace can differ
    /// now.
    func requestsChanged() {
        guard kernel == nil else { return }
        searchPeers()
        settle()
    }

    /// Updates the search for the peers that callers wait for, by their current identities, after what is
    /// known of peers has changed.
    func lookAgain() {
        guard kernel == nil else { return }
        for old in connecting.devices {
            let peer = identity(behind: old)
            if peer != old {
                connecting.rename(old, peer)
                endLook(for: old)
            }
            // A link under another address of the device may have met the requests already.
            guard connecting.isWaiting(for: peer) else { continue }
            if let link = link(to: peer), link.isUsable {
                handOver(link, to: peer)
                continue
            }
            guard isLookingFor(peer) || !hasLink(to: peer) else { continue }
            look(for: peer)
        }
        settle()
    }

    /// Returns whether there is a link to a device, even if it is being ended.
    func hasLink(to peer: DeviceAddress) -> Bool {
        links.contains { $0.peer == peer || $0.identity == peer }
    }

    /// Returns whether a device is searched for.
    private func isLookingFor(_ peer: DeviceAddress) -> Bool {
        connecting.isSearching(for: peer) || radio.isConnecting(to: peer)
    }

    /// Ends the host's search for a peer.
    private func endSearch(for peer: DeviceAddress) {
        for address in connecting.endSearch(for: peer) { radio.forget(address) }
    }

    /// Ends the search for a device that no caller waits for any more.
    func endLook(for peer: DeviceAddress) {
        endSearch(for: peer)
        radio.forget(peer)
        searchPeers()
        settle()
    }

    /// Returns whether a peer can use private addresses that the controller does not know.
    func isKnownToHostAlone(_ peer: DeviceAddress) -> Bool {
        radio.isKnownToHostAlone(peer) { bondRecord(of: $0)?.isHidden == true }
    }

    /// Handles a report that was received during a search: a peer that is searched for can be connected to by
    /// this address.
    func consider(_ report: AdvertisingReport, of hidden: DeviceAddress?) {
        guard report.type.contains(.connectable), let address = report.address else { return }
        let peer = hidden ?? address
        guard let before = connecting.find(peer, as: address) else { return }
        // The peer no longer uses its earlier addresses.
        for old in before { radio.forget(old) }
        log.debug("\(peer) is \(address)")
        radio.connect(to: address)
        settle()
    }

    /// Handles a refused scan for peers. The controller may still find those that it searches for, too.
    func peerSearchFailed(_ error: BLEError) {
        // All searches end before the first request fails.
        for peer in connecting.endSearches() {
            if radio.isConnecting(to: peer) {
                endSearch(for: peer)
                radio.connect(to: peer)
            } else {
                failPending(peer, error)
            }
        }
        searchPeers()
    }
}
