import ATT
import BLECore
import HCI
import SMP

extension DecodedPacket {
    /// What the packet says went wrong: an error of ATT, a status other than success, a failed pairing.
    package var failure: String? {
        if let command = top.smp {
            guard case .pairingFailed(let reason) = command else { return nil }
            return "Pairing Failed: \(reason)"
        }
        if let pdu = top.att {
            guard case .response(.error(let error)) = pdu else { return nil }
            return "\(error.requestOpcode): \(error.code)"
        }
        guard let event = outer.event, let (what, status) = event.outcome, status != .success else {
            return nil
        }
        return "\(what): \(status)"
    }
}

extension HCIEvent {
    /// What the event is about, and how it went.
    fileprivate var outcome: (what: String, status: HCIStatus)? {
        switch self {
        case .commandComplete(let event): event.status.map { (event.opcode.description, $0) }
        case .commandStatus(let event): (event.opcode.description, event.status)
        case .disconnectionComplete(let event): (code.description, event.status)
        case .encryptionChange(let event): (code.description, event.status)
        case .encryptionChangeV2(let event): (code.description, event.status)
        case .encryptionKeyRefreshComplete(let event): (code.description, event.status)
        case .readRemoteVersionInformationComplete(let event): (code.description, event.status)
        case .leMeta(.connectionComplete(let event)): ("LE Connection Complete", event.status)
        case .leMeta(.enhancedConnectionComplete(let event)): ("LE Connection Complete", event.status)
        case .leMeta(.connectionUpdateComplete(let event)): ("LE Connection Update Complete", event.status)
        case .leMeta(.readRemoteFeaturesComplete(let event)):
            ("LE Read Remote Features Complete", event.status)
        case .leMeta(.phyUpdateComplete(let event)): ("LE PHY Update Complete", event.status)
        default: nil
        }
    }
}
