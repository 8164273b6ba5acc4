import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// Parameter updates from both sides.
struct LinkTimingTests {
    private static let slow = ConnectionParameters(
        interval: .milliseconds(50) ... .milliseconds(100), latency: 2, supervisionTimeout: .seconds(6))

    @Test(arguments: [false, true]) func centralChangesParameters(_ extended: Bool) async throws {
        try await LinkedHosts.run(extended: extended) { hosts in
            let device = hosts.device
            var changes = device.connection.changes().makeAsyncIterator()
            await hosts.bed.wait(.milliseconds(1))
            let reported = try await device.connection.setParameters(Self.slow)
            let timing = try #require(reported.timing)
            #expect(timing.interval == .milliseconds(50))
            #expect(timing.latency == 2 && timing.supervisionTimeout == .seconds(6))
            let change = try await changes.next()
            #expect(change?.timing == timing)
            #expect(try await hosts.connection.parameters.timing == timing)
        }
    }

    @Test(arguments: [false, true]) func peripheralRequestsParameters(_ extended: Bool) async throws {
        try await LinkedHosts.run(extended: extended) { hosts in
            let device = hosts.device
            let connection = hosts.connection
            let reported = try await connection.setParameters(Self.slow)
            #expect(reported.timing?.interval == .milliseconds(50) && reported.timing?.latency == 2)
            #expect(try await device.connection.parameters.timing == reported.timing)
            // The parameters are in effect already. Nothing changes, so the call does not wait for an event.
            #expect(try await connection.setParameters(Self.slow).timing == reported.timing)
        }
    }

    @Test func centralPolicyRefusesRequest() async throws {
        try await LinkedHosts.run { hosts in
            let device = hosts.device
            let before = try await device.connection.parameters.timing
            await hosts.client.setParameterRequestPolicy(.refuse)
            let connection = hosts.connection
            let refused = await failure { () throws(BLEError) in try await connection.setParameters(Self.slow)
            }
            #expect(refused == .parametersRefused)
            #expect(try await device.connection.parameters.timing == before)
            await hosts.client.setParameterRequestPolicy(
                .limited(interval: .milliseconds(50) ... .milliseconds(100)))
            #expect(try await connection.setParameters(Self.slow).timing?.interval == .milliseconds(50))
        }
    }

    @Test func outOfRangeParametersAreNotSent() async throws {
        try await LinkedHosts.run { hosts in
            let (device, port) = (hosts.device, hosts.port)
            port.forget()
            var wrong = Self.slow
            wrong.latency = 500
            let connection = hosts.connection
            let asked = await failure { () throws(BLEError) in try await connection.setParameters(wrong) }
            #expect(asked == .outOfRange(.latency, allowed: 0...499, value: 500))
            let changed = await failure { () throws(BLEError) in
                try await device.connection.setParameters(wrong)
            }
            #expect(changed == .outOfRange(.latency, allowed: 0...499, value: 500))
            #expect(port.commands.isEmpty)
        }
    }

    @Test func peripheralRequestsThroughLinkLayerIfSupported() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let both: LEFeatures = [.connectionParametersRequest, .peripheralInitiatedFeaturesExchange]
            let answer = Lock<HCIStatus>(.unacceptableConnectionParameters)
            port.play { command in
                switch command.opcode {
                case .leReadLocalSupportedFeatures:
                    return [
                        CommandComplete(LEReadLocalSupportedFeatures.self, returning: Returned(both)).packet
                    ]
                case .leReadRemoteFeatures:
                    let handle = ConnectionHandle(0x0040)
                    return [
                        CommandStatus(status: .success, opcode: command.opcode).packet,
                        LEReadRemoteFeaturesComplete(connection: handle, features: both).packet,
                    ]
                case .leConnectionUpdate:
                    let handle = ConnectionHandle(0x0040)
                    return [
                        CommandStatus(status: .success, opcode: command.opcode).packet,
                        LEConnectionUpdateComplete(
                            status: answer.withLock { $0 }, connection: handle,
                            interval: ConnectionInterval(rawValue: 40), latency: 2,
                            supervisionTimeout: Centiseconds(rawValue: 600)
                        ).packet,
                    ]
                default: return nil
                }
            }
            let client = try await bed.host("client")
            let server = try await bed.host("server", on: port)
            var events = PeripheralManager(server).events().makeAsyncIterator()
            try await server.serve()
            let device = try await client.connect(to: server)
            guard case .connected(let central, _)? = try await events.next() else { return }
            let connection = PeripheralManager(server).connection(of: central)
            let refused = await failure { () throws(BLEError) in try await connection.setParameters(Self.slow)
            }
            #expect(refused == .parametersRefused)
            answer.withLock { $0 = .success }
            #expect(try await connection.setParameters(Self.slow).timing?.interval == .milliseconds(50))
            // The peer's host has received no request by L2CAP.
            #expect(try await device.connection.parameters.timing?.latency == 0)
        }
    }

    @Test func policyAnswersLinkLayerRequest() async throws {
        try await LinkedHosts.run { hosts in
            let (server, port) = (hosts.server, hosts.port)
            port.play { command in
                let handle = Returned(ConnectionHandle(0x0040))
                switch command.opcode {
                case .leRemoteConnectionParameterRequestReply:
                    return [
                        CommandComplete(LERemoteConnectionParameterRequestReply.self, returning: handle)
                            .packet
                    ]
                case .leRemoteConnectionParameterRequestNegativeReply:
                    return [
                        CommandComplete(
                            LERemoteConnectionParameterRequestNegativeReply.self, returning: handle
                        )
                        .packet
                    ]
                default: return nil
                }
            }
            port.forget()
            func ask(latency: UInt16) async {
                port.emit(
                    LERemoteConnectionParameterRequest(
                        connection: ConnectionHandle(0x0040), intervalMin: ConnectionInterval(rawValue: 40),
                        intervalMax: ConnectionInterval(rawValue: 80), latency: latency,
                        supervisionTimeout: Centiseconds(rawValue: 600)
                    ).packet)
                await hosts.bed.wait(.seconds(1))
            }
            await ask(latency: 2)
            await server.setParameterRequestPolicy(.refuse)
            await ask(latency: 2)
            await server.setParameterRequestPolicy(.accept)
            await ask(latency: 500)
            #expect(
                port.commands.map { $0.parameters.hex } == [
                    "4000280050000200580200000000", "40003b", "40003b",
                ])
        }
    }
}
