import BLECore
import HCI

/// A pending connection request of the host.
struct Initiator: Sendable {
    /// The advertiser; nil for the first advertiser that is on the accept list.
    var peer: DeviceAddress?
    /// The scan and connection parameters for each PHY. The legacy command has only LE 1M.
    var phys: PerPHY<LEExtendedCreateConnection.Initiating>
    /// The own address, which a private address can replace depending on `addressType`.
    var address: DeviceAddress
    var addressType: OwnAddressType
    var start: Instant

    func listens(on phy: PHY, at now: Instant) -> Bool {
        // LE 2M is not a primary advertising PHY.
        guard phy != .le2M, let initiating = phys[PHYSet(phy)] else { return false }
        return ScanTiming(interval: initiating.scanInterval, window: initiating.scanWindow, start: start)
            .listens(at: now)
    }

    /// Returns the parameters of the connection that begins with `advertising`: the host's parameters for the
    /// PHY on which the connection begins or, without them, for the primary PHY.
    func parameters(for advertising: AirSignal.Advertising) -> LEConnectionParameters? {
        (phys[PHYSet(advertising.secondaryPHY)] ?? phys[PHYSet(advertising.primaryPHY)])?.parameters
    }
}

extension VirtualController {
    /// Connects to an advertiser, if it matches the pending connection request.
    mutating func initiate(
        _ advertising: AirSignal.Advertising, of advertiser: AirPeer?, from sender: ID, rssi: Int8,
        at now: Instant
    ) {
        guard let initiator = settings.initiator, initiator.listens(on: advertising.primaryPHY, at: now),
            let advertiser, advertising.properties.contains(.connectable),
            let wanted = initiator.parameters(for: advertising),
            links.count < configuration.maximumConnections, !isConnected(to: advertiser.address)
        else { return }
        if let target = advertising.target {
            guard target == initiator.address || settings.resolvingList.isOwn(target) else { return }
        }
        if let peer = initiator.peer {
            guard peer == advertiser.address else { return }
        } else {
            guard settings.acceptList.contains(advertiser.address) else { return }
        }
        settings.initiator = nil
        let hidden = privateAddress(initiator.addressType, towards: advertiser.address, at: now)
        let request = AirSignal.ConnectionRequest(
            link: newLinkID(), initiator: hidden ?? initiator.address,
            advertiser: advertiser.onAir, set: advertising.set,
            timing: LinkTiming(wanted), channels: settings.hostChannels,
            phy: advertising.isLegacy ? .le1M : advertising.secondaryPHY,
            // Connections from extended advertising always use algorithm #2 (Vol 6, Part B, 4.5.8.1).
            usesAlgorithm2: !advertising.isLegacy || advertising.knowsAlgorithm2 && isExtended)
        transmit(.connectionRequest(request), to: sender)
        addLink(
            request, as: .central, to: advertiser, showing: hidden, at: sender, rssi: rssi, at: now)
    }
}
