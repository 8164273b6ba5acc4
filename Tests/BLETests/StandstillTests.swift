import BLECore
import Testing

@testable import BLE

/// Testbeds in which nothing can happen any more.
@Suite(.timeLimit(.minutes(10))) struct StandstillTests {
    @Test("a test that waits for what cannot happen ends, and names what it waits for")
    func waitIsNamed() async throws {
        let error = await #expect(throws: VirtualTestbed.Standstill.self) {
            try await VirtualTestbed.run(standstill: .milliseconds(200)) { bed in
                let central = CentralManager(try await bed.adapter("central"))
                let address = DeviceAddress(1, type: .public)
                _ = try await central.connect(to: address, timeout: nil)
            }
        }
        #expect(error?.waits.contains("central: a connection") == true, "\(error?.waits ?? [])")
    }

    @Test("a test whose work is elsewhere than on the adapters is named as such")
    func workElsewhere() async throws {
        let error = await #expect(throws: VirtualTestbed.Standstill.self) {
            try await VirtualTestbed.run(standstill: .milliseconds(200)) { _ in
                let (stream, _) = AsyncStream.makeStream(of: Int.self)
                for await _ in stream {}
                throw BLEError.cancelled
            }
        }
        #expect(error?.waits == [])
        #expect(error?.description == "nothing can happen any more; the test waits for something else")
    }
}
