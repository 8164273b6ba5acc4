import SMP

/// What an adapter's security manager knows beyond one link.
struct SecurityState {
    let options: SecurityOptions
    /// What stands for this host when it pairs; known when the controller is set up.
    var identity: LocalIdentity?
    /// What failed pairings have left, by the peer's address.
    var attempts = RepeatedAttempts()
    /// How often the fixed passkey has been part of a pairing that failed.
    var fixedPasskeyFailures = 0

    init(_ options: SecurityOptions) { self.options = options }
}
