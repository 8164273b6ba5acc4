import BLECore
import HCI

/// What to advertise and how.
public struct AdvertisingRequest: Hashable, Sendable {
    /// The packets.
    public var plan: AdvertisingPlan
    /// Whether others may connect or ask for a scan response.
    public var kind: AdvertisingKind
    /// Time between two advertising events, 20 ms to 10.24 s.
    public var interval: Duration = .milliseconds(100)
    /// The transmit power to ask for in dBm, where the controller lets one choose.
    public var power: Int8?

    /// A request for the packets of `plan`.
    public init(_ plan: AdvertisingPlan, kind: AdvertisingKind = .connectable) {
        self.plan = plan
        self.kind = kind
    }

    /// The interval in steps of 0.625 ms.
    func intervalSteps() throws(BLEError) -> UInt16 {
        let steps = interval.nanoseconds / 625_000
        guard (0x0020...0x4000).contains(steps) else {
            throw .limit(
                "an advertising interval in milliseconds (at least 20)", limit: 10_240,
                value: Int(interval.nanoseconds / 1_000_000))
        }
        return UInt16(steps)
    }
}

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
    /// Told when the advertisement is off the air.
    let stopped = Waiters<UInt64, Void>()
}
