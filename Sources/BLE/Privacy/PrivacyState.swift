import BLECore

/// What an adapter does about its own identity and those of its peers.
struct PrivacyState {
    let options: PrivacyOptions
    /// The address that is on air in place of the identity; nil without privacy.
    var own: DeviceAddress?
    /// When it is old.
    var ownEnd: Instant?
    /// What the controller knows of peers.
    var list = PeerKeyList()
    /// Whether the radio pauses for a change.
    var isChanging = false
    /// When a change that failed may be tried again.
    var retry: Instant?
    /// Until when the controller is trusted to find the peers that it should know.
    var trustEnd: Instant?
    /// Whether there are bonds whose peers may use private addresses.
    var knowsHiddenPeers = false
    /// Tells of bonds that come and go.
    var watch: OwnedTask?

    init(_ options: PrivacyOptions) { self.options = options }

    /// Whether the own address is old.
    func isAddressDue(at now: Instant) -> Bool { ownEnd.map { $0 <= now } ?? false }

    /// When something is to be done. A change that failed holds all others up.
    var deadline: Instant? { earlier(isChanging ? nil : retry ?? ownEnd, trustEnd) }
}
