/// Whether an adapter uses private addresses, and for how long each (Core Specification 5.4, Vol 3, Part C,
/// 10.7).
///
/// With privacy the identity address is never on air. In its place the adapter uses a resolvable private address,
/// made with the identity resolving key that bonded peers have received, and a new one after each
/// `addressLifetime`. Bonded peers can therefore identify this host, and no other device can track it. The host
/// makes the address, since a controller only makes one for each peer that it knows. When the address changes,
/// links continue, and advertising and scanning pause for a few commands.
///
/// Bonded peers that use private addresses themselves are recognized with this option and without it.
///
/// Kernel adapters have the kernel's own privacy. Opening one with this option throws an error.
public struct PrivacyOptions: Sendable, Hashable {
    /// Whether privacy is used. Bonds that were made without it are of no use with it, since their peers never
    /// received the key.
    public var isEnabled: Bool
    /// The time for which an address is used, 1 s to 1 h (Core Specification 5.4, Vol 4, Part E, 7.8.45). The
    /// specification recommends 15 minutes (Vol 3, Part C, Appendix A).
    public var addressLifetime: Duration

    /// Uses the identity address in all packets.
    public static let off = PrivacyOptions(isEnabled: false)

    /// Hides the identity behind a private address that changes every 15 minutes.
    public static let on = PrivacyOptions(isEnabled: true)

    /// Creates options with or without privacy.
    public init(isEnabled: Bool, addressLifetime: Duration = .seconds(900)) {
        self.isEnabled = isEnabled
        self.addressLifetime = addressLifetime
    }

    /// The allowed lifetimes of a private address.
    package static let lifetimes: ClosedRange<Duration> = .seconds(1) ... .seconds(3600)

    /// Throws when the lifetime of private addresses is out of range.
    func check() throws(BLEError) {
        guard !isEnabled || Self.lifetimes.contains(addressLifetime) else {
            throw .timeOutOfRange(
                .privateAddressLifetime, allowed: Self.lifetimes, value: addressLifetime)
        }
    }
}
