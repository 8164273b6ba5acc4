import BLE
import BLEAdvertising
import BLECore

/// What a periodic train says and how, from options or from a configuration.
struct PeriodicSettings: Hashable, Sendable {
    /// The time from packet to packet.
    var interval: ClosedRange<Duration>
    /// What its packets say; nil for what the advertisement says.
    var content: AdvertisingContent?
    /// Whether its packets contain the power that they are sent with.
    var includesTxPower = false

    /// The intervals that there are (Core Specification 5.4, Vol 4, Part E, 7.8.61).
    static let intervals: ClosedRange<Duration> = .microseconds(7500)...(.microseconds(81_918_750))

    /// The train beside the packets of `plan`.
    func train(_ plan: AdvertisingPlan) throws(AdvertisingPlanError) -> PeriodicAdvertisingTrain {
        var data = plan.extended ?? []
        if let content {
            data = try AdvertisingPlan(content, kind: .nonconnectable, extended: true).extended ?? []
        }
        var train = PeriodicAdvertisingTrain(data, within: interval)
        train.includesTxPower = includesTxPower
        return train
    }
}
