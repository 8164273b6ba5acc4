import BLECore
import HCI
import Logging

extension Adapter {
    /// Acts on one event of the controller; answers to commands are the command queue's.
    func receive(_ event: HCIEvent) {
        switch event {
        case .disconnectionComplete(let event): disconnected(event)
        case .numberOfCompletedPackets(let event): completed(event)
        case .hardwareError(let event):
            log.error("the controller reports hardware error 0x\(event.hardwareCode.hex)")
            shutDown(.adapter(.removed))
        case .leMeta(let event): receive(event)
        default: break
        }
    }

    private func receive(_ event: LEMetaEvent) {
        switch event {
        case .connectionComplete(let event): connectionCompleted(event)
        case .enhancedConnectionComplete(let event): connectionCompleted(LEConnectionComplete(event))
        case .connectionUpdateComplete(let event): updated(event)
        case .phyUpdateComplete(let event): updated(event)
        case .longTermKeyRequest(let event): refuseKey(event.connection)
        case .remoteConnectionParameterRequest(let event): accept(event)
        case .advertisingSetTerminated(let event): advertisingSetTerminated(event)
        default: break
        }
    }

    private func disconnected(_ event: DisconnectionComplete) {
        guard event.status == .success else { return }
        if kernel != nil {
            // The socket tells the end; this tells why.
            kernelReasons[event.connection] = event.reason
            kernelLinks[event.connection] = nil
            reconcileAdvertising()
        } else if let link = linkOfHandle[event.connection].flatMap({ links[$0] }) {
            drop(link, .status(event.reason))
        }
    }

    private func completed(_ event: NumberOfCompletedPackets) {
        guard kernel == nil else { return }
        for connection in event.completed {
            do throws(ACLFlowError) {
                try acl.complete(connection)
            } catch {
                log.warning("the controller miscounts: \(error)")
            }
        }
    }

    private func updated(_ event: LEConnectionUpdateComplete) {
        guard event.status == .success else { return }
        kernelLinks[event.connection]?.timing = LinkParameters.Timing(event)
        changeLink(with: event.connection) { $0.timing = LinkParameters.Timing(event) }
    }

    private func updated(_ event: LEPHYUpdateComplete) {
        guard event.status == .success else { return }
        let phys = LinkParameters.PHYs(transmit: event.transmit, receive: event.receive)
        kernelLinks[event.connection]?.phys = phys
        changeLink(with: event.connection) { $0.phys = phys }
    }

    private func changeLink(with handle: ConnectionHandle, _ change: (Link) -> Void) {
        guard let link = links.values.first(where: { $0.handle == handle }) else { return }
        change(link)
        noteParameters(of: link)
    }

    /// There are no keys yet: a central that knows one from earlier hears that we do not.
    private func refuseKey(_ connection: ConnectionHandle) {
        guard kernel == nil else { return }
        Task(executorPreference: loop) {
            await self.sendTolerant(LELongTermKeyRequestNegativeReply(connection: connection))
        }
    }

    private func accept(_ event: LERemoteConnectionParameterRequest) {
        guard kernel == nil else { return }
        let parameters = ConnectionParameters(
            intervalMin: event.intervalMin, intervalMax: event.intervalMax, latency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        Task(executorPreference: loop) {
            await self.sendTolerant(
                LERemoteConnectionParameterRequestReply(connection: event.connection, parameters: parameters))
        }
    }

    private func advertisingSetTerminated(_ event: LEAdvertisingSetTerminated) {
        guard event.set == advertisingSet else { return }
        advertising.onAir = nil
        reconcileAdvertising()
    }

    /// The peer asks for other parameters by L2CAP signalling; the controller makes the change.
    func update(_ link: Link, to wanted: ConnectionParameters) {
        guard let handle = link.handle, kernel == nil else { return }
        Task(executorPreference: loop) {
            await self.sendTolerant(LEConnectionUpdate(connection: handle, parameters: wanted))
        }
    }
}

extension LEConnectionComplete {
    /// The same without what only private addresses need.
    init(_ event: LEEnhancedConnectionComplete) {
        self.init(
            status: event.status, connection: event.connection, role: event.role, peer: event.peer,
            interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout,
            clockAccuracy: event.clockAccuracy)
    }
}
