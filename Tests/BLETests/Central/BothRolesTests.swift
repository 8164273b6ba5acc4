import BLE
import BLECore
import GATTServer
import HCISocket
import Testing

/// A link on which the peripheral is a client, too.
@Suite struct BothRolesTests {
    @Test("the server of a central is used on the link that it has made, and the link is the central's")
    func serverOfACentral() async throws {
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
            // Beside it the central uses this host's.
            #expect(try await hosts.device.read(try await hosts.device.sample()) == [1])
            await phone.disconnect()
            await hosts.bed.wait(.seconds(20))
            #expect(try await hosts.device.read(try await hosts.device.sample()) == [1])
            #expect(await phone.state == .disconnected)
        }
    }

    @Test("a central of another adapter has no server here") func otherAdapter() async throws {
        try await LinkedHosts.run { hosts in
            let error = await failure { () throws(BLEError) in
                _ = try await CentralManager(hosts.client).peripheral(of: hosts.central)
            }
            #expect(error == .invalidRequest(.foreignCentral(hosts.central)))
        }
    }

    @Test("of a central that has gone there is none") func gone() async throws {
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
