/// What one device gives the other by a way that is not Bluetooth (Core Specification 5.4, Vol 3, Part H,
/// 2.3.5.4 and 2.3.5.6.4).
public enum OutOfBandData: Hashable, Sendable {
    /// LE legacy pairing: the temporary key, which both must have.
    case temporaryKey(UInt128)
    /// LE Secure Connections: the confirm value of a device's public key, and the random number in it.
    case secureConnections(confirm: UInt128, random: UInt128)
}
