import BLECore
import HCI

extension CentralManager {
    /// What an advertiser's periodic train says, event by event. The stream owns the synchronization: leaving
    /// its loop, or cancelling it, ends that. Several streams of one train share it, with the options of the
    /// first.
    ///
    /// It ends with `BLEError.syncLost` when the train falls silent, and with `BLEError.timedOut` when it is
    /// not found.
    /// ```swift
    /// for try await said in central.periodicAdvertising(of: address, set: 1) { print(said.fields.serviceData) }
    /// ```
    /// Core Specification 5.4, Vol 3, Part C, 9.5.
    public func periodicAdvertising(
        of advertiser: DeviceAddress, set: UInt8, options: PeriodicSyncOptions = PeriodicSyncOptions()
    ) -> BoundedStream<PeriodicAdvertisement> {
        let buffer = StreamBuffer<PeriodicAdvertisement>(.newest(options.buffer), on: adapter.loop)
        let train = PeriodicSynchronizer.Train(advertiser: advertiser, set: set)
        guard set <= 0x0f else {
            buffer.finish(.failure(.outOfRange(.advertisingSetID, allowed: 0...15, value: Int(set))))
            return BoundedStream(buffer)
        }
        adapter.loop.execute { [adapter] in
            adapter.assumeIsolated { $0.followTrain(train, options, into: buffer) }
        }
        return BoundedStream(buffer)
    }
}
