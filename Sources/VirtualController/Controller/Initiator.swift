import BLECore
import HCI

/// A connection that a controller tries to make.
struct Initiator: Sendable {
    /// The advertiser; nil for the first one on the accept list.
    var peer: DeviceAddress?
    /// Where to listen, and how the connection should be. For the legacy command there is LE 1M alone.
    var phys: PerPHY<LEExtendedCreateConnection.Initiating>
    /// The own address, and whether a private one takes its place.
    var address: DeviceAddress
    var addressType: OwnAddressType
    var start: Instant

    func listens(on phy: PHY, at now: Instant) -> Bool {
        // One cannot listen for announcements on LE 2M.
        guard phy != .le2M, let initiating = phys[PHYSet(phy)] else { return false }
        return ScanTiming(interval: initiating.scanInterval, window: initiating.scanWindow, start: start)
            .listens(at: now)
    }

    /// How the connection should be that begins with `advertising`: as the host says for the PHY that it
    /// begins on, else for the one that it was announced on.
    func parameters(for advertising: AirSignal.Advertising) -> LEConnectionParameters? {
        (phys[PHYSet(advertising.secondaryPHY)] ?? phys[PHYSet(advertising.primaryPHY)])?.parameters
    }
}

extension VirtualController {
    /// Connects to an advertiser, if it is the one that is wanted.
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
            // Connections from extended advertising know no other (Vol 6, Part B, 4.5.8.1).
            usesAlgorithm2: !advertising.isLegacy || advertising.knowsAlgorithm2 && isExtended)
        transmit(.connectionRequest(request), to: sender)
        addLink(
            request, as: .central, to: advertiser, showing: hidden, at: sender, rssi: rssi, at: now)
    }
}
