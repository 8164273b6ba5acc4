import BLECore
import GATTServer
import SMP

extension LinkSecurity {
    /// The worth of a link that is encrypted with a key from a pairing.
    init(_ strength: PairingStrength, isBonded: Bool) {
        let level: SecurityLevel =
            switch (strength.isAuthenticated, strength.isSecureConnections) {
            case (true, true): .secureConnections
            case (true, false): .authenticated
            case (false, _): .encrypted
            }
        self.init(level: level, keySize: strength.keySize, isBonded: isBonded)
    }

    /// Whether the link is as safe as that.
    func reaches(_ wanted: SecurityLevel) -> Bool { level >= wanted && hasKey(for: wanted) }

    /// The highest level that the link reaches, with the length of its key.
    package var reached: SecurityLevel { SecurityLevel.allCases.last(where: reaches) ?? .open }

    /// Level 4 requires a key of full length (Core Specification 5.4, Vol 3, Part C, 10.2.1, level 4).
    private func hasKey(for wanted: SecurityLevel) -> Bool { wanted < .secureConnections || keySize == 16 }
}

extension PairingRequirements {
    /// What a pairing has to come to for that level.
    init(_ level: SecurityLevel) {
        self.init(isAuthenticated: level >= .authenticated, isSecureConnections: level >= .secureConnections)
    }
}

extension PairingStrength {
    /// Whether a link that is encrypted with such a key is as safe as that.
    func reaches(_ level: SecurityLevel) -> Bool {
        LinkSecurity(self, isBonded: true).reaches(level)
    }
}
