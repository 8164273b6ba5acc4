import BLECore
import HCI
import HCISocket
import SystemPackage
import Testing

@testable import BLE

/// The reasons for which links end, as both sides report them.
struct DisconnectTests {
    @Test(arguments: DisconnectCause.allCases) func peerReceivesDisconnectCause(_ cause: DisconnectCause)
        async throws
    {
        try await LinkedHosts.run { hosts in
            var events = PeripheralManager(hosts.server).events().makeAsyncIterator()
            await hosts.bed.wait(.milliseconds(1))
            let ended = hosts.bed.task { try await hosts.device.disconnection() }
            await hosts.device.disconnect(reason: cause)
            #expect(try await ended.value == .status(.connectionTerminatedByLocalHost))
            let event = try await events.next()
            #expect(
                event
                    == .disconnected(hosts.central, .status(HCIStatus(rawValue: cause.rawValue)), error: nil))
        }
    }

    @Test func serverDisconnectsCentral() async throws {
        try await LinkedHosts.run { hosts in
            let ended = hosts.bed.task { try await hosts.device.disconnection() }
            await hosts.bed.wait(.milliseconds(1))
            await PeripheralManager(hosts.server).disconnect(hosts.central, reason: .powerOff)
            let reason = try await ended.value
            #expect(reason == .status(.remoteDeviceTerminatedPowerOff))
            // A later call returns the same.
            await hosts.bed.wait(.seconds(1))
            #expect(try await hosts.device.disconnection() == reason)
        }
    }

    @Test func silentPeerIsLostAfterSupervisionTimeout() async throws {
        try await LinkedHosts.run { hosts in
            let ended = hosts.bed.task {
                let reason = try await hosts.device.disconnection()
                return (reason, hosts.bed.loop.now)
            }
            await hosts.bed.wait(.milliseconds(1))
            let before = hosts.bed.loop.now
            hosts.port.close()
            let (reason, time) = try await ended.value
            #expect(reason == .status(.connectionTimeout))
            #expect(time == before + .seconds(4))
        }
    }

    @Test(arguments: [
        HCIStatus.connectionTerminatedMICFailure, .llResponseTimeout, HCIStatus(rawValue: 0xe7),
    ])
    func controllerReasonIsReported(_ reason: HCIStatus) async throws {
        try await LinkedHosts.run { hosts in
            var events = PeripheralManager(hosts.server).events().makeAsyncIterator()
            await hosts.bed.wait(.milliseconds(1))
            hosts.port.emit(DisconnectionComplete(connection: LinkedHosts.handle, reason: reason).packet)
            let event = try await events.next()
            #expect(event == .disconnected(hosts.central, .status(reason), error: nil))
        }
    }

    @Test func unreportedDisconnectionTimesOut() async throws {
        try await LinkedHosts.run { hosts in
            hosts.port.play { command in
                command.opcode == .disconnect
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            var events = PeripheralManager(hosts.server).events().makeAsyncIterator()
            await hosts.bed.wait(.milliseconds(1))
            let before = hosts.bed.loop.now
            await PeripheralManager(hosts.server).disconnect(hosts.central)
            #expect(hosts.bed.loop.now == before + .seconds(5))
            // The controller may keep the link, and its data, for the supervision timeout of 4 s.
            #expect(await hosts.server.linkCount == 1)
            // A second call does not wait for the end.
            await PeripheralManager(hosts.server).disconnect(hosts.central)
            #expect(hosts.bed.loop.now == before + .seconds(5))
            let event = try await events.next()
            #expect(event == .disconnected(hosts.central, .unknown, error: nil))
            #expect(hosts.bed.loop.now == before + .seconds(5) + .seconds(4))
            #expect(await hosts.server.linkCount == 0)
        }
    }

    @Test(arguments: [true, false]) func disconnectIsRetriedUntilControllerAcceptsIt(isRefused: Bool)
        async throws
    {
        try await LinkedHosts.run { hosts in
            let server = hosts.server
            let refusals = Lock(0)
            hosts.port.play { command in
                switch command.opcode {
                // The controller accepts no further command while LE Rand is unanswered.
                case .leRand where !isRefused: return []
                case .disconnect
                where isRefused
                    && refusals.withLock({
                        $0 += 1; return $0 < 3
                    }):
                    return [CommandStatus(status: .commandDisallowed, opcode: command.opcode).packet]
                default: return nil
                }
            }
            if !isRefused { await server.sendTolerant(LERand()) }
            await hosts.bed.wait(.milliseconds(1))
            let before = hosts.bed.loop.now
            await PeripheralManager(server).disconnect(hosts.central)
            // One second for each refusal, or the time limit of the unanswered command.
            let limit: Duration = isRefused ? .seconds(2) : .seconds(4)
            #expect(before.duration(until: hosts.bed.loop.now) <= limit)
            await hosts.bed.wait(.seconds(1))
            #expect(await hosts.client.linkCount == 0)
        }
    }

    @Test(
        "a late answer to Disconnect does not apply to the next link with the same handle",
        arguments: [HCIStatus.success, .commandDisallowed])
    func lateAnswer(_ answer: HCIStatus) async throws {
        try await LinkedHosts.run { hosts in
            let (server, port) = (hosts.server, hosts.port)
            let manager = PeripheralManager(server)
            var events = manager.events().makeAsyncIterator()
            // The test answers in place of the controller.
            port.play { $0.opcode == .disconnect ? [] : nil }
            let first = hosts.bed.task { await manager.disconnect(hosts.central) }
            await hosts.bed.wait(.milliseconds(1))
            port.emit(
                DisconnectionComplete(
                    connection: LinkedHosts.handle, reason: .connectionTerminatedByLocalHost
                ).packet)
            try await first.value
            port.emit(
                LEConnectionComplete(
                    connection: LinkedHosts.handle, role: .peripheral,
                    peer: HCIAddress(DeviceAddress(0xc0ff_ee00_0009, type: .random)),
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 400)
                ).packet)
            guard case .disconnected? = try await events.next(),
                case .connected(let next, _)? = try await events.next()
            else { throw BLEError.notFound(.device(within: nil)) }
            port.forget()
            let second = hosts.bed.task {
                await manager.disconnect(next)
                return hosts.bed.loop.now
            }
            await hosts.bed.wait(.milliseconds(1))
            #expect(await server.endingLinkCount == 1)
            #expect(!port.opcodes.contains(.disconnect), "the one before is not answered")
            port.emit(CommandStatus(status: answer, opcode: .disconnect).packet)
            await hosts.bed.wait(.seconds(1))
            // If the answer applied to the second link, its refusal would cause a second Disconnect now.
            #expect(port.opcodes.count { $0 == .disconnect } == 1)
            let answered = hosts.bed.loop.now
            port.emit(CommandStatus(status: .success, opcode: .disconnect).packet)
            // The link's five seconds begin at the answer to its own command, not at that of the previous link.
            #expect(try await second.value == answered + .seconds(5))
            #expect(port.opcodes.count { $0 == .disconnect } == 1)
            port.emit(
                DisconnectionComplete(
                    connection: LinkedHosts.handle, reason: .remoteUserTerminatedConnection
                ).packet)
            await hosts.bed.wait(.milliseconds(1))
            #expect(await server.linkCount == 0)
            port.play(nil)
        }
    }

    @Test func failedDisconnectionCompleteKeepsLink() async throws {
        try await LinkedHosts.run { hosts in
            hosts.port.emit(
                DisconnectionComplete(
                    status: .commandDisallowed, connection: LinkedHosts.handle,
                    reason: .connectionTimeout
                ).packet)
            await hosts.bed.wait(.seconds(1))
            let rssi = try await hosts.connection.rssi()
            #expect(rssi == -50)
        }
    }
}

extension Adapter {
    /// The number of links that this host is ending.
    fileprivate var endingLinkCount: Int { links.count { $0.ending.isBegun } }
}
