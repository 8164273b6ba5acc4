import BLECore
import DequeModule

/// One side of the signaling channel of an LE link (Core Specification 5.4, Vol 3, Part A, 4). Frames are
/// those of channel 0x0005, without the L2CAP header.
///
/// Connection parameter updates are supported in both roles; the owner decides on the peer's requests.
/// Connection-oriented channels are not supported yet: requests for them are refused as the specification
/// requires, and unknown packets are rejected.
package struct LESignaling: Machine, Sendable {
    /// The events that the channel reports to its owner.
    package enum Event: Hashable, Sendable {
        /// The peripheral requests these parameters, which are in range. `answer` sends the response.
        case parameterUpdateRequested(identifier: UInt8, LEConnectionParameters)
        /// The central has responded to our request.
        case parameterUpdateAnswered(isAccepted: Bool)
        /// The peer did not understand our request.
        case requestRejected(CommandReject)
        /// The peer did not respond to our request in time.
        case requestTimedOut
        /// A packet does not belong to any procedure in progress. If it was a request, it has been refused.
        case unexpected(LESignalingCode)
        /// A frame could not be read. If it was a request, it has been rejected.
        case malformed(DecodeError)
        /// A request was ignored, because too many responses already wait for the transport.
        case flooded(limit: Int)
    }

    /// The maximum size in octets of a frame on the LE channel (Vol 3, Part A, 4).
    package static let mtu = 23
    /// The maximum number of responses that wait for the transport.
    package static let responseLimit = 16

    /// The role of this host on the link.
    package let role: LinkRole
    /// The time within which the peer must respond to a request (RTX, Vol 3, Part A, 6.2.1): 1 to 60 s.
    package let timeLimit: Duration

    private var frames: Deque<LESignalingPDU> = []
    private var events: Deque<Event> = []
    private var lastIdentifier: UInt8 = 0
    /// The request of this side to which the peer has not responded.
    private var pending: (identifier: UInt8, deadline: Instant)?
    /// The peer's request to which the owner has not responded.
    private var asked: UInt8?

    /// Creates the channel of a new link.
    package init(role: LinkRole, timeLimit: Duration = .seconds(30)) {
        self.role = role
        self.timeLimit = timeLimit
    }
}

// MARK: - The owner's side

extension LESignaling {
    /// Requests new connection parameters from the central.
    /// - Throws: if the request cannot be made.
    package mutating func requestParameterUpdate(
        _ parameters: LEConnectionParameters, at now: Instant
    ) throws(LESignalingError) {
        guard role == .peripheral else { throw .notPeripheral }
        guard parameters.isInRange else { throw .outOfRange }
        guard pending == nil else { throw .busy }
        lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
        pending = (lastIdentifier, now + timeLimit)
        let request = ConnectionParameterUpdateRequest(
            intervalMin: parameters.intervalMin, intervalMax: parameters.intervalMax,
            latency: parameters.latency, supervisionTimeout: parameters.supervisionTimeout)
        frames.append(LESignalingPDU(request, identifier: lastIdentifier))
    }

    /// Responds to the peripheral's request. The owner must apply parameters that it accepts. Does nothing if
    /// a newer request has replaced this one.
    package mutating func answer(_ identifier: UInt8, isAccepted: Bool) {
        guard asked == identifier else { return }
        asked = nil
        respond(
            ConnectionParameterUpdateResponse(result: isAccepted ? .accepted : .rejected), to: identifier)
    }
}

// MARK: - The machine

extension LESignaling {
    /// The time by which the peer must have responded.
    package var deadline: Instant? { pending?.deadline }

    /// Times out a request to which the peer has not responded by `now`.
    package mutating func expire(at now: Instant) {
        guard let pending, pending.deadline <= now else { return }
        self.pending = nil
        events.append(.requestTimedOut)
    }

    /// Writes the next frame for the peer; `output` needs room for `mtu` octets.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let frame = frames.popFirst() else { return false }
        frame.encode(into: &output)
        return true
    }

    /// Returns the next event, oldest first.
    package mutating func nextEvent() -> Event? { events.popFirst() }

    /// Handles a frame from the peer.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        do throws(DecodeError) {
            try read(frame)
        } catch {
            events.append(.malformed(error))
            guard frame.count >= 2, !LESignalingCode(rawValue: frame[0]).isResponse else { return }
            respond(CommandReject(reason: .notUnderstood), to: frame[1])
        }
    }

    private mutating func read(_ frame: Span<UInt8>) throws(DecodeError) {
        guard frame.count <= Self.mtu else {
            let code = LESignalingCode(rawValue: frame[0])
            events.append(.unexpected(code))
            if !code.isResponse { respond(CommandReject.mtuExceeded(limit: UInt16(Self.mtu)), to: frame[1]) }
            return
        }
        let packet = try LESignalingPDU(frame)
        guard packet.identifier != 0 else {
            throw DecodeError(
                packet: LESignalingPDU.packetName, field: "Identifier", offset: 1, reason: .invalid(value: 0))
        }
        switch packet.code {
        case .connectionParameterUpdateRequest where role == .central: try consider(packet)
        case .connectionParameterUpdateResponse where packet.identifier == pending?.identifier:
            let response = try ConnectionParameterUpdateResponse(packet.data)
            pending = nil
            events.append(.parameterUpdateAnswered(isAccepted: response.result == .accepted))
        case .commandReject where packet.identifier == pending?.identifier:
            let reject = try CommandReject(packet.data)
            pending = nil
            events.append(.requestRejected(reject))
        default: try refuse(packet)
        }
    }
}

// MARK: - Responses

extension LESignaling {
    /// Handles a peripheral's request for new parameters: rejects them if they are out of range, and
    /// otherwise passes the request to the owner.
    private mutating func consider(_ packet: LESignalingPDU) throws(DecodeError) {
        let parameters = try ConnectionParameterUpdateRequest(packet.data).parameters
        guard parameters.isInRange else {
            events.append(.unexpected(packet.code))
            return respond(ConnectionParameterUpdateResponse(result: .rejected), to: packet.identifier)
        }
        asked = packet.identifier
        events.append(.parameterUpdateRequested(identifier: packet.identifier, parameters))
    }

    /// Refuses a request with the response for its code. Responses without a pending request are only
    /// reported.
    private mutating func refuse(_ packet: LESignalingPDU) throws(DecodeError) {
        let identifier = packet.identifier
        switch packet.code {
        case .leCreditBasedConnectionRequest:
            _ = try LECreditBasedConnectionRequest(packet.data)
            respond(LECreditBasedConnectionResponse(result: .spsmNotSupported), to: identifier)
        case .creditBasedConnectionRequest:
            let request = try CreditBasedConnectionRequest(packet.data)
            respond(
                CreditBasedConnectionResponse(
                    result: .spsmNotSupported, destinations: request.sources.map { _ in .null }),
                to: identifier)
        case .creditBasedReconfigureRequest:
            _ = try CreditBasedReconfigureRequest(packet.data)
            respond(CreditBasedReconfigureResponse(result: .invalidDestination), to: identifier)
        case .disconnectionRequest:
            let request = try DisconnectionRequest(packet.data)
            respond(
                CommandReject.invalidChannel(local: request.destination, remote: request.source),
                to: identifier)
        case .flowControlCredit: break
        case let code where code.isResponse: break
        default: respond(CommandReject(reason: .notUnderstood), to: identifier)
        }
        events.append(.unexpected(packet.code))
    }

    private mutating func respond(_ message: some LESignalingMessage, to identifier: UInt8) {
        // 0 is not a valid identifier, so no response is possible.
        guard identifier != 0 else { return }
        guard frames.count < Self.responseLimit else {
            return events.append(.flooded(limit: Self.responseLimit))
        }
        frames.append(LESignalingPDU(message, identifier: identifier))
    }
}

extension LESignalingCode {
    /// Whether the code is that of a response, which must not itself be rejected (4.1).
    fileprivate var isResponse: Bool {
        let responses: [LESignalingCode] = [
            .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse,
            .leCreditBasedConnectionResponse, .creditBasedConnectionResponse,
            .creditBasedReconfigureResponse,
        ]
        return responses.contains(self)
    }
}

/// The reason why a request cannot be made.
public enum LESignalingError: Error, Hashable, Sendable {
    /// Only a peripheral can request parameters; a central changes them.
    case notPeripheral
    /// The parameters are out of range.
    case outOfRange
    /// The previous request has no response yet.
    case busy
}
