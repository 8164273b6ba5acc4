import BLECore
import DequeModule

/// One side of the signaling channel of an LE link (Core Specification 5.4, Vol 3, Part A, 4). Frames are
/// what channel 0x0005 carries, without the L2CAP header.
///
/// Connection parameter updates go both ways; the owner decides on what the peer asks for. There are no
/// connection-oriented channels yet: requests for some are refused as the specification has it, and what
/// is not understood is rejected.
package struct LESignaling: Machine, Sendable {
    /// What the channel's owner should know.
    package enum Event: Hashable, Sendable {
        /// The peripheral asks for these parameters, which are within range. `answer` sends the response.
        case parameterUpdateRequested(identifier: UInt8, LEConnectionParameters)
        /// The central has answered our request.
        case parameterUpdateAnswered(isAccepted: Bool)
        /// The peer did not understand our request.
        case requestRejected(CommandReject)
        /// The peer did not answer our request in time.
        case requestTimedOut
        /// A packet fits nothing that goes on here. If it was a request, it has been refused.
        case unexpected(LESignalingCode)
        /// A frame could not be read. If it was a request, it has been rejected.
        case malformed(DecodeError)
        /// A request was passed over, since so many responses wait for the transport already.
        case flooded(limit: Int)
    }

    /// The greatest frame that the channel carries on LE (4).
    package static let mtu = 23
    /// Responses that may wait for the transport.
    package static let responseLimit = 16

    /// The role of this host on the link.
    package let role: LinkRole
    /// How long the peer has to answer a request (RTX, Vol 3, Part A, 6.2.1): 1 to 60 s.
    package let timeLimit: Duration

    private var frames: Deque<LESignalingPDU> = []
    private var events: Deque<Event> = []
    private var lastIdentifier: UInt8 = 0
    /// Our request that is not answered.
    private var pending: (identifier: UInt8, deadline: Instant)?
    /// The peer's request that the owner has not answered.
    private var asked: UInt8?

    /// A channel of a link that has just been made.
    package init(role: LinkRole, timeLimit: Duration = .seconds(30)) {
        self.role = role
        self.timeLimit = timeLimit
    }
}

// MARK: - The owner's side

extension LESignaling {
    /// Asks the central for other parameters.
    /// - Throws: when the request cannot be made.
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

    /// Answers the peripheral's request. An accepted one is the owner's to carry out. Does nothing when a
    /// newer request has taken its place.
    package mutating func answer(_ identifier: UInt8, isAccepted: Bool) {
        guard asked == identifier else { return }
        asked = nil
        respond(
            ConnectionParameterUpdateResponse(result: isAccepted ? .accepted : .rejected), to: identifier)
    }
}

// MARK: - The machine

extension LESignaling {
    /// When the peer has to have answered.
    package var deadline: Instant? { pending?.deadline }

    /// Gives up a request that was not answered by `now`.
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

    /// Takes a frame from the peer.
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
    /// Handles a peripheral's request for other parameters: the owner decides, unless they are out of range.
    private mutating func consider(_ packet: LESignalingPDU) throws(DecodeError) {
        let parameters = try ConnectionParameterUpdateRequest(packet.data).parameters
        guard parameters.isInRange else {
            events.append(.unexpected(packet.code))
            return respond(ConnectionParameterUpdateResponse(result: .rejected), to: packet.identifier)
        }
        asked = packet.identifier
        events.append(.parameterUpdateRequested(identifier: packet.identifier, parameters))
    }

    /// Refuses a request with the response that its code has. Responses that no request waits for are ignored.
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
        // 0 is no identifier, so nothing can be said to it.
        guard identifier != 0 else { return }
        guard frames.count < Self.responseLimit else {
            return events.append(.flooded(limit: Self.responseLimit))
        }
        frames.append(LESignalingPDU(message, identifier: identifier))
    }
}

extension LESignalingCode {
    /// Whether it answers a request, so that it must not be rejected itself (4.1).
    fileprivate var isResponse: Bool {
        let responses: [LESignalingCode] = [
            .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse,
            .leCreditBasedConnectionResponse, .creditBasedConnectionResponse,
            .creditBasedReconfigureResponse,
        ]
        return responses.contains(self)
    }
}

/// Why a request cannot be made.
public enum LESignalingError: Error, Hashable, Sendable {
    /// Only a peripheral asks for parameters; a central changes them.
    case notPeripheral
    /// The parameters are out of range.
    case outOfRange
    /// The request before is not answered.
    case busy
}
