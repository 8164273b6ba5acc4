import ATT
import BLECore
import HCISocket
import Logging

extension Adapter {
    /// Raises a link's security because the server refused something with `code`, unless the link's owner
    /// does not want that. False when nothing can be raised, so that asking again is of no use.
    ///
    /// Links of the kernel ask it through their socket, which pairs if it must; on links of ours their security
    /// manager does.
    func raiseSecurity(of link: Link, for code: ATTErrorCode) async throws(BLEError) -> Bool {
        guard link.raisesSecurity else { return false }
        noteSecurity(of: link)
        guard let wanted = link.security.reached.level(after: code) else { return false }
        do throws(BLEError) {
            try await secure(link.id, wanted)
            return true
        } catch {
            switch error {
            case .port, .adapter(.unsupported), .cannotPair(.unsupported):
                // What the server said is worth more than that this host cannot.
                log.debug("raising the security of the link to \(link.peer): \(error)")
                return false
            default: throw error
            }
        }
    }

    /// Whether the peer of a link is bonded. Its server then keeps our subscriptions, and indicates changes of its
    /// database on a later link.
    func isBonded(_ link: Link) -> Bool { link.security.isBonded }
}

extension SecurityLevel {
    /// The level to reach when a server refuses a request with `code` on a link of this level; nil when more
    /// security would not help (Core Specification 5.4, Vol 3, Part C, 10.3.2).
    package func level(after code: ATTErrorCode) -> SecurityLevel? {
        switch code {
        case .insufficientEncryption: self < .encrypted ? .encrypted : nil
        // The code does not say which authentication it misses: the next level is tried.
        case .insufficientAuthentication: SecurityLevel(rawValue: rawValue + 1)
        default: nil
        }
    }
}
