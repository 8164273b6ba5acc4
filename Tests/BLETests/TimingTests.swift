import BLECore
import HCI
import Testing

@testable import BLE

/// Ranges of connection parameters (Core Specification 5.4, Vol 4, Part E, 7.8.12).
struct TimingTests {

    private static func timing(_ least: Int, _ most: Int, _ latency: Int, _ timeout: Int)
        -> ConnectionParameters
    {
        ConnectionParameters(
            interval: .microseconds(least) ... .microseconds(most), latency: latency,
            supervisionTimeout: .milliseconds(timeout))
    }

    @Test(arguments: [
        (timing(7500, 7500, 0, 100), 6, 6, 0, 10),
        (timing(4_000_000, 4_000_000, 0, 32_000), 3200, 3200, 0, 3200),
        (timing(15_000, 30_000, 0, 4000), 12, 24, 0, 400),
        // 2 * 500 * 31.25 ms is 31.25 s.
        (timing(7500, 31_250, 499, 31_260), 6, 25, 499, 3126),
        // The nearest steps.
        (timing(8000, 8200, 0, 104), 6, 7, 0, 10),
    ])
    func validParametersAreConverted(
        _ timing: ConnectionParameters, _ least: Int, _ most: Int, _ latency: Int, _ timeout: Int
    )
        throws
    {
        let parameters = try timing.checked()
        #expect(Int(parameters.intervalMin.rawValue) == least)
        #expect(Int(parameters.intervalMax.rawValue) == most)
        #expect(Int(parameters.latency) == latency)
        #expect(Int(parameters.supervisionTimeout.rawValue) == timeout)
        #expect(parameters.isInRange)
    }

    @Test(arguments: [
        (timing(7499, 30_000, 0, 4000), interval(.microseconds(7499))),
        (timing(30_000, 4_000_001, 0, 32_000), interval(.microseconds(4_000_001))),
        (timing(30_000, 30_000, -1, 4000), .outOfRange(.latency, allowed: 0...499, value: -1)),
        (timing(30_000, 30_000, 500, 32_000), .outOfRange(.latency, allowed: 0...499, value: 500)),
        (timing(7500, 7500, 0, 99), timeout(.milliseconds(99))),
        (timing(7500, 7500, 0, 32_001), timeout(.milliseconds(32_001))),
        (
            timing(7500, 50_000, 0, 100),
            .invalidRequest(.supervisionTimeoutTooShort(.milliseconds(100), moreThan: .milliseconds(100)))
        ),
        (
            timing(100_000, 100_000, 9, 2000),
            .invalidRequest(.supervisionTimeoutTooShort(.seconds(2), moreThan: .seconds(2)))
        ),
    ])
    func invalidParametersAreRefused(_ timing: ConnectionParameters, _ error: BLEError) {
        #expect(problem(of: timing) == error)
    }

    private static func interval(_ value: Duration) -> BLEError {
        .timeOutOfRange(.connectionInterval, allowed: .microseconds(7500) ... .seconds(4), value: value)
    }

    private static func timeout(_ value: Duration) -> BLEError {
        .timeOutOfRange(.supervisionTimeout, allowed: .milliseconds(100) ... .seconds(32), value: value)
    }

    private func problem(of timing: ConnectionParameters) -> BLEError? {
        do throws(BLEError) {
            _ = try timing.checked()
            return nil
        } catch {
            return error
        }
    }

    @Test func policyAdmitsOrRefusesRequests() {
        let peer = DeviceAddress(0xc000_0000_0001, type: .random)
        func wanted(_ least: UInt16, _ most: UInt16, _ latency: UInt16, _ timeout: UInt16)
            -> LEConnectionParameters
        {
            LEConnectionParameters(
                intervalMin: ConnectionInterval(rawValue: least),
                intervalMax: ConnectionInterval(rawValue: most), latency: latency,
                supervisionTimeout: Centiseconds(rawValue: timeout))
        }
        let usual = wanted(24, 40, 4, 400)
        #expect(ParameterRequestPolicy.accept.admits(usual, of: peer))
        #expect(!ParameterRequestPolicy.accept.admits(wanted(5, 40, 4, 400), of: peer))
        #expect(!ParameterRequestPolicy.accept.admits(wanted(40, 24, 4, 400), of: peer))
        #expect(!ParameterRequestPolicy.refuse.admits(usual, of: peer))
        let limited = ParameterRequestPolicy.limited(
            interval: .milliseconds(30) ... .milliseconds(50), latency: 4, supervisionTimeout: .seconds(4))
        #expect(limited.admits(usual, of: peer))
        #expect(!limited.admits(wanted(23, 40, 4, 400), of: peer))
        #expect(!limited.admits(wanted(24, 41, 4, 500), of: peer))
        #expect(!limited.admits(wanted(24, 40, 5, 500), of: peer))
        #expect(!limited.admits(wanted(24, 40, 4, 401), of: peer))
        let decided = ParameterRequestPolicy.decide { asking, timing in
            asking == peer && timing.interval == .milliseconds(30) ... .milliseconds(50)
                && timing.latency == 4
        }
        #expect(decided.admits(usual, of: peer))
        #expect(!decided.admits(usual, of: DeviceAddress(1, type: .public)))
    }
}
