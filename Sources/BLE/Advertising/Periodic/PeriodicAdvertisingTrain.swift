import BLECore
import HCI

/// A periodic advertising train that goes with an advertising set: packets at exact intervals, for which a
/// receiver that follows the train need not search (Core Specification 5.4, Vol 3, Part C, 9.5 and Vol 6,
/// Part B, 4.4.2.12).
///
/// ```swift
/// var request = AdvertisingRequest(extendedPlan, kind: .nonconnectable)
/// request.periodic = PeriodicAdvertisingTrain([0x03, 0xff, 0xff, 0xff], every: .milliseconds(100))
/// let advertising = try await peripheral.advertise(request)
/// request.periodic?.data = next
/// try await advertising.update(request)  // without a gap
/// ```
public struct PeriodicAdvertisingTrain: Hashable, Sendable {
    /// The data of the packets, a sequence of AD structures: up to 1,650 octets, and no more than the
    /// controller supports (`ControllerCapabilities.maximumAdvertisingDataLength`) and the interval has room
    /// for.
    public var data: [UInt8]
    /// The range of the interval between packets, within 7.5 ms to 81.91875 s. The controller chooses an
    /// interval in this range.
    public var interval: ClosedRange<Duration>
    /// Whether the packets contain their transmit power.
    public var includesTxPower = false

    /// Creates a train that sends `data` at an interval in the range `interval`.
    public init(_ data: [UInt8], within interval: ClosedRange<Duration>) {
        self.data = data
        self.interval = interval
    }

    /// Creates a train that sends `data` every `interval`.
    public init(_ data: [UInt8], every interval: Duration) {
        self.init(data, within: interval...interval)
    }

    /// The range of the time between packets (Core Specification 5.4, Vol 4, Part E, 7.8.61).
    static let intervals: ClosedRange<Duration> = .microseconds(7500)...(.microseconds(81_918_750))

    /// Returns whether a set that sends this train can change to `other` while the train runs: only the data
    /// differ, and they fit into one command (7.8.62).
    func becomesInPlace(_ other: PeriodicAdvertisingTrain) -> Bool {
        var same = self
        same.data = other.data
        guard same == other else { return false }
        return data == other.data || other.data.count <= PeriodicAdvertisingDataFragment.capacity
    }

    /// Throws an error when the train is invalid, or when the controller does not support it.
    func check(for controller: ControllerCapabilities) throws(BLEError) {
        guard controller.features.contains(.periodicAdvertising) else {
            throw .adapter(.unsupported(.periodicAdvertising))
        }
        for end in [interval.lowerBound, interval.upperBound] where !Self.intervals.contains(end) {
            throw .timeOutOfRange(.periodicInterval, allowed: Self.intervals, value: end)
        }
        let limit = controller.maximumAdvertisingDataLength
        guard data.count <= limit else {
            throw .limit(.periodicData, maximum: limit, value: data.count)
        }
    }

    // MARK: Commands

    /// Returns the command that sets the parameters of the train of `set`.
    func parameters(_ set: AdvertisingHandle) -> LESetPeriodicAdvertisingParameters {
        LESetPeriodicAdvertisingParameters(
            set: set, intervalMin: ConnectionInterval(interval.lowerBound),
            intervalMax: ConnectionInterval(interval.upperBound),
            properties: includesTxPower ? .includesTxPower : [])
    }
}
