import BLE
import HCI
import Testing

@testable import bletool

/// The output of the events about a controller's health.
struct HealthEventTests {
    private func json(_ event: AdapterHealthEvent) -> String {
        HealthEvent(event: event, time: Timestamp(milliseconds: 0)).json.description
    }

    @Test func healthEventsHaveJSON() {
        #expect(
            json(.recovering(.silence(command: .leSetScanEnable), by: .reset)) == """
                {"event":"health","what":"recovering","fault":"silence","command":"LE Set Scan Enable","code":null,\
                "step":"reset","message":"the controller does not answer LE Set Scan Enable: reset",\
                "time":"1970-01-01T00:00:00.000Z"}
                """)
        #expect(
            json(.gaveUp(.hardwareError(0x2a))) == """
                {"event":"health","what":"gave-up","fault":"hardware-error","command":null,"code":42,"step":null,\
                "message":"the controller reports hardware error 0x2a, and recovery failed",\
                "time":"1970-01-01T00:00:00.000Z"}
                """)
        #expect(
            json(.recovered(by: .powerCycle)) == """
                {"event":"health","what":"recovered","fault":null,"command":null,"code":null,"step":"power-cycle",\
                "message":"the controller is back","time":"1970-01-01T00:00:00.000Z"}
                """)
    }
}
