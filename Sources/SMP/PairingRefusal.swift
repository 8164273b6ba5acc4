import BLECore

/// The security manager of a host that does not pair: it answers every attempt with Pairing Failed, so that
/// the peer goes on without encryption instead of waiting 30 seconds for nothing (Core Specification 5.4,
/// Vol 3, Part H, 2.4.6, 3.4 and 3.5.5).
package struct PairingRefusal: Machine, Sendable {
    package enum Event: Equatable, Sendable {
        /// The peer sent a packet of this code and receives this reason.
        case refused(SMPCode, PairingFailureReason)
    }

    /// One place each: while no frame can leave, a peer that asks again gets one answer, the latest.
    private var answer: PairingFailureReason?
    private var event: Event?

    /// A machine that waits for the peer.
    package init() {}

    /// Takes one packet. Pairing Failed and codes reserved for future use are not answered (3.3): two
    /// hosts that both refuse do not answer each other without end.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        guard frame.count > 0 else { return }
        let code = SMPCode(rawValue: frame[0])
        guard code != .pairingFailed, let octets = code.octets else { return }
        let reason: PairingFailureReason =
            switch code {
            case _ where frame.count != octets: .invalidParameters
            case .pairingRequest, .securityRequest: .pairingNotSupported
            default: .commandNotSupported
            }
        refuse(code, reason)
    }

    /// Answers a packet of that code with that reason.
    mutating func refuse(_ code: SMPCode, _ reason: PairingFailureReason) {
        answer = reason
        event = .refused(code, reason)
    }

    /// Has no time limits, so does nothing.
    package mutating func expire(at now: Instant) {}

    /// Writes Pairing Failed, when there is something to refuse.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let reason = answer.take() else { return false }
        SMPCommand.pairingFailed(reason).encode(into: &output)
        return true
    }

    /// Returns the request that was refused, once.
    package mutating func nextEvent() -> Event? { event.take() }

    package var deadline: Instant? { nil }
}
