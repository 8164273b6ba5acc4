import GATTServer
import HCISocket
import SMP

extension LinkSecurity {
    /// The worth of a link that is encrypted with a key from a pairing.
    init(_ strength: PairingStrength, isBonded: Bool) {
        let level: Level =
            switch (strength.isAuthenticated, strength.isSecureConnections) {
            case (true, true): .secureConnections
            case (true, false): .authenticated
            case (false, _): .encrypted
            }
        self.init(level: level, keySize: strength.keySize, isBonded: isBonded)
    }

    /// Whether the link is as safe as that.
    func reaches(_ wanted: LinkSecurityLevel) -> Bool { level >= Level(wanted) && hasKey(for: wanted) }

    /// FIPS wants a key of full length (Core Specification 5.4, Vol 3, Part C, 10.2.1, level 4).
    private func hasKey(for wanted: LinkSecurityLevel) -> Bool { wanted < .fips || keySize == 16 }
}

extension LinkSecurity.Level {
    /// What a link of that level is worth at least.
    init(_ level: LinkSecurityLevel) {
        self =
            switch level {
            case .low: .none
            case .medium: .encrypted
            case .high: .authenticated
            case .fips: .secureConnections
            }
    }
}

extension LinkSecurityLevel {
    /// The highest level that the link reaches.
    package init(_ security: LinkSecurity) {
        self = Self.allCases.last(where: security.reaches) ?? .low
    }
}

extension PairingRequirements {
    /// What a pairing has to come to for that level.
    init(_ level: LinkSecurityLevel) {
        self.init(isAuthenticated: level >= .high, isSecureConnections: level >= .fips)
    }
}

extension PairingStrength {
    /// Whether a link that is encrypted with such a key is as safe as that.
    func reaches(_ level: LinkSecurityLevel) -> Bool {
        LinkSecurity(self, isBonded: true).reaches(level)
    }
}
