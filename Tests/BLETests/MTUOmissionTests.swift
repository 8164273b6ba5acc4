import ATT
import BLE
import BLECore
import HCISocket
import Testing

/// Devices that do not survive, or do not answer, the exchange of the MTU.
struct MTUOmissionTests {
    /// Makes the server end some of its links, half a second after they begin. Links are counted from 1.
    private func endLinks(
        of hosts: TwoHosts, where isEnded: @escaping @Sendable (Int) -> Bool
    ) -> Task<Void, any Error> {
        let manager = PeripheralManager(hosts.server)
        let events = manager.events()
        return hosts.bed.task {
            var count = 0
            for try await case .connected(let central, _) in events {
                count += 1
                guard isEnded(count) else { continue }
                await hosts.bed.wait(.milliseconds(500))
                await manager.disconnect(central)
            }
        }
    }

    @Test(
        "a device that does not answer the exchange is connected once more without it, and from then on always"
    )
    func unansweredExchange() async throws {
        try await TwoHosts.altered { hosts, port in
            port.alter(silencing(.exchangeMTUResponse))
            let address = try await hosts.find()
            let began = hosts.loop.now
            let device = try await hosts.central.connect(to: address)
            let took = began.duration(until: hosts.loop.now)
            #expect(took > .seconds(5) && took < .seconds(8))
            #expect(port.received.count { $0[0] == 0x02 } == 1)
            #expect(try await device.mtu == 23)
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            #expect(try await device.read(value) == [1])
            await device.disconnect()
            port.forget()
            let again = try await hosts.connect()
            #expect(try await again.read(value) == [1])
            #expect(!port.hasReceived([0x02]))
            await again.disconnect()
        }
    }

    @Test("a device that ends the link at the exchange is connected once more without it", arguments: [1, 9])
    func refusedExchange(endings: Int) async throws {
        try await TwoHosts.altered { hosts, port in
            port.alter(silencing(.exchangeMTUResponse))
            let ending = endLinks(of: hosts) { $0 <= endings }
            let address = try await hosts.find()
            let device = try await hosts.central.connect(to: address)
            let refused = await failure { () throws(BLEError) in
                _ = try await device.discover()
                await hosts.bed.wait(.seconds(1))
                _ = try await device.discover(refreshing: true)
            }
            if endings == 1 {
                #expect(refused == nil)
            } else {
                #expect(refused == .disconnected(.status(.remoteUserTerminatedConnection)))
            }
            #expect(port.received.count { $0[0] == 0x02 } == 1)
            await device.disconnect()
            ending.cancel()
        }
    }

    @Test(
        "the end of a link during the exchange can be a coincidence: a later link tries again",
        arguments: [false, true])
    func coincidentEnd(isRepeated: Bool) async throws {
        try await TwoHosts.altered { hosts, port in
            port.alter(silencing(.exchangeMTUResponse))
            let ending = endLinks(of: hosts) { $0 == 1 || $0 == 3 && isRepeated }
            let address = try await hosts.find()
            let first = try await hosts.central.connect(to: address)
            #expect(try await first.mtu == 23)
            await first.disconnect()
            if !isRepeated { port.alter(nil) }
            port.forget()
            let second = try await hosts.central.connect(to: address)
            #expect(port.received.count { $0[0] == 0x02 } == 1)
            #expect(try await second.mtu == (isRepeated ? 23 : 517))
            await second.disconnect()
            port.forget()
            let third = try await hosts.central.connect(to: address)
            #expect(port.received.count { $0[0] == 0x02 } == (isRepeated ? 0 : 1))
            await third.disconnect()
            ending.cancel()
        }
    }

    @Test("another user of a link without the exchange does not make it either")
    func sharedLinkStaysWithoutExchange() async throws {
        try await TwoHosts.altered { hosts, port in
            port.alter(silencing(.exchangeMTUResponse))
            let ending = endLinks(of: hosts) { $0 == 1 }
            let address = try await hosts.find()
            let first = try await hosts.central.connect(to: address)
            port.forget()
            let second = try await hosts.central.connect(to: address)
            #expect(!port.hasReceived([0x02]))
            #expect(try await second.mtu == 23)
            #expect(try await first.mtu == 23)
            await first.disconnect()
            await second.disconnect()
            ending.cancel()
        }
    }

    @Test("a limit of the caller that passes during the exchange says so")
    func limitDuringExchange() async throws {
        try await TwoHosts.altered { hosts, port in
            port.alter(silencing(.exchangeMTUResponse))
            let address = try await hosts.find()
            let error = await failure { () throws(BLEError) in
                _ = try await hosts.central.connect(to: address, timeout: .seconds(3))
            }
            #expect(error == .timedOut(.mtuExchange, after: .seconds(3)))
        }
    }
}
