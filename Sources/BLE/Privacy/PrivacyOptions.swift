/// How an adapter hides who it is (Core Specification 5.4, Vol 3, Part C, 10.7).
///
/// With privacy its identity address is never on air: in its place is a resolvable private address, made with the
/// identity resolving key that bonded peers have got, and a new one after each `addressLifetime`. So bonded peers know
/// this host, and no other device can follow it. The host makes the address, since a controller only has one for each
/// peer that it knows; links stay as they are when it changes, advertising and scanning pause for a few commands.
///
/// Peers that hide likewise are known by their bonds in any case, with privacy or without it.
///
/// Kernel adapters have the kernel's privacy, which this does not change: opening one with it is refused.
public struct PrivacyOptions: Sendable, Hashable {
    /// Whether the identity is hidden. Bonds made without are of no use with it: their peers never got the key.
    public var isEnabled: Bool
    /// How long an address is used, 1 s to 1 h (Core Specification 5.4, Vol 4, Part E, 7.8.45); 15 minutes is what
    /// the specification recommends (Vol 3, Part C, Appendix A).
    public var addressLifetime: Duration

    /// Uses the identity address in all packets.
    public static let off = PrivacyOptions(isEnabled: false)

    /// Hides the identity behind a private address that changes every 15 minutes.
    public static let on = PrivacyOptions(isEnabled: true)

    /// Hides the identity, or does not.
    public init(isEnabled: Bool, addressLifetime: Duration = .seconds(900)) {
        self.isEnabled = isEnabled
        self.addressLifetime = addressLifetime
    }

    /// The allowed lifetimes of a private address.
    package static let lifetimes: ClosedRange<Duration> = .seconds(1) ... .seconds(3600)

    /// Throws when no controller's user could want that.
    func check() throws(BLEError) {
        guard !isEnabled || Self.lifetimes.contains(addressLifetime) else {
            throw .timeOutOfRange(
                .privateAddressLifetime, allowed: Self.lifetimes, value: addressLifetime)
        }
    }
}
