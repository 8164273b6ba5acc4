import SMP

/// How an adapter pairs, and where it keeps bonds.
public struct SecurityOptions: Sendable {
    /// Interacts with the user during pairing. The default has neither input nor output, so that new devices pair
    /// by Just Works.
    public var delegate: any PairingDelegate = SilentPairing()
    /// Whether the keys of a pairing are kept for later links.
    public var isBonding = true
    /// Whether LE Secure Connections are used.
    public var secureConnections = SecureConnectionsUse.preferred
    /// The minimum encryption key size in octets, 7 to 16.
    public var minimumKeySize = 16
    /// Whether peers may begin to pair.
    public var acceptsPairing = true
    /// Whether this process manages pairing on kernel adapters, and gives the kernel the bonds. Only one program
    /// can do so: opening a kernel adapter fails while bluetoothd runs. A bluetoothd that is started later is
    /// noticed before any pairing command is sent to the kernel, and manages pairing from then on, until the
    /// adapter is opened again. If false, the delegate is still asked about the links of this process, but the
    /// kernel pairs as other programs have set it; by default with Just Works only.
    public var managesKernelPairing = false
    /// Whether a controller behind a TCP or Unix stream, or a port of the caller's, has the same random static
    /// address each time, which bonds require. Another host that connects to the same place has another
    /// controller, which must not have the same address.
    public var keepsStreamAddress = false
    /// A passkey to display in place of a random one: a weaker protection, for devices with a printed
    /// passkey. When three pairings have failed with it, or one on the same link, random passkeys are
    /// displayed, because each attempt reveals some of its bits (Core Specification 5.4, Vol 3, Part H,
    /// 2.3.5.6.3). The number is kept with the bonds, for later runs as well if they have a folder, until the
    /// passkey is another one or ``BondStore/clearPasskeyFailures()`` is called. Not supported on kernel adapters,
    /// because the kernel displays random ones.
    public var fixedPasskey: Passkey?
    /// Whether the delegate is asked for the out-of-band data of peers. Not supported on kernel adapters.
    public var asksForOutOfBandData = false
    /// The out-of-band data for peers, which `Adapter.outOfBandRecord` contains with this host's address. Not
    /// supported on kernel adapters.
    public var outOfBandOffer: OutOfBandOffer?
    /// The store of the bonds. By default they are in memory, for as long as the process runs.
    public var bonds = BondStore()

    /// Creates the default options: new devices pair by Just Works, with LE Secure Connections if they support
    /// them.
    public init() {}
}

extension SecurityOptions {
    /// Returns the policy for pairing with a peer, whose bond has the strength `existing`.
    func policy(existing: PairingStrength?) -> PairingPolicy {
        var policy = PairingPolicy(ioCapability: delegate.ioCapability)
        policy.comparesNumbers = delegate.comparesNumbers
        policy.isBonding = isBonding
        policy.secureConnections = secureConnections
        policy.minimumKeySize = minimumKeySize
        policy.fixedPasskey = fixedPasskey
        // A host that displays the passkey receives key presses. A host whose user can enter it would have to
        // send them.
        policy.reportsKeypresses =
            delegate.sendsKeypresses || [.displayOnly, .displayYesNo].contains(delegate.ioCapability)
        policy.asksForOutOfBandData = asksForOutOfBandData
        policy.outOfBandOffer = outOfBandOffer
        policy.existing = existing
        return policy
    }
}

/// A delegate with neither input nor output. New devices may pair; bonded devices that have lost their key may
/// not.
public struct SilentPairing: PairingDelegate {
    /// Creates the delegate, which has no state.
    public init() {}
}

/// The security state of an adapter that is not part of one link.
struct SecurityState {
    let options: SecurityOptions
    /// The failed pairing attempts, by the peer's address.
    var attempts = RepeatedAttempts()
    private(set) var follower: BondFollower?
    /// What has changed since `takeNews` was called, if it is watched.
    private var news = BondChange()
    private var isWatched = false

    init(_ options: SecurityOptions) { self.options = options }

    /// Follows the bonds of another identity of this host from now on, and takes them.
    mutating func follow(_ follower: BondFollower, _ bonds: inout BondTable) {
        (self.follower, bonds, news, isWatched) = (follower, BondTable(), BondChange(), false)
        takeChanges(&bonds)
    }

    /// Returns changes from `takeNews` from now on.
    mutating func watchBonds(_ bonds: inout BondTable) {
        takeChanges(&bonds)
        isWatched = true
    }

    /// Takes the changes of the store into `bonds`.
    mutating func takeChanges(_ bonds: inout BondTable) {
        for change in follower?.takeChanges() ?? [] {
            let before = bonds[change.id]?.bond
            if let record = change.record {
                bonds.put(record)
            } else {
                bonds.remove(change.id)
            }
            guard isWatched else { continue }
            if change.wasRemoved { news.removed.append(change.id) }
            if let bond = change.record?.bond, change.wasRemoved || bond != before {
                news.added.append(change.id)
            }
        }
    }

    /// Returns the bonds that were added, or whose keys have changed, and those that were removed since the last call.
    mutating func takeNews() -> BondChange {
        defer { news = BondChange() }
        return news
    }
}
