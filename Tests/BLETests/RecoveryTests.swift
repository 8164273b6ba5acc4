import BLEAdvertising
import BLECore
import HCI
import Testing

@testable import BLE

/// The recovery ladder, the watchdog, and recoveries that wait for the end of links.
@Suite(.timeLimit(.minutes(10))) struct RecoveryTests {
    private func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test("an own controller is reset five times, and again after a minute without a fault")
    func ownControllerResetLimit() {
        var ladder = RecoveryLadder.own
        for second in 0..<5 { #expect(ladder.nextStep(at: at(second)) == .reset) }
        #expect(ladder.nextStep(at: at(5)) == nil)
        #expect(ladder.nextStep(at: at(64)) == nil)
        #expect(ladder.nextStep(at: at(124)) == .reset)
    }

    @Test("a kernel adapter is restarted twice, then power-cycled, then given up")
    func restartsKernelAdapterTwiceThenPowerCyclesThenGivesUp() {
        var ladder = RecoveryLadder.kernel
        let steps = (0..<4).map { ladder.nextStep(at: at($0)) }
        #expect(steps == [.reset, .reset, .powerCycle, nil])
        #expect(ladder.nextStep(at: at(63)) == .reset)
    }

    @Test("the watchdog reports silence once a minute with its total length")
    func watchdogReportsSilenceEachMinute() {
        var watchdog = ScanWatchdog()
        #expect(watchdog.deadline == nil)
        watchdog.watch(true, at: at(0))
        watchdog.received(at: at(10))
        #expect(watchdog.expire(at: at(60)) == nil)
        #expect(watchdog.deadline == at(70))
        #expect(watchdog.expire(at: at(70)) == .seconds(60))
        watchdog.watch(true, at: at(80))
        #expect(watchdog.expire(at: at(130)) == .seconds(120))
        watchdog.received(at: at(131))
        #expect(watchdog.expire(at: at(191)) == .seconds(60))
        watchdog.watch(false, at: at(192))
        watchdog.received(at: at(193))
        #expect(watchdog.deadline == nil)
    }

    @Test("a scan without reports restarts each minute without a reset and finds a later device")
    func quietScanRestartsEachMinute() async throws {
        try await ScriptedHost.run { host in
            try await host.open { adapter in
                let stream = CentralManager(adapter).scan()
                let waiting = Task(executorPreference: host.loop) {
                    for try await found in stream where found.name == "Lamp" { return true }
                    return false
                }
                _ = await host.loop.sleep(for: .seconds(130))
                let lamp = try await host.lamp()
                #expect(try await waiting.value)
                await lamp.close()
            }
            #expect(
                host.health == [
                    .scanRestarted(silence: .seconds(60)), .scanRestarted(silence: .seconds(120)),
                ])
            #expect(host.port.opcodes.filter { $0 == .reset }.count == 1)
        }
    }

    @Test("a scan that is due to restart waits while the controller recovers")
    func quietScanRestartWaitsForRecovery() async throws {
        try await ScriptedHost.run { host in
            try await host.open { adapter in
                let stream = CentralManager(adapter).scan()
                let waiting = Task(executorPreference: host.loop) {
                    await failure { () throws(BLEError) in for try await _ in stream {} }
                }
                _ = await host.loop.sleep(for: .seconds(55))
                host.port.script(.reset, .silence)
                host.port.emit(HardwareError(hardwareCode: 7).packet)
                #expect(await waiting.value == .adapter(.failed(.hardwareError(7))))
                #expect(host.loop.now >= .zero + .seconds(60), "its time has come meanwhile")
            }
        }
    }

    @Test(
        "with an open link a reset waits for its end, unless the option forces it",
        arguments: [false, true])
    func resetWaitsForLinksUnlessForced(atOnce: Bool) async throws {
        try await ScriptedHost.run(recoversWithLinks: atOnce) { host in
            let lamp = try await host.lamp()
            let address = await lamp.address
            let fault = AdapterFault.silence(command: .leSetScanEnable)
            try await host.open { adapter in
                let device = try await CentralManager(adapter).connect(to: address)
                host.port.script(.leSetScanEnable, .silence, times: 1)
                let scan = CentralManager(adapter).scan()
                _ = await host.loop.sleep(for: .seconds(5))
                if atOnce {
                    let ended = await failure { () throws(BLEError) in _ = try await device.discover() }
                    #expect(ended == .disconnected(.status(.hardwareFailure)))
                } else {
                    #expect(host.health == [.postponed(fault, links: 1)])
                    _ = try await device.discover()
                    await device.disconnect()
                    _ = await host.loop.sleep(for: .seconds(1))
                }
                _ = scan
            }
            let before: [AdapterHealthEvent] = atOnce ? [] : [.postponed(fault, links: 1)]
            #expect(host.health == before + .reset(after: .leSetScanEnable))
            await lamp.close()
        }
    }

    @Test("advertising, a connection attempt and a scan survive a reset")
    func requestsSurviveReset() async throws {
        try await ScriptedHost.run { host in
            let other = try await Adapter.open(
                on: await host.air.attach(), name: "other", options: host.options)
            let address = await other.address
            try await host.open { adapter in
                try await host.advertise("Scripted", on: adapter)
                let connecting = Task(executorPreference: host.loop) {
                    try await CentralManager(adapter).connect(to: address)
                }
                let scan = CentralManager(adapter).scan()
                let following = Task(executorPreference: host.loop) {
                    for try await found in scan where found.name == "Lamp" { return }
                }
                _ = await host.loop.sleep(for: .seconds(1))
                host.port.emit(HardwareError(hardwareCode: 1).packet)
                _ = await host.loop.sleep(for: .seconds(1))
                let found = try await host.receive("Scripted", on: other)
                #expect(found.isConnectable)
                try await host.advertise("Lamp", on: other)
                try await following.value
                let device = try await connecting.value
                _ = try await device.discover()
                await device.disconnect()
            }
            #expect(
                host.health == [.recovering(.hardwareError(1), by: .reset), .recovered(by: .reset)])
            await other.close()
        }
    }

    @Test("when recovery fails, all pending operations end with the fault")
    func failedRecoveryEndsAllOperations() async throws {
        try await ScriptedHost.run { host in
            let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)
            let failed = BLEError.adapter(.failed(.hardwareError(9)))
            try await host.open { adapter in
                var content = AdvertisingContent()
                content.name = "Scripted"
                let plan = try AdvertisingPlan(content, kind: .connectable)
                let advertising = try await PeripheralManager(adapter).advertise(AdvertisingRequest(plan))
                let ends = [
                    Task(executorPreference: host.loop) {
                        await failure { () throws(BLEError) in
                            _ = try await CentralManager(adapter).connect(to: absent)
                        }
                    },
                    Task(executorPreference: host.loop) {
                        await failure { () throws(BLEError) in
                            for try await _ in CentralManager(adapter).scan() {}
                        }
                    },
                    Task(executorPreference: host.loop) {
                        await failure { () throws(BLEError) in _ = try await advertising.ended() }
                    },
                    Task(executorPreference: host.loop) {
                        await failure { () throws(BLEError) in
                            for try await _ in PeripheralManager(adapter).events() {}
                        }
                    },
                ]
                _ = await host.loop.sleep(for: .seconds(1))
                host.port.script(.reset, .silence)
                host.port.emit(HardwareError(hardwareCode: 9).packet)
                for end in ends { #expect(await end.value == failed) }
                let late = await failure { () throws(BLEError) in
                    _ = try await CentralManager(adapter).first(within: .seconds(1)) { _ in true }
                }
                #expect(late == failed)
            }
            let step = AdapterHealthEvent.recovering(.hardwareError(9), by: .reset)
            #expect(
                host.health == Array(repeating: step, count: 5) + [.gaveUp(.hardwareError(9))])
        }
    }

    @Test("a postponed hardware error is not forgotten when a silent command is answered again")
    func postponedHardwareErrorSurvivesSilence() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            let address = await lamp.address
            try await host.open { adapter in
                let device = try await CentralManager(adapter).connect(to: address)
                host.port.emit(HardwareError(hardwareCode: 1).packet)
                host.port.script(.leSetScanEnable, .silence, times: 1)
                let scan = CentralManager(adapter).scan()
                _ = await host.loop.sleep(for: .seconds(70))
                await device.disconnect()
                _ = await host.loop.sleep(for: .seconds(5))
                _ = scan
            }
            #expect(
                host.health == [
                    .postponed(.hardwareError(1), links: 1), .scanRestarted(silence: .seconds(60)),
                    .recovering(.hardwareError(1), by: .reset), .recovered(by: .reset),
                ])
            await lamp.close()
        }
    }

    @Test("a pending connect fails when its adapter is removed")
    func removedAdapterFailsPendingConnect() async throws {
        try await ScriptedHost.run { host in
            try await host.open { adapter in
                let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)
                let waiting = Task(executorPreference: host.loop) {
                    await failure { () throws(BLEError) in
                        _ = try await CentralManager(adapter).connect(to: absent)
                    }
                }
                _ = await host.loop.sleep(for: .seconds(1))
                #expect(await adapter.sought == 1)
                await adapter.shutDown(.adapter(.removed))
                #expect(await waiting.value == .adapter(.removed))
                #expect(await adapter.sought == 0)
            }
        }
    }

    @Test("a controller that sends nothing any more is recovered although it has a link")
    func deadControllerWithIdleLinkIsRecovered() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            let address = await lamp.address
            try await host.open { adapter in
                let device = try await CentralManager(adapter).connect(to: address)
                for opcode in [HCIOpcode.leSetScanParameters, .readBDADDR] {
                    host.port.script(opcode, .silence, times: 1)
                }
                let scan = CentralManager(adapter).scan()
                let reason = try await device.disconnection()
                #expect(reason == .status(.hardwareFailure))
                _ = try await CentralManager(adapter).connect(to: address)
                _ = scan
            }
            #expect(host.health.first == .postponed(.silence(command: .leSetScanParameters), links: 1))
            #expect(
                host.health.dropFirst().first
                    == .recovering(.silence(command: .leSetScanParameters), by: .reset))
            await lamp.close()
        }
    }

    @Test("a command lost while a link is open needs no reset once commands are answered again")
    func lostCommandWithLinkNeedsNoReset() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            let address = await lamp.address
            try await host.open { adapter in
                let device = try await CentralManager(adapter).connect(to: address)
                host.port.script(.leSetScanEnable, .silence, times: 1)
                let scan = CentralManager(adapter).scan()
                _ = await host.loop.sleep(for: .seconds(70))
                await device.disconnect()
                _ = await host.loop.sleep(for: .seconds(5))
                _ = scan
            }
            #expect(
                host.health == [
                    .postponed(.silence(command: .leSetScanEnable), links: 1),
                    .scanRestarted(silence: .seconds(60)), .answersAgain(command: .leSetScanEnable),
                ])
            #expect(host.port.opcodes.filter { $0 == .reset }.count == 1)
            await lamp.close()
        }
    }
}

extension Adapter {
    /// The number of devices for which connects wait.
    fileprivate var sought: Int { radio.wantedDevices.count }
}
