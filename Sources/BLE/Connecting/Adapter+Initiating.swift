import BLECore
import HCI
import HCISocket
import Logging

/// The outcomes of attempts to connect.
extension Adapter {
    /// Handles a connection that was established, or an attempt that failed.
    func connectionCompleted(_ event: LEConnectionComplete, _ known: LEEnhancedConnectionComplete? = nil) {
        guard event.status == .success else { return connectionFailed(event.status) }
        // Settled with both: an advertisement that the link has ended is not ended again, and none begins for which there
        // is no room beside the link.
        settle(after: {
            established(event, known)
            // For extended advertising, a separate event reports the end of the set.
            if event.role == .peripheral { radio.legacyAdvertisingTerminated(.success) }
        })
    }

    private func established(_ event: LEConnectionComplete, _ known: LEEnhancedConnectionComplete?) {
        let radio = RadioParameters(event)
        guard kernel == nil else {
            detachKernelLink(of: event.connection, radio)
            // The kernel has the link; its socket arrives separately.
            let isPeripheral = event.role == .peripheral
            kernelLinks.begin(
                event.connection, to: event.peer.isResolved ? nil : event.peer.deviceAddress, radio,
                isPeripheral: isPeripheral,
                hasChannel: links[event.connection] != nil)
            if isPeripheral { expectChannel(of: event.connection) }
            return
        }
        guard let reported = event.peer.deviceAddress else { return }
        if known?.peerResolvable.value ?? 0 != 0 { self.radio.controllerResolved() }
        let isOurs = event.role == .central
        let names = [reported, known?.peerOnAir ?? reported, identity(behind: reported)]
        guard isNews(event.connection, of: names) else { return }
        // The recovery of the controller may have waited for the end of an older link, and also ends this
        // one.
        guard end == nil, !recovery.isUnderWay else { return }
        let wanted =
            isOurs ? self.radio.connected(to: reported, as: names, &common) : identity(behind: reported)
        let mtu = self.radio.firstOptions(for: wanted)?.mtu
        let id = addLink(
            to: wanted, as: isOurs ? .central : .peripheral, over: .acl(event.connection),
            onAir: AddressesOnAir(own: known?.own ?? addressOnAir, peer: known?.peerOnAir ?? reported),
            radio: radio, mtu: mtu)
        if capabilities.hasExtendedFamily, capabilities.commands.contains(.leReadPHY) {
            // A link begins on the PHY on which the advertiser was received, and the event does not name it.
            sendTolerant(LEReadPHY(connection: event.connection), of: .phys(id))
        }
    }

    /// Handles an existing link with the handle of a new kernel link. It is either the same link, whose
    /// channel arrived first, or an older one that has ended, although its channel is not closed yet.
    private func detachKernelLink(of handle: ConnectionHandle, _ radio: RadioParameters) {
        guard let link = links[handle] else { return }
        if link.radio == .unknown, kernelLinks.reason(of: handle) == nil {
            link.radio = radio
            noteParameters(of: link)
        } else {
            links.detach(handle)
            link.reason = kernelLinks.reason(of: handle)
        }
    }

    /// Returns whether a connection is new: false when it is reported twice. Drops an older connection with
    /// the same handle, which has ended without an event, or with one that was lost.
    private func isNews(_ handle: ConnectionHandle, of names: [DeviceAddress]) -> Bool {
        guard let old = links[handle] else { return true }
        guard
            links.review.doubts(old.id)
                || !names.contains(where: { $0 == old.peer || $0 == identity(behind: old.peer) })
        else {
            log.warning("the controller reports connection \(handle) twice")
            return false
        }
        drop(old, .unknown)
        return true
    }

    private func connectionFailed(_ status: HCIStatus) {
        // With the legacy commands this reports the end of high duty cycle advertising.
        if status == .advertisingTimeout {
            radio.legacyAdvertisingTerminated(status)
            return settle()
        }
        guard kernel == nil else { return }
        radio.connectFailed(status)
        settle()
    }
}
