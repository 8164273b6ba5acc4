/// Who begins on a link (Core Specification 5.4, Vol 3, Part H, 2.3).
package enum PairingRole: Hashable, Sendable {
    /// The central, which sends Pairing Request.
    case initiator
    /// The peripheral, which can ask for it with Security Request.
    case responder
}
