import BLE
import BLECore
import HCI
import Testing

/// The stream of connection events.
struct ConnectionEventTests {
    @Test func sharedLinkReportsConnectAndDisconnectOnce() async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server")
            let client = try await bed.host("client")
            try await server.serve()
            let central = CentralManager(client)
            let id = await central.identifier(of: server.address)
            let stream = central.connectionEvents()
            let first = try await central.connect(to: id)
            let second = try await central.connect(to: id)
            await first.disconnect()
            await second.disconnect()
            let absent = Peripheral.Identifier(DeviceAddress(0xc0ff_ee00_0001, type: .random))
            let error = await failure { () throws(BLEError) in
                _ = try await central.connect(to: absent, timeout: .seconds(3))
            }
            #expect(error == .timedOut(.connecting, after: .seconds(3)))
            // A cancelled connect causes no event.
            let cancelled = bed.task { try await central.connect(to: absent) }
            await bed.wait(.seconds(1))
            cancelled.cancel()
            _ = await cancelled.result
            await client.close()
            var events: [ConnectionEvent] = []
            let end = await failure { () throws(BLEError) in
                for try await event in stream { events.append(event) }
            }
            #expect(
                events == [
                    .connected(id), .disconnected(id, .status(.connectionTerminatedByLocalHost)),
                    .failedToConnect(absent, .timedOut(.connecting, after: .seconds(3))),
                ])
            #expect(end == .adapter(.closed))
        }
    }

    @Test func peerDisconnectIsReportedWithReason() async throws {
        try await LinkedHosts.run { hosts in
            let central = CentralManager(hosts.client)
            var events = central.connectionEvents().makeAsyncIterator()
            // The link existed before the stream. Its end is reported nevertheless.
            let id = await hosts.device.id
            await hosts.bed.wait(.milliseconds(1))
            await PeripheralManager(hosts.server).disconnect(hosts.central, reason: .powerOff)
            let ended = try await events.next()
            #expect(ended == .disconnected(id, .status(.remoteDeviceTerminatedPowerOff)))
        }
    }
}
