import BLECore
import HCI
import HCISocket
import Testing

@testable import BLE

/// A kernel adapter whose controller does not answer: its power, links, scans and advertising during the recovery.
@Suite(.timeLimit(.minutes(10))) struct KernelRecoveryTests {
    private let silentScan = AdapterFault.silence(command: .leSetExtendedScanEnable)

    /// Makes the command of a scan go unanswered three times, and waits until the power is being switched off,
    /// because two restarts have not helped. `before` are the earlier power changes.
    private func reachPowerCycle(_ host: KernelHost, after before: [Bool] = []) async throws {
        host.port.script(.leSetExtendedScanEnable, .silence, times: 3)
        let health = host.adapter.health()
        let scan = host.central.scan()
        let scanning = Task(executorPreference: host.loop) { for try await _ in scan {} }
        for try await event in health where event == .recovering(silentScan, by: .powerCycle) { break }
        _ = scanning
        _ = await host.loop.sleep(for: .milliseconds(500))
        #expect(host.powers == before + [false])
    }

    @Test("closing during a power cycle waits until the power is on again", arguments: [false, true])
    func closeWaitsForPowerOn(wasOff: Bool) async throws {
        try await KernelHost.run(wasOff: wasOff) { host in
            try await reachPowerCycle(host, after: wasOff ? [true] : [])
            await host.adapter.close()
            #expect(host.powers == (wasOff ? [true, false, true, false] : [false, true]))
        }
    }

    @Test("a power cycle recovers without reporting the kernel's commands as another program's")
    func powerCycleIgnoresKernelCommands() async throws {
        try await KernelHost.run { host in
            try await reachPowerCycle(host)
            _ = await host.loop.sleep(for: .seconds(10))
            let steps: [RecoveryStep] = [.reset, .reset, .powerCycle]
            #expect(
                host.health == steps.flatMap { [.recovering(silentScan, by: $0), .recovered(by: $0)] })
            #expect(host.powers == [false, true])
        }
    }

    /// Starts a scan whose command is not answered, and lets two restarts of the controller fail.
    private func failTwice(_ host: KernelHost) async -> Task<Void, any Error> {
        host.port.script(.leSetExtendedScanEnable, .silence, times: 1)
        host.port.script(.leReadLocalSupportedFeatures, .silence, times: 2)
        let scan = host.central.scan()
        let scanning = Task(executorPreference: host.loop) { for try await _ in scan {} }
        _ = await host.loop.sleep(for: .seconds(15))
        return scanning
    }

    @Test(
        "an adapter with links is not power-cycled; the links continue"
    )
    func adapterWithLinksIsNotPowerCycled() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            try await other.serve([9])
            let device = try await host.adapter.connect(to: other)
            let scanning = await failTwice(host)
            let steps: [AdapterHealthEvent] = [
                .recovering(silentScan, by: .reset), .recovering(silentScan, by: .reset),
                .postponed(silentScan, links: 1), .answersAgain(command: .leSetExtendedScanEnable),
            ]
            #expect(host.health == steps)
            #expect(host.powers == [])
            #expect(try await device.read(try await device.sample()) == [9])
            #expect(host.adapter.observedState.value == .poweredOn)
            scanning.cancel()
        }
    }

    @Test("an adapter with links of other programs is not power-cycled")
    func foreignLinksPreventPowerCycle() async throws {
        try await KernelHost.run { host in
            host.kernel.othersLinks = [DeviceAddress(1, type: .public), DeviceAddress(2, type: .public)]
            let scanning = await failTwice(host)
            #expect(
                host.health.suffix(2) == [
                    .postponed(silentScan, links: 2), .answersAgain(command: .leSetExtendedScanEnable),
                ])
            #expect(host.powers == [])
            host.kernel.othersLinks = []
            scanning.cancel()
        }
    }

    @Test("recovery of a silent controller is postponed while other programs have links")
    func silenceWithForeignLinksIsPostponed()
        async throws
    {
        try await KernelHost.run { host in
            host.kernel.othersLinks = [DeviceAddress(1, type: .public)]
            host.port.script(.leSetExtendedScanEnable, .silence, times: 6)
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { for try await _ in scan {} }
            _ = await host.loop.sleep(for: .seconds(40))
            #expect(await host.adapter.end == nil)
            #expect(host.powers == [])
            #expect(host.health.count { $0 == .postponed(silentScan, links: 1) } >= 1)
            host.kernel.othersLinks = []
            scanning.cancel()
        }
    }

    @Test("an adapter that is switched off during recovery stays off")
    func powerOffDuringRecoveryStaysOff() async throws {
        try await KernelHost.run { host in
            host.port.script(.leSetExtendedScanEnable, .silence, times: 1)
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { () -> BLEError? in
                await failure { () throws(BLEError) in for try await _ in scan {} }
            }
            _ = await host.loop.sleep(for: .milliseconds(2500))
            #expect(host.health.last == .recovering(silentScan, by: .reset))
            host.kernel.switchPower(false)
            #expect(await scanning.value == .adapter(.poweredOff))
            #expect(host.powers == [])
        }
    }

    @Test(
        "scanning and advertising stop while the system sleeps and resume afterwards",
        arguments: [false, true], [false, true])
    func systemSleepStopsRadio(isExtended: Bool, isResumeLost: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            let other = try await host.other()
            _ = try await PeripheralManager(host.adapter).advertise(.beacon("A"))
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { for try await _ in scan {} }
            _ = await host.loop.sleep(for: .seconds(1))
            // The kernel stops both, and then reports that the system sleeps.
            if isExtended {
                host.kernel.emit(LESetExtendedAdvertisingEnable(enable: false))
                host.kernel.emit(LESetExtendedScanEnable(enable: false, filterDuplicates: .off))
            } else {
                host.kernel.emit(LESetAdvertisingEnable(enable: false))
                host.kernel.emit(LESetScanEnable(enable: false, filterDuplicates: false))
            }
            _ = await host.loop.sleep(for: .milliseconds(50))
            host.kernel.emit(0x002d, [1])
            _ = await host.loop.sleep(for: .seconds(1))
            let before = host.port.opcodes
            let gone = await failure { () throws(BLEError) in
                _ = try await CentralManager(other).first(within: .seconds(60)) { $0.name == "A" }
            }
            #expect(gone == .notFound(.device(within: .seconds(60))))
            #expect(host.port.opcodes == before)
            host.kernel.isOverflowing = isResumeLost
            host.kernel.emit(0x002e, [0, 0, 0, 0, 0, 0, 0, 0])
            _ = await host.loop.sleep(for: .milliseconds(50))
            host.kernel.isOverflowing = false
            _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "A" }
            let enable: HCIOpcode = isExtended ? .leSetExtendedScanEnable : .leSetScanEnable
            #expect(host.port.opcodes.dropFirst(before.count).contains(enable))
            scanning.cancel()
            await other.close()
        }
    }

    @Test(
        "an advertisement that is stopped during recovery without a reset goes off air",
        arguments: [false, true])
    func stopDuringRecoveryWithoutReset(isExtended: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            let other = try await host.other()
            let peripheral = PeripheralManager(host.adapter)
            let stopped = try await peripheral.advertise(.beacon("A"))
            let kept = isExtended ? try await peripheral.advertise(.beacon("B")) : stopped
            try await silence(host, extended: isExtended) { await stopped.stop() }
            let gone = await failure { () throws(BLEError) in
                _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "A" }
            }
            #expect(gone == .notFound(.device(within: .seconds(5))))
            if isExtended {
                _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "B" }
                await kept.stop()
                let all = await failure { () throws(BLEError) in
                    _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "B" }
                }
                #expect(all == .notFound(.device(within: .seconds(5))))
            }
            await other.close()
        }
    }

    @Test(
        "closing an adapter during recovery stops its advertising",
        arguments: [false, true])
    func closeDuringRecoveryStopsAdvertising(isExtended: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            let other = try await host.other()
            _ = try await PeripheralManager(host.adapter).advertise(.beacon("A"))
            let enable: HCIOpcode = isExtended ? .leSetExtendedScanEnable : .leSetScanEnable
            host.port.script(enable, .silence, times: 1)
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { for try await _ in scan {} }
            _ = await host.loop.sleep(for: .milliseconds(2500))
            #expect(host.health.last == .recovering(.silence(command: enable), by: .reset))
            await host.adapter.close()
            _ = await scanning.result
            let gone = await failure { () throws(BLEError) in
                _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == "A" }
            }
            #expect(gone == .notFound(.device(within: .seconds(5))))
            await other.close()
        }
    }

    /// Makes the controller leave one command unanswered. `body` runs during the recovery, for which a reset
    /// is reported but not sent.
    private func silence(
        _ host: KernelHost, extended: Bool = true, during body: @Sendable () async throws -> Void = {}
    ) async throws {
        let enable: HCIOpcode = extended ? .leSetExtendedScanEnable : .leSetScanEnable
        host.port.script(enable, .silence, times: 1)
        let scan = host.central.scan()
        let scanning = Task(executorPreference: host.loop) { for try await _ in scan {} }
        _ = await host.loop.sleep(for: .milliseconds(2500))
        #expect(host.health.last == .recovering(.silence(command: enable), by: .reset))
        try await body()
        _ = await host.loop.sleep(for: .seconds(10))
        #expect(Array(host.health.suffix(2)) == .reset(after: enable))
        scanning.cancel()
        _ = await scanning.result
        _ = await host.loop.sleep(for: .seconds(1))
    }
}
