import BLECore

/// The security manager of a host that does not pair. It answers every attempt with Pairing Failed, so that
/// the peer continues without encryption instead of waiting 30 seconds for its timeout (Core Specification
/// 5.4, Vol 3, Part H, 2.4.6, 3.4 and 3.5.5).
package struct PairingRefusal: Machine, Sendable {
    package enum Event: Equatable, Sendable {
        /// The peer sent a packet with this code, which is answered with this reason.
        case refused(SMPCode, PairingFailureReason)
    }

    /// The pending answer. Only the latest answer and event are kept: while no frame can be sent, a peer that
    /// repeats its request receives one answer.
    private var answer: PairingFailureReason?
    private var event: Event?

    /// Creates a machine that waits for the peer.
    package init() {}

    /// Processes one packet. Pairing Failed and codes reserved for future use are not answered (3.3), so that
    /// two hosts that both refuse do not answer each other endlessly.
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

    /// Answers a packet that has this code by Pairing Failed with this reason.
    mutating func refuse(_ code: SMPCode, _ reason: PairingFailureReason) {
        answer = reason
        event = .refused(code, reason)
    }

    /// Does nothing, because the machine has no timeouts.
    package mutating func expire(at now: Instant) {}

    /// Writes Pairing Failed if an answer is pending.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let reason = answer.take() else { return false }
        SMPCommand.pairingFailed(reason).encode(into: &output)
        return true
    }

    /// Returns the latest refusal, once.
    package mutating func nextEvent() -> Event? { event.take() }

    package var deadline: Instant? { nil }
}
