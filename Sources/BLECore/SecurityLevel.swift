/// The security that a link has or requires: the levels of LE security mode 1 (Core Specification 5.4, Vol 3,
/// Part C, 10.2.1).
public enum SecurityLevel: UInt8, Hashable, Comparable, CaseIterable, Sendable {
    /// Level 1: no encryption is needed.
    case open = 1
    /// Level 2: encrypted with a key from any pairing; the peer's identity is not authenticated.
    case encrypted = 2
    /// Level 3: encrypted with a key from a pairing that was protected against a man in the middle.
    case authenticated = 3
    /// Level 4: as level 3, with LE Secure Connections pairing and a key of 16 octets.
    case secureConnections = 4

    /// Orders the weaker level first.
    public static func < (left: SecurityLevel, right: SecurityLevel) -> Bool {
        left.rawValue < right.rawValue
    }

    /// `low`, `medium`, `high` or `fips`: the name of the level in the kernel and in BlueZ tools.
    package var kernelName: String {
        switch self {
        case .open: "low"
        case .encrypted: "medium"
        case .authenticated: "high"
        case .secureConnections: "fips"
        }
    }

    /// Creates a level from its name in the kernel.
    package init?(kernelName: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.kernelName == kernelName }) else { return nil }
        self = level
    }
}
