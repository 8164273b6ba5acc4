import BLE
import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

/// The end of searches for periodic trains.
@Suite(.timeLimit(.minutes(10))) struct PeriodicEndTests {
    private let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)

    @Test("a reset does not extend the time limit of a search", arguments: [false, true])
    func resetDoesNotExtendSearchLimit(isOver: Bool) async throws {
        try await ScriptedHost.run(extended: true) { host in
            try await host.open { adapter in
                var options = PeriodicSyncOptions()
                options.establishing = .seconds(3)
                let before = host.loop.now
                let stream = CentralManager(adapter).periodicAdvertising(of: absent, set: 5, options: options)
                let waiting = Task(executorPreference: host.loop) {
                    let error = await failure { () throws(BLEError) in for try await _ in stream {} }
                    return (error, before.duration(until: host.loop.now))
                }
                if isOver {
                    // The cancellation is not answered within the command's time limit of 2 s, which causes a reset.
                    host.port.script(.lePeriodicAdvertisingCreateSyncCancel, .silence, times: 1)
                } else {
                    _ = await host.loop.sleep(for: .seconds(2))
                    host.port.emit(HardwareError(hardwareCode: 1).packet)
                }
                let (error, passed) = await waiting.value
                #expect(error == .timedOut(.synchronization, after: .seconds(3)))
                #expect(passed >= .seconds(isOver ? 5 : 3) && passed < .seconds(isOver ? 6 : 4))
            }
        }
    }

    @Test("a train that is found while the adapter closes is released and starts no other scan")
    func trainFoundDuringCloseStartsNoScan() async throws {
        try await ScriptedHost.run(extended: true) { host in
            try await host.open { adapter in
                let central = CentralManager(adapter)
                let streams = [5, 6].map { central.periodicAdvertising(of: absent, set: $0) }
                let others = Task(executorPreference: host.loop) {
                    await failure { () throws(BLEError) in _ = try await central.connect(to: absent) }
                }
                _ = await host.loop.sleep(for: .seconds(1))
                // The controller has found the train before the search is cancelled.
                let train = PeriodicTrain(
                    sync: SyncHandle(rawValue: 7), sid: 5, advertiser: HCIAddress(absent), phy: .le1M,
                    interval: ConnectionInterval(rawValue: 80))
                let cancel = HCIOpcode.lePeriodicAdvertisingCreateSyncCancel
                host.port.script(
                    cancel,
                    .sends([
                        LEPeriodicAdvertisingSyncEstablished(status: .success, train: train).packet,
                        CommandComplete(cancel, status: .commandDisallowed).packet,
                    ]), times: 1)
                let begun = host.port.opcodes.count { $0 == .leSetExtendedScanParameters }
                await adapter.close()
                #expect(await others.value != nil)
                #expect(host.port.opcodes.count { $0 == .leSetExtendedScanParameters } == begun)
                #expect(host.port.opcodes.contains(.lePeriodicAdvertisingTerminateSync))
                _ = streams
            }
        }
    }
}
