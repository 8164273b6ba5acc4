import BLE
import BLECore
import GATTServer
import HCISocket
import Testing

/// Links whose peripheral is also a client of the central's server.
@Suite struct BothRolesTests {
    @Test("a connected central's server can be used, and disconnecting from it keeps the central's link")
    func serverOfConnectedCentralIsUsable() async throws {
        try await LinkedHosts.run { hosts in
            try await PeripheralManager(hosts.client).publish([
                GATTService(
                    0xfff0, characteristics: [GATTCharacteristic(0xfff1, properties: .read, value: [7])])
            ])
            let centrals = CentralManager(hosts.server)
            let phone = try await centrals.peripheral(of: hosts.central)
            #expect(phone.address == hosts.central.address)
            let value = try #require(try await phone.discover().characteristics(0xfff1).first)
            #expect(try await phone.read(value.valueHandle) == [7])
            // The central uses this host's server on the same link.
            #expect(try await hosts.device.read(try await hosts.device.sample()) == [1])
            await phone.disconnect()
            await hosts.bed.wait(.seconds(20))
            #expect(try await hosts.device.read(try await hosts.device.sample()) == [1])
            #expect(await phone.state == .disconnected)
        }
    }

    @Test("a central of another adapter is refused") func centralOfAnotherAdapterIsRefused() async throws {
        try await LinkedHosts.run { hosts in
            let error = await failure { () throws(BLEError) in
                _ = try await CentralManager(hosts.client).peripheral(of: hosts.central)
            }
            #expect(error == .invalidRequest(.foreignCentral(hosts.central)))
        }
    }

    @Test("a central that has disconnected is refused") func disconnectedCentralIsRefused() async throws {
        try await LinkedHosts.run { hosts in
            await hosts.device.disconnect()
            await hosts.bed.wait(.seconds(1))
            let error = await failure { () throws(BLEError) in
                _ = try await CentralManager(hosts.server).peripheral(of: hosts.central)
            }
            #expect(error == .disconnected(.status(.remoteUserTerminatedConnection)))
        }
    }
}
