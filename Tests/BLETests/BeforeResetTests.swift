import BLE
import BLECore
import HCI
import Testing
import VirtualController

/// Tests of events that a controller sends between its failure and its Reset, which ends the links and syncs that
/// they report.
@Suite(.timeLimit(.minutes(10))) struct BeforeResetTests {
    @Test("advertising restarts when a reset ends a link that was just made")
    func advertisingRestartsAfterResetEndsNewLink() async throws {
        try await ScriptedHost.run { host in
            let other = try await Adapter.open(
                on: await host.air.attach(), name: "other", options: host.options)
            try await host.open { adapter in
                try await host.advertise("Scripted", on: adapter)
                _ = await host.loop.sleep(for: .seconds(1))
                host.port.emit(HardwareError(hardwareCode: 1).packet)
                host.port.emit(
                    LEConnectionComplete(
                        connection: ConnectionHandle(0x50), role: .peripheral,
                        peer: HCIAddress(0xc000_0000_0001, type: .random),
                        interval: ConnectionInterval(rawValue: 24), latency: 0,
                        supervisionTimeout: Centiseconds(rawValue: 100)
                    ).packet)
                _ = await host.loop.sleep(for: .seconds(1))
                let device = try await CentralManager(other).connect(
                    to: await adapter.address, timeout: .seconds(10))
                await device.disconnect()
            }
            #expect(host.health == [.recovering(.hardwareError(1), by: .reset), .recovered(by: .reset)])
            await other.close()
        }
    }

    @Test("a train that was found just before a reset is searched for again")
    func trainIsSearchedAgainAfterReset() async throws {
        try await ScriptedHost.run(extended: true) { host in
            let sender = try await Adapter.open(
                on: await host.air.attach(.init(extended: .init())), name: "sender", options: host.options)
            let address = await sender.address
            try await host.open { adapter in
                let stream = CentralManager(adapter).periodicAdvertising(of: address, set: 5)
                let following = Task(executorPreference: host.loop) {
                    for try await packet in stream { return packet.fields.bytes }
                    return []
                }
                _ = await host.loop.sleep(for: .seconds(1))
                host.port.emit(HardwareError(hardwareCode: 1).packet)
                host.port.emit(
                    LEPeriodicAdvertisingSyncEstablished(
                        status: .success,
                        train: PeriodicTrain(
                            sync: SyncHandle(rawValue: 7), sid: 5, advertiser: HCIAddress(address),
                            phy: .le1M, interval: ConnectionInterval(rawValue: 80))
                    ).packet)
                _ = await host.loop.sleep(for: .seconds(1))
                _ = try await PeripheralManager(sender).advertise(
                    try .train(PeriodicAdvertisingTrain([2, 1, 6], every: .milliseconds(100)), sid: 5))
                #expect(try await following.value == [2, 1, 6])
            }
            await sender.close()
        }
    }
}
