import BLECore
import HCI

/// How long an encrypted link may be without a packet that proves its key (Core Specification 5.4, Vol 6,
/// Part B, 5.4). Pings are not simulated: a peer in range always sends one in time.
struct AuthenticatedPayload: Sendable {
    var timeout = Centiseconds(rawValue: 3000)
    /// The start of the time limit.
    private var start = Instant.zero

    /// Starts the time limit anew.
    mutating func restart(at now: Instant) { start = now }

    /// When a silence must be reported to the host.
    func deadline(ofSilence silence: Instant) -> Instant { max(silence, start) + timeout.duration }
}

extension Link {
    /// When too long nothing has come that proves the key.
    var payloadDeadline: Instant? {
        encryption.isOn ? silence.map { payload.deadline(ofSilence: $0) } : nil
    }
}

extension VirtualController {
    /// Reports links whose peers have proved nothing for too long.
    mutating func expirePayloads(at now: Instant) {
        for index in links.indices where links[index].payloadDeadline.map({ $0 <= now }) ?? false {
            links[index].payload.restart(at: now)
            emit(AuthenticatedPayloadTimeoutExpired(connection: links[index].handle))
        }
    }
}
