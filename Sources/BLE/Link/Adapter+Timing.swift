import BLECore
import HCI
import Logging

/// The connection parameters of links, and the requests for other ones.
extension Adapter {
    /// Requests other connection parameters, and returns the link's parameters after that.
    func setParameters(
        _ wanted: ConnectionParameters, of id: LinkID
    ) async throws(BLEError) -> LinkParameters {
        let parameters = try wanted.checked()
        let link = try link(id)
        if link.role == .central {
            try await update(id, to: parameters)
        } else if let timing = link.parameters.timing, parameters.admit(timing) {
            return link.parameters
        } else if try await requestsByLinkLayer(id) {
            do throws(BLEError) {
                try await update(id, to: parameters)
            } catch .hci(.unsupportedRemoteFeature, _) {
                guard kernel == nil else { throw .parametersRefused }
                try await request(parameters, on: id)
            }
        } else {
            try await request(parameters, on: id)
        }
        return try self.link(id).parameters
    }

    /// Changes the parameters of a link by a command to the controller.
    private func update(_ id: LinkID, to parameters: LEConnectionParameters) async throws(BLEError) {
        do throws(BLEError) {
            try await run(.timing, on: id) {
                LEConnectionUpdate(connection: $0, parameters: parameters)
            }
        } catch .hci(.unacceptableConnectionParameters, _) {
            throw .parametersRefused
        } catch .hci(.unsupportedLLParameterValue, _) {
            throw .parametersRefused
        }
    }

    /// Returns whether a peripheral can send the request by the Connection Parameters Request procedure,
    /// which both controllers must support.
    private func requestsByLinkLayer(_ id: LinkID) async throws(BLEError) -> Bool {
        // The kernel's L2CAP signaling channel is not accessible, so only the controller can send the
        // request.
        guard kernel == nil else { return true }
        let needed: LEFeatures = [.connectionParametersRequest, .peripheralInitiatedFeaturesExchange]
        guard capabilities.features.isSuperset(of: needed) else { return false }
        do throws(BLEError) {
            return try await remoteFeatures(of: id).contains(.connectionParametersRequest)
        } catch .hci {
            return false
        }
    }

    /// Sends the request to the central by L2CAP signaling. Ends when the central refuses, or when it has
    /// accepted and an event has reported the change, in either order. Sends nothing if the link has these
    /// parameters already, because no event would follow.
    private func request(_ parameters: LEConnectionParameters, on id: LinkID) async throws(BLEError) {
        try await run(.timing, by: .request(parameters), on: id)
    }

    func sendRequest(_ parameters: LEConnectionParameters, on link: Link) throws(BLEError) {
        do throws(LESignalingError) {
            try link.signaling.requestParameterUpdate(parameters, at: loop.now)
        } catch {
            throw .invalidRequest(.parameterRequest(error))
        }
        pumpSoon(link)
    }

    /// Handles an event of a link's signaling channel.
    func handle(_ event: LESignaling.Event, of link: Link) {
        let id = link.id
        switch event {
        case .parameterUpdateRequested(let identifier, let wanted):
            let isAccepted = parameterRequests.admits(wanted, of: link.peer)
            link.signaling.answer(identifier, isAccepted: isAccepted)
            if isAccepted { updateAsAccepted(wanted, to: link) }
        case .parameterUpdateAnswered(false), .requestRejected:
            end(.timing, on: id, .failure(.parametersRefused))
        case .parameterUpdateAnswered(true):
            link.procedures.requestAnswered()
            proceed(with: link)
        case .requestTimedOut:
            // A change that has happened without an answer is not a failure.
            link.procedures.requestAnswered(
                orNot: .timedOut(.parameterRequest, after: link.signaling.timeLimit))
            proceed(with: link)
        default: log.debug("signaling of \(link.peer): \(event)")
        }
    }

    /// Answers a request of the peer's controller for other parameters.
    func answer(_ event: LERemoteConnectionParameterRequest) {
        guard kernel == nil, let link = links[event.connection] else { return }
        let wanted = LEConnectionParameters(
            intervalMin: event.intervalMin, intervalMax: event.intervalMax, latency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        if parameterRequests.admits(wanted, of: link.peer) {
            sendTolerant(
                LERemoteConnectionParameterRequestReply(connection: event.connection, parameters: wanted))
        } else {
            sendTolerant(LERemoteConnectionParameterRequestNegativeReply(connection: event.connection))
        }
    }
}

extension LEConnectionParameters {
    /// Returns whether a link with this timing meets these parameters.
    func admit(_ timing: LinkParameters.Timing) -> Bool {
        (intervalMin.duration...intervalMax.duration).contains(timing.interval)
            && Int(latency) == timing.latency && supervisionTimeout.duration == timing.supervisionTimeout
    }
}
