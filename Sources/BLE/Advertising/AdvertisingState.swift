import BLECore

/// The advertising of this process, and what the radio does for it.
struct AdvertisingState {
    struct Active {
        var request: AdvertisingRequest
        var maximumLinks: Int
        let id: UInt64
    }

    /// What was asked for; nil: nothing.
    var wanted: Active?
    /// The advertisement that is on air, by its number.
    var onAir: UInt64?
    var family = CommandFamily.legacy
    var isChanging = false
    var nextID: UInt64 = 0
    /// Told when the first packets are on air, or why not.
    let started = Waiters<UInt64, Void>()
    /// Told when the adapter ends the advertisement.
    let ended = Waiters<UInt64, Void>()
}
