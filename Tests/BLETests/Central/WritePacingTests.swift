import BLE
import BLECore
import GATTClient
import GATTServer
import Testing

/// Writes without response, as fast as the link accepts them.
struct WritePacingTests {
    @Test func fullLinkReportsWhenWritesCanContinue() async throws {
        try await VirtualTestbed.run { bed in
            let port = StallingPort(await bed.port())
            let server = try await bed.host("server")
            let client = try await bed.host("client", on: port)
            let manager = PeripheralManager(server)
            try await manager.publish([
                GATTService(
                    Sample.service,
                    characteristics: [
                        GATTCharacteristic(Sample.value, properties: [.read, .writeWithoutResponse])
                    ])
            ])
            _ = try await server.advertise()
            let device = try await client.connect(to: server)
            let value = try await device.sample()
            #expect(await device.canSendWriteWithoutResponse)
            port.stall()
            var sent = 0
            while sent < 100, try await device.tryWriteWithoutResponse([UInt8(sent)], to: value) { sent += 1 }
            // Four packets are on their way to the controller, and 64 are queued in the bearer.
            #expect(sent == 68)
            #expect(await !device.canSendWriteWithoutResponse)
            let waiting = bed.task { try await device.readyToSendWriteWithoutResponse() }
            await bed.wait(.seconds(1))
            port.resume()
            try await waiting.value
            #expect(await device.canSendWriteWithoutResponse)
            let isSent = try await device.tryWriteWithoutResponse([0xff], to: value)
            #expect(isSent)
            // The request is sent after all commands.
            #expect(try await device.read(value) == [0xff])
        }
    }

    @Test func writeLengthsAndRSSIAreReportedUntilDisconnect() async throws {
        try await TwoHosts.run { hosts in
            _ = try await hosts.serveThermometer()
            let device = try await hosts.central.connect(to: try await hosts.find())
            #expect(try await device.maximumWriteLength(for: .withResponse) == 512)
            #expect(try await device.maximumWriteLength(for: .withoutResponse) == 514)
            #expect(try await device.readRSSI() == -50)
            let interval = try await hosts.characteristic(0x2a21, of: device)
            try await device.write([1, 0], to: interval, type: .withResponse)
            #expect(try await device.read(interval) == [1, 0])
            let long = [UInt8](repeating: 0, count: 515)
            let tooLong = await failure { () throws(BLEError) in
                try await device.write(long, to: interval, type: .withoutResponse)
            }
            #expect(tooLong != nil)
            await device.disconnect()
            #expect(await !device.canSendWriteWithoutResponse)
            let gone = await failure { () throws(BLEError) in
                try await device.readyToSendWriteWithoutResponse()
            }
            #expect(gone == .disconnected(.status(.connectionTerminatedByLocalHost)))
        }
    }
}
