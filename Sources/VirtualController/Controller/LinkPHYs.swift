import BLECore
import HCI

/// The PHYs on which a device of a connection sends and receives.
struct LinkPHYs: Hashable, Sendable {
    var transmit: PHY
    var receive: PHY
}

/// The PHY update procedure (Core Specification 5.4, Vol 6, Part B, 5.1.10): either device sends a request,
/// and the central decides.
extension VirtualController {
    /// Requests the PHYs that the host currently prefers.
    mutating func sendPHYRequest(on index: Int) { send(.phyRequest(preference(on: index)), on: index) }

    /// Handles LL_PHY_REQ of the peer.
    mutating func receivePHYRequest(_ preference: PHYPreference, on index: Int) {
        guard isExtended else { return send(.physUnknown, on: index) }
        if links[index].role == .central {
            decidePHYs(with: preference, on: index)
        } else {
            send(.phyResponse(self.preference(on: index)), on: index)
        }
    }

    /// Handles the response of a peripheral to this central's request.
    mutating func receivePHYResponse(_ preference: PHYPreference, on index: Int) {
        let isWaiting = links[index].pending.remove(.phys) != nil
        decidePHYs(with: preference, on: index, isWaiting: isWaiting)
    }

    /// Handles LL_PHY_UPDATE_IND of the central.
    mutating func receivePHYs(central: PHY, peripheral: PHY, on index: Int) {
        let isWaiting = links[index].pending.remove(.phys) != nil
        use(LinkPHYs(transmit: peripheral, receive: central), on: index, isWaiting: isWaiting)
    }

    /// Handles LL_UNKNOWN_RSP of a peer that supports only LE 1M.
    mutating func receivePHYsUnknown(on index: Int) {
        guard links[index].pending.remove(.phys) != nil else { return }
        reportPHYs(links[index], status: .unsupportedRemoteFeature)
    }

    mutating func reportPHYs(_ link: Link, status: HCIStatus = .success) {
        emit(
            LEPHYUpdateComplete(
                status: status, connection: link.handle, transmit: link.phys.transmit,
                receive: link.phys.receive))
    }

    private func preference(on index: Int) -> PHYPreference {
        let preference = links[index].phyPreference
        return PHYPreference(
            transmit: preference.noPreference.contains(.transmit) ? phys : preference.transmit,
            receive: preference.noPreference.contains(.receive) ? phys : preference.receive)
    }

    private mutating func decidePHYs(
        with peer: PHYPreference, on index: Int, isWaiting: Bool = false
    ) {
        let (own, now) = (preference(on: index), links[index].phys)
        let decided = LinkPHYs(
            transmit: own.transmit.intersection(peer.receive).fastest ?? now.transmit,
            receive: peer.transmit.intersection(own.receive).fastest ?? now.receive)
        send(.phys(central: decided.transmit, peripheral: decided.receive), on: index)
        use(decided, on: index, isWaiting: isWaiting)
    }

    /// Sets the PHYs, and notifies the host if it has requested the procedure or if the PHYs have changed
    /// (Vol 4, Part E, 7.7.65.12).
    private mutating func use(_ phys: LinkPHYs, on index: Int, isWaiting: Bool) {
        let isChanged = links[index].phys != phys
        links[index].phys = phys
        if isChanged || isWaiting { reportPHYs(links[index]) }
    }
}

extension PHYSet {
    /// The PHY with the highest data rate, if there is one.
    fileprivate var fastest: PHY? {
        if contains(.le2M) { return .le2M }
        if contains(.le1M) { return .le1M }
        return contains(.leCoded) ? .leCoded : nil
    }
}
