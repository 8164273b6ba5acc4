import BLECore
import HCI
import Logging

extension Adapter {
    /// Acts on one event of the controller. Answers to commands are handled by the command queue.
    ///
    /// While a controller that this process alone uses is being set up, its events except Hardware Error date
    /// from before its Reset and are dropped: a link that they report is already gone.
    func receive(_ event: HCIEvent) {
        switch event {
        case .hardwareError: break
        default: if recovery.isUnderWay, kernel == nil { return }
        }
        switch event {
        case .disconnectionComplete(let event): disconnected(event)
        case .numberOfCompletedPackets(let event): completed(event)
        case .readRemoteVersionInformationComplete(let event): received(event)
        case .encryptionChange(let event):
            encryptionChanged(event.connection, event.status, isOn: event.mode != .off)
        case .encryptionChangeV2(let event):
            encryptionChanged(event.connection, event.status, isOn: event.mode != .off)
        case .encryptionKeyRefreshComplete(let event):
            encryptionChanged(event.connection, event.status, isOn: true, isRefresh: true)
        case .hardwareError(let event): handle(.hardwareError(event.hardwareCode))
        case .dataBufferOverflow(let event):
            log.warning(
                "the controller reports an overflow of its data buffers (link type \(event.linkType))")
        case .leMeta(let event): receive(event)
        default: break
        }
    }

    private func receive(_ event: LEMetaEvent) {
        switch event {
        case .connectionComplete(let event): connectionCompleted(event)
        case .enhancedConnectionComplete(let event): connectionCompleted(LEConnectionComplete(event), event)
        case .connectionUpdateComplete(let event): updated(event)
        case .phyUpdateComplete(let event): updated(event)
        case .longTermKeyRequest(let event): longTermKeyRequested(event)
        case .dataLengthChange(let event): updated(event)
        case .readRemoteFeaturesComplete(let event): received(event)
        case .remoteConnectionParameterRequest(let event): answer(event)
        case .advertisingSetTerminated(let event):
            radio.terminated(event)
            settle()
        case .periodicAdvertisingSyncEstablished(let event): established(event)
        case .periodicAdvertisingReport(let event): received(event)
        case .periodicAdvertisingSyncLost(let event): lost(event)
        default: break
        }
    }

    private func disconnected(_ event: DisconnectionComplete) {
        guard event.status == .success else { return }
        if kernel != nil {
            // The socket reports the end; this event reports why.
            kernelLinks.end(event.connection, event.reason)
            radio.linkEnded()
            settle()
            meetPostponed()
        } else if let link = links[event.connection] {
            drop(link, .status(event.reason))
        }
    }

    private func completed(_ event: NumberOfCompletedPackets) {
        guard kernel == nil else { return }
        for connection in event.completed {
            do throws(ACLFlowError) {
                try acl.complete(connection)
            } catch {
                log.warning("the controller reports an impossible number of completed packets: \(error)")
            }
            // The link can send its waiting frames now.
            if let link = links[connection.connection] { flush(link) }
        }
    }

    private func updated(_ event: LEConnectionUpdateComplete) {
        if event.status == .success {
            changeLink(with: event.connection) { $0.timing = LinkParameters.Timing(event) }
        }
        end(.timing, on: event.connection, event.status, of: .leConnectionUpdate)
    }

    private func updated(_ event: LEPHYUpdateComplete) {
        if event.status == .success {
            let phys = LinkParameters.PHYs(transmit: event.transmit, receive: event.receive)
            changeLink(with: event.connection) { $0.phys = phys }
        }
        end(.phys, on: event.connection, event.status, of: .leSetPHY)
    }

    private func updated(_ event: LEDataLengthChange) {
        let lengths = LinkParameters.DataLengths(transmit: event.transmit, receive: event.receive)
        changeLink(with: event.connection) { $0.dataLengths = lengths }
    }

    private func received(_ event: ReadRemoteVersionInformationComplete) {
        if event.status == .success, let link = links[event.connection] {
            link.remoteVersion = RemoteVersion(
                version: event.version, company: event.company, subversion: event.subversion)
        }
        end(.version, on: event.connection, event.status, of: .readRemoteVersionInformation)
    }

    private func received(_ event: LEReadRemoteFeaturesComplete) {
        if event.status == .success, let link = links[event.connection] {
            link.remoteFeatures = event.features
        }
        end(.features, on: event.connection, event.status, of: .leReadRemoteFeatures)
    }
}

extension LEEnhancedConnectionComplete {
    /// The private address that the controller generated for this host, if it generated one.
    var own: DeviceAddress? { localResolvable.value == 0 ? nil : localResolvable }

    /// The peer's address as it was on air.
    var peerOnAir: DeviceAddress? { peerResolvable.value == 0 ? peer.deviceAddress : peerResolvable }
}

extension LEConnectionComplete {
    /// Creates the event without the fields for private addresses.
    init(_ event: LEEnhancedConnectionComplete) {
        self.init(
            status: event.status, connection: event.connection, role: event.role, peer: event.peer,
            interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout,
            clockAccuracy: event.clockAccuracy)
    }
}
