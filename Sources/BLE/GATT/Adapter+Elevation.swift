import ATT
import BLECore
import HCISocket
import Logging

extension Adapter {
    /// Raises a link's security because the server refused something with `code`, unless the link's owner
    /// does not want that. False when nothing can be raised, so that asking again is of no use.
    ///
    /// Links of the kernel ask it through their socket. It pairs if it must; what is sent meanwhile waits in
    /// the socket, so the request can be repeated at once. Links of ours have no security manager yet: this
    /// is the place where it comes in.
    func raiseSecurity(of link: Link, for code: ATTErrorCode) async throws(BLEError) -> Bool {
        guard link.client.raisesSecurity else { return false }
        switch link.channel {
        case .acl: return false
        case .socket(let channel):
            let present = channel.securityLevel ?? .low
            guard let wanted = present.level(after: code) else { return false }
            do throws(BLEError) {
                try secure(link.id, wanted)
                return true
            } catch .port(let error) {
                // What the server said is worth more than that the kernel cannot.
                log.debug("raising the security of the link to \(link.peer): \(error)")
                return false
            }
        }
    }

    /// Whether the peer of a link is bonded: whether it keeps what it knows of us, and tells changes of its
    /// database later. Without a bond store, nobody is known to be.
    func isBonded(_ link: Link) -> Bool { false }
}

extension LinkSecurityLevel {
    /// The level to reach when a server refuses a request with `code` on a link of this level; nil when more
    /// security would not help (Core Specification 5.4, Vol 3, Part C, 10.3.2).
    public func level(after code: ATTErrorCode) -> LinkSecurityLevel? {
        switch code {
        case .insufficientEncryption: self < .medium ? .medium : nil
        // The code does not say which authentication it misses: the next level is tried.
        case .insufficientAuthentication: LinkSecurityLevel(rawValue: rawValue + 1)
        default: nil
        }
    }
}
