import BLECore

/// The data that this host provides to a peer before they pair out of band, and the associated secrets, which
/// stay on this host (Core Specification 5.4, Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4). Use an offer for one
/// pairing only: each pairing with it reveals more of its secret.
///
/// ```swift
/// var options = AdapterOptions()
/// options.security.outOfBandOffer = OutOfBandOffer()
/// let adapter = try await Adapter.open(.virtual(name: "kitchen"), options: options)
/// writeTag(await adapter.outOfBandRecord?.advertisingData)
/// ```
public struct OutOfBandOffer: Hashable, Sendable {
    /// The data to pass to the peer.
    public let data: OutOfBandData
    /// The key pair for the pairing; nil with LE legacy pairing, which uses no key pair.
    package var keyPair: PairingKeyPair?
    /// The random number r of LE Secure Connections.
    package var random: UInt128

    /// Creates a new offer for LE Secure Connections with the system's random number generator; returns nil
    /// in a build without LE Secure Connections.
    public init?() {
        self.init(toolbox: SecurityManager.defaultToolbox, using: SystemRandomNumberGenerator())
    }

    /// Creates a new offer for LE Secure Connections; returns nil without a toolbox, or if `generator` yields
    /// no valid private key.
    package init?(
        toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox,
        using generator: some RandomNumberGenerator & Sendable
    ) {
        var generator: any RandomNumberGenerator & Sendable = generator
        guard let toolbox, let pair = toolbox.keyPair(using: &generator) else { return nil }
        keyPair = pair
        random = generator.number()
        data = .secureConnections(
            confirm: toolbox.f4(pair.publicKey.x, pair.publicKey.x, random, 0), random: random)
    }

    /// Creates an offer for LE legacy pairing, which only the secrecy of the temporary key protects. A host with
    /// such an offer pairs by LE legacy pairing only.
    public init(temporaryKey: UInt128) {
        data = .temporaryKey(temporaryKey)
        random = 0
    }
}

extension OutOfBandOffer {
    /// The data that both devices share, which is the temporary key of LE legacy pairing; nil with LE Secure
    /// Connections, where each device has its own data.
    var shared: OutOfBandData? { keyPair == nil ? data : nil }
}
