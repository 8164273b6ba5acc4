import BLEAdvertising
import BLECore
import HCI

/// The data of one event of a periodic advertising train.
public struct PeriodicAdvertisement: Hashable, Sendable {
    /// The address of the train's advertiser.
    public var address: DeviceAddress
    /// The number of its advertising set, 0 to 15.
    public var set: UInt8
    /// The advertising data of the packet, decoded.
    public var fields: AdvertisingData
    /// The received signal strength in dBm; nil when the controller does not know it.
    public var rssi: Int8?
    /// The transmit power in dBm, if the advertiser includes it.
    public var txPower: Int8?
    /// Whether the end of the data is missing: the controller lost it, or had no room for it.
    public var isTruncated: Bool
    /// The time at which the data were received, by the loop's clock.
    public var received: Instant
}

/// How a periodic train is followed.
public struct PeriodicSyncOptions: Hashable, Sendable {
    /// The number of events in a row that the receiver may skip, 0 to 499, to save energy.
    public var skip = 0
    /// The silence after which the train counts as lost, 100 ms to 163.84 s.
    public var timeout = Duration.seconds(20)
    /// The maximum time to search for the train, from the beginning of the search; nil for no limit. A
    /// controller searches for one train at a time. Other trains wait, and a search without a limit lets them
    /// have a turn after 20 s.
    public var establishing: Duration? = .seconds(20)
    /// The PHYs on which the train's set is announced.
    public var phys: Set<PHY> = [.le1M]
    /// The maximum number of packets that wait for a slow consumer; older ones are dropped and counted.
    public var buffer = 1024

    /// Creates options that receive every event of a train that is announced on LE 1M.
    public init() {}

    /// The scan that finds the train.
    var scan: ScanOptions {
        var scan = ScanOptions()
        scan.isPassive = true
        scan.extended = .on
        scan.phys = phys
        return scan
    }

    /// Throws when an option is out of range (Core Specification 5.4, Vol 4, Part E, 7.8.67).
    func check() throws(BLEError) {
        guard !phys.isEmpty else {
            throw .invalidRequest(.noPHY)
        }
        guard (0...499).contains(skip) else {
            throw .outOfRange(.skippedEvents, allowed: 0...499, value: skip)
        }
        let timeouts = Duration.milliseconds(100)...(.milliseconds(163_840))
        guard timeouts.contains(timeout) else {
            throw .timeOutOfRange(.synchronizationTimeout, allowed: timeouts, value: timeout)
        }
    }
}
