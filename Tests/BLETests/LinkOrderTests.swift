import ATT
import BLECore
import GATTClient
import GATTServer
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Tests of callers that join and leave a link at the same moment, and of procedures that outlast their callers.
@Suite(.timeLimit(.minutes(10))) struct LinkOrderTests {
    @Test("a connect that was cancelled before it ran does not keep the link open")
    func cancelledConnectDoesNotKeepLink() async throws {
        try await LinkedHosts.run { hosts in
            let (client, address) = (hosts.client, hosts.device.address)
            let cancelled = Task(executorPreference: hosts.bed.loop) {
                try await CentralManager(client).connect(to: address)
            }
            cancelled.cancel()
            #expect(await thrown(by: cancelled) == .cancelled)
            await hosts.device.disconnect()
            #expect(await client.linkCount == 0)
        }
    }

    @Test("a write in a task that was already cancelled writes nothing")
    func cancelledTaskWritesNothing() async throws {
        try await LinkedHosts.run { hosts in
            let value = try await hosts.device.sample()
            let cancelled = Task(executorPreference: hosts.bed.loop) {
                try await hosts.device.write([9], to: value)
            }
            cancelled.cancel()
            #expect(await thrown(by: cancelled) == .cancelled)
            await hosts.bed.wait(.seconds(1))
            #expect(try await hosts.device.read(value) == [1])
        }
    }

    @Test("a connect while the last user disconnects gets the next link")
    func connectDuringDisconnectGetsNextLink() async throws {
        try await LinkedHosts.run { hosts in
            let (client, device) = (hosts.client, hosts.device)
            let leaving = Task(executorPreference: hosts.bed.loop) { await device.disconnect() }
            let coming = Task(executorPreference: hosts.bed.loop) {
                try await CentralManager(client).connect(to: device.address, timeout: nil)
            }
            let next = try await coming.value
            await leaving.value
            await hosts.bed.wait(.seconds(2))
            #expect(try await next.read(try await next.sample()) == [1])
            #expect(try await device.disconnection() == .status(.connectionTerminatedByLocalHost))
        }
    }

    @Test("an abandoned procedure ends before the next one of its kind starts")
    func abandonedProcedureEndsBeforeNext()
        async throws
    {
        try await LinkedHosts.run(extended: true) { hosts in
            let (port, connection, loop) = (hosts.port, hosts.connection, hosts.bed.loop)
            port.play { command in
                command.opcode == .leSetPHY
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            func update() -> Task<LinkParameters, any Error> {
                Task(executorPreference: loop) {
                    try await connection.setPHYs(transmit: [.le2M], receive: [.le2M])
                }
            }
            func reported(_ phy: PHY, _ status: HCIStatus = .success) -> HCIEventPacket {
                LEPHYUpdateComplete(
                    status: status, connection: LinkedHosts.handle, transmit: phy, receive: phy
                ).packet
            }
            port.forget()
            let first = update()
            await hosts.bed.wait(.seconds(1))
            first.cancel()
            #expect(await thrown(by: first) == .cancelled)
            let second = update()
            await hosts.bed.wait(.seconds(1))
            #expect(port.opcodes == [.leSetPHY])
            // The end of the first procedure does not end the second.
            port.emit(reported(.le1M, .differentTransactionCollision))
            await hosts.bed.wait(.seconds(1))
            #expect(port.opcodes == [.leSetPHY, .leSetPHY])
            port.emit(reported(.le2M))
            let updated = try await second.value
            #expect(updated.phys?.transmit == .le2M)
            // A procedure that never ends delays the next one for the rest of its 40 s.
            let third = update()
            await hosts.bed.wait(.seconds(1))
            third.cancel()
            _ = await third.result
            let begun = loop.now
            let fourth = update()
            #expect(await thrown(by: fourth) == .timedOut(.phyUpdate, after: .seconds(40)))
            #expect(begun.duration(until: loop.now) == .seconds(79))
        }
    }

    @Test("queued procedures fail with the bearer and send no command")
    func bearerFailureEndsQueuedProcedures() async throws {
        try await LinkedHosts.run(extended: true) { hosts in
            let (port, connection, server, loop) = (
                hosts.port, hosts.connection, hosts.server, hosts.bed.loop
            )
            port.play { command in
                switch command.opcode {
                case .leSetPHY, .disconnect:
                    [CommandStatus(status: .success, opcode: command.opcode).packet]
                default: nil
                }
            }
            port.forget()
            let updates = (0..<2).map { _ in
                Task(executorPreference: loop) {
                    try await connection.setPHYs(transmit: [.le2M], receive: [.le2M])
                }
            }
            await hosts.bed.wait(.seconds(1))
            let end = loop.now
            await server.breakBearer(of: hosts.central)
            for update in updates { #expect(await thrown(by: update) == .peerMisbehaved(.restlessDatabase)) }
            #expect(loop.now == end)
            port.emit(
                LEPHYUpdateComplete(
                    status: .success, connection: LinkedHosts.handle, transmit: .le2M, receive: .le2M
                ).packet)
            await hosts.bed.wait(.seconds(1))
            #expect(port.opcodes.filter { $0 == .leSetPHY }.count == 1)
        }
    }

    @Test("a queued Disconnect is dropped when its link ends first")
    func queuedDisconnectDoesNotReachNextLink() async throws {
        try await LinkedHosts.run { hosts in
            let (port, server) = (hosts.port, hosts.server)
            // An unanswered command uses the controller's only credit.
            port.play { command in command.opcode == .leRand ? [] : nil }
            await server.sendTolerant(LERand())
            let ending = Task(executorPreference: hosts.bed.loop) {
                await PeripheralManager(server).disconnect(hosts.central)
            }
            await hosts.bed.wait(.seconds(1))
            #expect(!port.opcodes.contains(.disconnect))
            port.emit(
                DisconnectionComplete(connection: LinkedHosts.handle, reason: .connectionTimeout).packet)
            port.emit(CommandComplete(.leRand, status: .success).packet)
            await ending.value
            await hosts.bed.wait(.seconds(10))
            #expect(!port.opcodes.contains(.disconnect))
        }
    }

    @Test("a connect times out during link preparation, and the link is disconnected afterwards")
    func connectTimesOutDuringLinkPreparation() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(extended: true), on: bed.loop)
            let (client, server) = (try await bed.host("client", on: port), try await bed.host("server"))
            try await server.serve()
            // The change of the PHY never completes, and the controller does not report the link's end.
            port.play { command in
                [.leSetPHY, .disconnect].contains(command.opcode)
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            var options = ConnectionOptions()
            options.phys = [.le2M]
            let begun = bed.loop.now
            let address = await server.address
            let error = await failure { [options] () throws(BLEError) in
                _ = try await CentralManager(client).connect(
                    to: address, timeout: .seconds(5), options: options)
            }
            #expect(error == .timedOut(.linkSetup, after: .seconds(5)))
            #expect(begun.duration(until: bed.loop.now) == .seconds(5))
            await bed.wait(.seconds(2))
            #expect(port.opcodes.contains(.disconnect))
        }
    }
}

/// Returns the `BLEError` with which a task failed, if any.
private func thrown(by task: Task<some Sendable, any Error>) async -> BLEError? {
    if case .failure(let error) = await task.result { error as? BLEError } else { nil }
}

extension Adapter {
    /// Ends the ATT bearer to a central, as after a request that was not answered in time.
    fileprivate func breakBearer(of central: Central) {
        if let link = links[central.link] { fail(link, .peerMisbehaved(.restlessDatabase)) }
    }
}
