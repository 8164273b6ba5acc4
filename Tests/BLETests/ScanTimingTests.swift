import HCI
import Testing

@testable import BLE

struct ScanTimingTests {
    private func make(_ interval: Duration, _ window: Duration) -> (ScanTiming?, BLEError?) {
        do throws(BLEError) {
            return (try ScanTiming(interval: interval, window: window), nil)
        } catch {
            return (nil, error)
        }
    }

    @Test("presets have the values of the specification's appendix, in units of 0.625 ms")
    func presetsFollowSpecification() throws {
        #expect(ScanOptions.Preset.lowPower.timing == make(.milliseconds(1280), .microseconds(11_250)).0)
        #expect(ScanOptions.Preset.balanced.timing == make(.milliseconds(60), .milliseconds(30)).0)
        #expect(ScanOptions.Preset.lowLatency.timing == make(.milliseconds(60), .milliseconds(60)).0)
        #expect(ScanTiming.balanced.share == 0.5)
    }

    @Test("interval and window range from 2.5 ms to 40.96 s")
    func intervalAndWindowAreLimited() {
        let interval = { (value: Duration) -> BLEError in
            .timeOutOfRange(
                .scanInterval, allowed: .microseconds(2500)...(.milliseconds(40_960)), value: value)
        }
        #expect(make(.microseconds(2500), .microseconds(2500)).0?.share == 1)
        #expect(make(.milliseconds(40_960), .microseconds(2500)).0?.interval == .microseconds(40_959_375))
        #expect(
            make(.microseconds(2499), .microseconds(2499)).1
                == interval(.microseconds(2499)))
        #expect(
            make(.milliseconds(40_961), .milliseconds(10)).1
                == interval(.milliseconds(40_961)))
        let window = { (value: Duration) -> BLEError in
            .timeOutOfRange(.scanWindow, allowed: .microseconds(2500)...(.milliseconds(100)), value: value)
        }
        #expect(make(.milliseconds(100), .milliseconds(101)).1 == window(.milliseconds(101)))
        #expect(make(.milliseconds(100), .zero).1 == window(.zero))
    }

    @Test("the legacy scan interval is limited to 10.24 s")
    func legacyIntervalIsLimited() async {
        let longest = make(.milliseconds(10_240), .milliseconds(10)).0
        #expect(await failure { () throws(BLEError) in try longest?.checkLegacy() } == nil)
        let longer = make(.milliseconds(10_241), .milliseconds(10)).0
        #expect(
            await failure { () throws(BLEError) in try longer?.checkLegacy() }
                == .timeOutOfRange(
                    .legacyScanInterval, allowed: .microseconds(2500)...(.milliseconds(10_240)),
                    // To the nearest step.
                    value: .microseconds(10_241_250)))
    }

    /// Interval and window, the share to scale to, the longest turn, and the resulting interval and window, in steps.
    @Test(
        arguments: [
            (96, 96, 0.5, nil, 96, 48), (96, 96, 1, nil, 96, 96), (96, 48, 0.75, nil, 96, 48),
            // Windows are not shorter than four steps: the interval grows.
            (4, 4, 0.25, nil, 16, 4), (2048, 18, 0.001, nil, 4000, 4),
            // A long window becomes short ones, with the same part of the time.
            (16_384, 8192, 0.5, 48, 96, 48), (65_535, 65_535, 0.5, 48, 96, 48), (2048, 18, 0.5, 48, 2048, 18),
        ] as [(UInt16, UInt16, Double, UInt16?, UInt16, UInt16)])
    func scalesToShareAndTurn(
        _ interval: UInt16, _ window: UInt16, _ share: Double, _ turn: UInt16?, _ scaled: UInt16,
        _ listening: UInt16
    ) {
        let timing = ScanTiming(Slots(rawValue: interval), Slots(rawValue: window))
            .limited(to: share, inTurnsOf: turn.map { Slots(rawValue: $0).duration })
        #expect(timing == ScanTiming(Slots(rawValue: scaled), Slots(rawValue: listening)))
    }
}
