import BLECore

/// The data that this host gives a peer before they pair out of band, and the secrets that belong to them, which
/// this host keeps (Core Specification 5.4, Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4). Use an offer for one pairing
/// only: each pairing with it reveals more of its secret.
///
/// ```swift
/// var options = AdapterOptions()
/// options.security.outOfBandOffer = OutOfBandOffer()
/// let adapter = try await Adapter.open(.virtual(name: "kitchen"), options: options)
/// writeTag(await adapter.outOfBandRecord?.advertisingData)
/// ```
public struct OutOfBandOffer: Hashable, Sendable {
    /// What the peer is to be given.
    public let data: OutOfBandData
    /// The key pair of that pairing; nil with LE legacy pairing, which has none.
    package var keyPair: PairingKeyPair?
    /// The random number r of LE Secure Connections.
    package var random: UInt128

    /// A new offer for LE Secure Connections, from the system's random numbers; nil in a build without LE Secure
    /// Connections.
    public init?() {
        self.init(toolbox: SecurityManager.defaultToolbox, using: SystemRandomNumberGenerator())
    }

    /// A new offer for LE Secure Connections; nil without a toolbox, or if `generator` yields no valid private key.
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
    /// What both ends have, once it is given: of legacy pairing's data there are no two halves.
    var shared: OutOfBandData? { keyPair == nil ? data : nil }
}
