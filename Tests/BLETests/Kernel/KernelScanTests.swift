import BLECore
import HCI
import HCISocket
import Testing

@testable import BLE

/// The scan of a kernel adapter, where it must be told apart from others'.
@Suite(.timeLimit(.minutes(10))) struct KernelScanTests {
    /// A scan that hears for so long.
    private func scan(_ host: KernelHost, for time: Duration) async {
        let stream = host.central.scan()
        let hearing = Task(executorPreference: host.loop) { for try await _ in stream {} }
        _ = await host.loop.sleep(for: time)
        hearing.cancel()
        _ = await hearing.result
        _ = await host.loop.sleep(for: .seconds(10))
    }

    @Test("a scan of ours that was not ended is not taken for somebody else's", arguments: [false, true])
    func notEnded(isSilent: Bool) async throws {
        try await KernelHost.run { host in
            let stream = host.central.scan()
            let hearing = Task(executorPreference: host.loop) { for try await _ in stream {} }
            _ = await host.loop.sleep(for: .seconds(1))
            host.port.script(
                .leSetExtendedScanEnable,
                isSilent ? .silence : .refuses(.leSetExtendedScanEnable, .hardwareFailure), times: 1)
            hearing.cancel()
            _ = await hearing.result
            _ = await host.loop.sleep(for: .seconds(10))
            #expect(await host.adapter.scansNothing)
            // Silent: on, off, off again once it is back. Refused: on, off.
            #expect(enables(host) == (isSilent ? 3 : 2))
            await scan(host, for: .seconds(1))
            // On and off, and before that off, where it was refused.
            #expect(enables(host) == 5)
            #expect(await host.adapter.scansNothing)
        }
    }

    private func enables(_ host: KernelHost) -> Int {
        host.port.heard.count { $0 == .leSetExtendedScanEnable }
    }

    @Test("others switch scanning off while ours is begun: that is noticed when ours is done")
    func foreignMeanwhile() async throws {
        try await KernelHost.run { host in
            host.port.script(.leSetExtendedScanEnable, .late(.seconds(1)), times: 1)
            let stream = host.central.scan()
            let hearing = Task(executorPreference: host.loop) {
                for try await found in stream where found.name == "Late" { return true }
                return false
            }
            _ = await host.loop.sleep(for: .milliseconds(300))
            host.kernel.tell(LESetExtendedScanEnable(enable: false))
            _ = await host.loop.sleep(for: .seconds(5))
            #expect(host.health == [.scanTakenBack])
            let other = try await host.other()
            _ = try await PeripheralManager(other).advertise(.beacon("Late"))
            #expect(try await hearing.value)
            #expect(host.health == [.scanTakenBack])
            await other.close()
        }
    }
}

extension Adapter {
    fileprivate var scansNothing: Bool { scanner.isQuiet }
}
