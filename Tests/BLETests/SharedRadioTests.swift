import BLE
import BLECore
import HCISocket
import Testing

/// A scan and a connection attempt that share one radio.
struct SharedRadioTests {
    @Test(
        "a continuous scan yields half of the time to a connection attempt and reclaims it afterwards",
        arguments: [false, true])
    func scanYieldsHalfOfTimeWhileConnecting(_ isExtended: Bool) async throws {
        try await ScanHosts.run(extended: isExtended) { hosts in
            let wanted = try await hosts.advertiser(named: "wanted").address
            var options = ScanOptions()
            options.repeats = .all
            let stream = hosts.central.scan(options)
            let listening = Task(executorPreference: hosts.loop) { for try await _ in stream {} }
            _ = await hosts.loop.sleep(for: .seconds(1))
            hosts.forget()
            let device = try await hosts.central.connect(to: wanted)
            _ = await hosts.loop.sleep(for: .milliseconds(100))
            // The attempt listens for 30 ms of 60, 0x30 of 0x60, and so does the scan meanwhile.
            let half = "60003000", all = "60006000"
            let (create, scan) = isExtended ? ("4320", "4120") : ("0d20", "0b20")
            #expect(hosts.commands.first { $0.hasPrefix(create) }?.contains(half) == true)
            #expect(
                hosts.commands.filter { $0.hasPrefix(scan) }.map { $0.contains(half) ? half : all } == [
                    half, all,
                ])
            await device.disconnect()
            listening.cancel()
        }
    }

    @Test("a scan continues beside a long connection attempt", arguments: [false, true])
    func scanDuringAnAttempt(_ isExtended: Bool) async throws {
        try await ScanHosts.run(extended: isExtended) { hosts in
            let other = try await hosts.advertiser(named: "other").address
            let central = hosts.central
            let attempt = Task(executorPreference: hosts.loop) {
                try await central.connect(to: DeviceAddress(0x1234, type: .public), timeout: .seconds(60))
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            var options = ScanOptions()
            options.repeats = .all
            let reports = try await hosts.receive(options, for: .seconds(20))
            // Of two packets each 100 ms, half are received.
            let share = Double(reports.filter { $0.address == other }.count) / 400
            #expect(share > 0.3 && share < 0.7)
            attempt.cancel()
            _ = await attempt.result
        }
    }

    @Test("without a scan a connection attempt has all of the time")
    func connectingAloneUsesAllTime() async throws {
        try await ScanHosts.run { hosts in
            let wanted = try await hosts.advertiser(named: "wanted").address
            hosts.forget()
            let device = try await hosts.central.connect(to: wanted)
            #expect(hosts.commands.first { $0.hasPrefix("0d20") }?.contains("60006000") == true)
            #expect(!hosts.commands.contains { $0.hasPrefix("0b20") })
            await device.disconnect()
        }
    }
}
