import ATT
import BLE
import BLECore
import HCISocket
import Testing

/// The main job on controllers of both families.
@Suite struct FamilyTests {
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func findConnectReadAndBeNotified(_ server: Bool, _ client: Bool) async throws {
        try await TwoHosts.run(serverExtended: server, clientExtended: client) { hosts in
            let advertising = try await hosts.serveThermometer()
            for _ in 0..<2 {
                let address = try await hosts.find()
                try await hosts.central.withConnection(to: address) { device in
                    let temperature = try await hosts.characteristic(0x2a6e, of: device)
                    #expect(try await device.read(temperature.valueHandle) == [0xb2, 0x08])
                    let long = try await hosts.characteristic(0x2a9f, of: device)
                    #expect(try await device.read(long.valueHandle).count == 300)
                }
            }
            await advertising.stop()
        }
    }
}
