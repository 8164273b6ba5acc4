import BLECore
import SMP

/// Identifies a bond by an identity of this host and the peer.
public struct BondID: Hashable, Sendable {
    /// The identity address that this host had.
    public var local: DeviceAddress
    /// The identity address of the peer.
    public var peer: DeviceAddress
    /// Whether the peer has only claimed that address: it was behind a private address when it paired. The device
    /// that has the address on the air can be another one, and can have a bond besides.
    public var isIdentityClaimed: Bool

    /// Creates the identifier of the bond of `peer` with the identity `local` of this host.
    public init(_ peer: DeviceAddress, at local: DeviceAddress, isIdentityClaimed: Bool = false) {
        self.local = local
        self.peer = peer
        self.isIdentityClaimed = isIdentityClaimed
    }
}

extension BondID: CustomStringConvertible {
    /// Both addresses with their types, as in "PEER at LOCAL".
    public var description: String { "\(peer) at \(local)" }
}

extension BondID: Comparable {
    /// Orders by this host's identity, then by the peer's, public addresses first, claimed identities last.
    public static func < (left: BondID, right: BondID) -> Bool { left.key < right.key }

    private var key: (UInt8, UInt64, UInt8, UInt64, Int) {
        (local.type.rawValue, local.value, peer.type.rawValue, peer.value, isIdentityClaimed ? 1 : 0)
    }
}

extension Bond {
    package var id: BondID { BondID(peer, at: local, isIdentityClaimed: isIdentityClaimed) }
}
