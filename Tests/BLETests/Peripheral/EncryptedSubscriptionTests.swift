import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import Testing

/// Values to which only clients that have paired can subscribe.
struct EncryptedSubscriptionTests {
    @Test(arguments: [false, true])
    func encryptedSubscriptionRequiresPairing(byIndication: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let (server, client) = (try await bed.host("server"), try await bed.host("client"))
            let manager = PeripheralManager(server)
            try await manager.publish([
                GATTService(Sample.service) {
                    GATTCharacteristic(
                        Sample.value, properties: [.read, .notify, .indicate], subscription: .encrypted,
                        value: .stored([1]))
                }
            ])
            _ = try await server.advertise()
            var careful = ConnectionOptions()
            careful.raisesSecurity = false
            let stranger = try await client.connect(to: server, options: careful)
            let sample = try await stranger.sample()
            let refusal = await failure { () throws(BLEError) in
                _ = try await stranger.values(of: sample, indications: byIndication)
            }
            guard case .att(let response)? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            #expect(response.code == .insufficientAuthentication)
            #expect(await manager.subscribers(of: sample.valueHandle) == [])
            // The value can still be read, and the link stays unencrypted.
            #expect(try await stranger.read(sample) == [1])
            #expect(try await stranger.security.level == .open)
            await stranger.disconnect()

            let device = try await client.connect(to: server)
            let again = try await device.sample()
            var values = try await device.values(of: again, indications: byIndication).makeAsyncIterator()
            #expect(try await device.security.level == .encrypted)
            let subscribers = await manager.subscribers(of: again.valueHandle)
            #expect(subscribers.map(\.prefersIndications) == [byIndication])
            try await manager.update(again.valueHandle, to: [2])
            let value = try await values.next()
            #expect(value?.value == [2] && value?.isIndication == byIndication)
        }
    }
}
