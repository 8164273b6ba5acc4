import BLECore
import HCI
import Testing
import VirtualController

/// Helpers for tests of periodic advertising.
extension Bench {
    /// Creates set 0 with a train, by default with an interval of 100 ms, and enables both.
    mutating func makeTrain(
        on id: ID, interval: UInt16 = 80, data: [UInt8] = [], adi: Bool = false, sid: UInt8 = 3,
        secondary: PHY = .le1M
    ) {
        make(Self.parameters(0, [], secondary: secondary, sid: sid), on: id)
        perform(Self.trainParameters(interval), on: id)
        for fragment in Self.trainFragments(data) {
            perform(LESetPeriodicAdvertisingData(fragment: fragment), on: id)
        }
        perform(
            LESetPeriodicAdvertisingEnable(enable: adi ? [.on, .includesADI] : .on, set: Self.set(0)), on: id)
        enable(on: id)
    }

    static func trainParameters(_ interval: UInt16 = 80) -> LESetPeriodicAdvertisingParameters {
        LESetPeriodicAdvertisingParameters(
            set: set(0), intervalMin: ConnectionInterval(rawValue: interval),
            intervalMax: ConnectionInterval(rawValue: max(interval, 800)))
    }

    /// Returns the fragments in which a host sends the data.
    static func trainFragments(_ data: [UInt8]) -> [PeriodicAdvertisingDataFragment] {
        fragments(data, set(0)).compactMap {
            try? PeriodicAdvertisingDataFragment(set: $0.set, operation: $0.operation, $0.data)
        }
    }

    func following(
        _ id: ID, sid: UInt8 = 3, options: LEPeriodicAdvertisingCreateSync.Options = [], skip: UInt16 = 0,
        timeout: UInt16 = 100, excluded: ExcludedToneExtensions = []
    ) -> LEPeriodicAdvertisingCreateSync {
        LEPeriodicAdvertisingCreateSync(
            options: options, sid: sid, advertiser: HCIAddress(address(id)), skip: skip,
            timeout: Centiseconds(rawValue: timeout), excluded: excluded)
    }

    /// Returns the events about trains that `id` has reported since the last call, and drops all others.
    mutating func trainEvents(_ id: ID) -> TrainEvents {
        var all = TrainEvents()
        for case .leMeta(let event) in events(id) {
            switch event {
            case .periodicAdvertisingSyncEstablished(let event): all.established.append(event)
            case .periodicAdvertisingReport(let report): all.reports.append(report)
            case .periodicAdvertisingSyncLost(let event): all.lost.append(event.sync)
            default: break
            }
        }
        return all
    }

    struct TrainEvents {
        var established: [LEPeriodicAdvertisingSyncEstablished] = []
        var reports: [LEPeriodicAdvertisingReport] = []
        var lost: [SyncHandle] = []
    }

    /// Returns a sender, a receiver that is synchronized to its train, and the sync handle.
    static func train(
        data: [UInt8] = [1, 2], adi: Bool = false, skip: UInt16 = 0, timeout: UInt16 = 100,
        options: LEPeriodicAdvertisingCreateSync.Options = []
    ) throws -> (Bench, sender: ID, receiver: ID, SyncHandle) {
        var bench = Bench()
        let (sender, receiver) = (bench.joinExtended(), bench.joinExtended())
        bench.makeTrain(on: sender, data: data, adi: adi)
        bench.scanExtended(on: receiver)
        bench.perform(
            bench.following(sender, options: options, skip: skip, timeout: timeout), on: receiver)
        bench.run(for: .milliseconds(250))
        bench.perform(LESetExtendedScanEnable(enable: false), on: receiver)
        let established = try #require(bench.trainEvents(receiver).established.first)
        #expect(established.status == .success)
        return (bench, sender, receiver, established.train.sync)
    }
}
