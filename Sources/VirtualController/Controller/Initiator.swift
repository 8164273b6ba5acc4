import BLECore
import HCI

/// A connection that a controller tries to make.
struct Initiator: Sendable {
    /// The advertiser; nil for the first one on the accept list.
    var peer: DeviceAddress?
    /// Where to listen, and how the connection should be. For the legacy command there is LE 1M alone.
    var phys: PerPHY<LEExtendedCreateConnection.Initiating>
    /// The own address.
    var address: DeviceAddress
    var start: Instant

    func listens(on phy: PHY, at now: Instant) -> Bool {
        // One cannot listen for announcements on LE 2M.
        guard phy != .le2M, let initiating = phys[PHYSet(phy)] else { return false }
        return ScanTiming(interval: initiating.scanInterval, window: initiating.scanWindow, start: start)
            .listens(at: now)
    }

    /// How the connection should be that begins with `advertising`: as the host says for the PHY that it
    /// begins on, else for the one that it was announced on.
    func parameters(for advertising: AirSignal.Advertising) -> ConnectionParameters? {
        (phys[PHYSet(advertising.secondaryPHY)] ?? phys[PHYSet(advertising.primaryPHY)])?.parameters
    }
}

extension VirtualController {
    /// Connects to an advertiser, if it is the one that is wanted.
    mutating func initiate(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        guard let initiator = settings.initiator, initiator.listens(on: advertising.primaryPHY, at: now),
            let advertiser = advertising.advertiser, advertising.properties.contains(.connectable),
            advertising.target == nil || advertising.target == initiator.address,
            let wanted = initiator.parameters(for: advertising),
            links.count < configuration.maximumConnections, !isConnected(to: advertiser)
        else { return }
        if let peer = initiator.peer {
            guard peer == advertiser else { return }
        } else {
            guard settings.acceptList.contains(advertiser) else { return }
        }
        settings.initiator = nil
        lastSerial += 1
        let request = AirSignal.ConnectionRequest(
            link: AirLinkID(central: id, serial: lastSerial), initiator: initiator.address,
            advertiser: advertiser, set: advertising.set,
            timing: LinkTiming(
                interval: wanted.intervalMin, latency: wanted.latency,
                supervisionTimeout: wanted.supervisionTimeout),
            channels: settings.hostChannels,
            phy: advertising.isLegacy ? .le1M : advertising.secondaryPHY,
            // Connections from extended advertising know no other (Vol 6, Part B, 4.5.8.1).
            usesAlgorithm2: !advertising.isLegacy || advertising.knowsAlgorithm2 && isExtended)
        transmit(.connectionRequest(request), to: sender)
        addLink(request, as: .central, to: advertiser, at: sender, rssi: rssi, at: now)
    }
}
