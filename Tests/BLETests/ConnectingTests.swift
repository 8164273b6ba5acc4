import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Tests of connecting: one initiator for all callers that wait, shared links, and the end of links that no caller
/// uses any more.
struct ConnectingTests {
    private static let nowhere = DeviceAddress(0xc0ff_ee00_0001, type: .random)

    @Test(arguments: [false, true]) func waitsForAbsentDeviceWhileOthersConnect(
        _ extended: Bool
    ) async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client", extended: extended)
            let early = try await bed.host("early", extended: extended)
            let late = try await bed.host("late", extended: extended)
            let other = try await bed.host("other", extended: extended)
            try await early.serve([1])
            _ = try await other.advertise()
            let waiting = bed.task { try await client.connect(to: late, timeout: nil) }
            await bed.wait(.seconds(60))
            let first = try await client.connect(to: early)
            #expect(try await first.connection.rssi() == -50)
            // A scan runs beside the attempt.
            let found = try await CentralManager(client).first(within: .seconds(5))
            #expect(await found.address == other.address)
            await bed.wait(.seconds(600))
            try await late.serve([2])
            let second = try await waiting.value
            #expect(try await second.read(second.sample()) == [2])
            #expect(try await first.read(first.sample()) == [1])
            await first.disconnect()
            await second.disconnect()
        }
    }

    @Test(
        "scanning and connecting alternate on a controller that cannot do both at once",
        arguments: [false, true])
    func scanAndConnectAlternate(isScanFirst: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let (other, late) = (try await bed.host("other"), try await bed.host("late"))
            _ = try await other.advertise()
            let (isScanning, isInitiating) = (Lock(false), Lock(false))
            port.play { command in
                switch command.opcode {
                case .leSetScanEnable:
                    let isOn = command.parameters.first == 1
                    if isOn, isInitiating.withLock({ $0 }) {
                        return [CommandComplete(.leSetScanEnable, status: .commandDisallowed).packet]
                    }
                    isScanning.withLock { $0 = isOn }
                case .leCreateConnection:
                    if isScanning.withLock({ $0 }) {
                        return [CommandStatus(status: .commandDisallowed, opcode: command.opcode).packet]
                    }
                    isInitiating.withLock { $0 = true }
                case .leCreateConnectionCancel: isInitiating.withLock { $0 = false }
                default: break
                }
                return nil
            }
            let sightings = Lock(0)
            let scan = { @Sendable in
                var options = ScanOptions()
                options.repeats = .all
                for try await _ in CentralManager(client).scan(options) { sightings.withLock { $0 += 1 } }
            }
            var scanning = isScanFirst ? bed.task { try await scan() } : nil
            await bed.wait(.seconds(1))
            let waiting = bed.task { try await client.connect(to: late, timeout: nil) }
            await bed.wait(.seconds(1))
            scanning = scanning ?? bed.task { try await scan() }
            for _ in 0..<5 {
                sightings.withLock { $0 = 0 }
                await bed.wait(.seconds(12))
                #expect(sightings.withLock { $0 } > 20)
            }
            // The rule cannot detect the end of the attempt, so it is removed.
            port.play(nil)
            try await late.serve([2])
            let device = try await waiting.value
            #expect(try await device.read(device.sample()) == [2])
            await bed.wait(.seconds(1))
            sightings.withLock { $0 = 0 }
            await bed.wait(.seconds(12))
            #expect(sightings.withLock { $0 } > 100, "the radio is the scan's")
            scanning?.cancel()
            _ = await scanning?.result
        }
    }

    @Test(arguments: [UInt8(16), 2, 0]) func connectsEachWaitedDeviceWhenItAppears(_ listSize: UInt8)
        async throws
    {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client") { $0.acceptListSize = listSize }
            var servers: [Adapter] = []
            for number in 0..<6 { servers.append(try await bed.host("server \(number)")) }
            let waiting = servers.map { server in
                bed.task { try await client.connect(to: server, timeout: nil) }
            }
            await bed.wait(.seconds(30))
            for number in [4, 1, 5, 0, 2, 3] {
                try await servers[number].serve([UInt8(number)])
                let device = try await waiting[number].value
                #expect(try await device.read(device.sample()) == [UInt8(number)])
            }
        }
    }

    @Test func acceptListHoldsRequestedDevices() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let one = DeviceAddress(0xc0ff_ee00_0001, type: .random)
            let two = DeviceAddress(0x00ff_ee00_0002, type: .public)
            port.forget()
            let first = bed.task { try await CentralManager(client).connect(to: one, timeout: nil) }
            await bed.wait(.seconds(1))
            let second = bed.task { try await CentralManager(client).connect(to: two, timeout: nil) }
            await bed.wait(.seconds(1))
            #expect(
                port.opcodes == [
                    .leCreateConnection, .leCreateConnectionCancel, .leAddDeviceToFilterAcceptList,
                    .leAddDeviceToFilterAcceptList, .leCreateConnection,
                ])
            // Filter policy 0: the peer; 1: the list.
            let policies = port.commands.filter { $0.opcode == .leCreateConnection }.map { $0.parameters[4] }
            #expect(policies == [0, 1])
            port.forget()
            first.cancel()
            #expect(await end(of: first) == .cancelled)
            await bed.wait(.seconds(1))
            #expect(port.opcodes == [.leCreateConnectionCancel, .leCreateConnection])
            #expect(port.commands[1].parameters[4...11] == [0, 0, 2, 0, 0, 0xee, 0xff, 0])
            port.forget()
            second.cancel()
            #expect(await end(of: second) == .cancelled)
            await bed.wait(.seconds(1))
            #expect(port.opcodes == [.leCreateConnectionCancel])
        }
    }

    @Test func secondConnectJoinsFirst() async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client")
            let server = try await bed.host("server")
            let one = bed.task { try await client.connect(to: server, timeout: nil) }
            let two = bed.task { try await client.connect(to: server, timeout: .seconds(5)) }
            let three = bed.task { try await client.connect(to: server, timeout: nil) }
            await bed.wait(.seconds(1))
            three.cancel()
            #expect(await end(of: three) == .cancelled)
            #expect(await end(of: two) == .timedOut(.connecting, after: .seconds(5)))
            let four = bed.task { try await client.connect(to: server, timeout: nil) }
            try await server.serve()
            let (first, second) = (try await one.value, try await four.value)
            let third = try await client.connect(to: server)
            let value = try await first.sample()
            let left = bed.task { try await first.disconnection() }
            await bed.wait(.milliseconds(1))
            await first.disconnect()
            #expect(try await left.value == .status(.connectionTerminatedByLocalHost))
            // A second disconnect has no effect: the other callers keep the link.
            await first.disconnect()
            #expect(try await second.read(value) == [1])
            await second.disconnect()
            #expect(try await third.read(value) == [1])
            await third.disconnect()
            let gone = await failure { () throws(BLEError) in _ = try await third.read(value) }
            #expect(gone == .disconnected(.status(.connectionTerminatedByLocalHost)))
        }
    }

    @Test(
        "a device that appears after minutes is connected with every background preset",
        arguments: ScanOptions.Preset.allCases, [false, true])
    func backgroundConnectFindsLateDevice(preset: ScanOptions.Preset, isExtended: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(extended: isExtended), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server", extended: isExtended)
            var options = ConnectionOptions()
            options.background = preset
            let waiting = bed.task { [options] in
                try await client.connect(to: server, timeout: nil, options: options)
            }
            await bed.wait(.seconds(300))
            let create: HCIOpcode = isExtended ? .leExtendedCreateConnection : .leCreateConnection
            #expect(port.opcodes.count { $0 == create } == (preset == .lowLatency ? 1 : 2))
            let last = try #require(port.commands.last { $0.opcode == create })
            let timing = last.parameters.dropFirst(isExtended ? 10 : 0)
            #expect(Array(timing.prefix(4)) == preset.timing.octets)
            // A connect with a time limit makes the initiator listen all the time.
            let hurried = bed.task { try await client.connect(to: server, timeout: .seconds(60)) }
            await bed.wait(.seconds(1))
            #expect(port.opcodes.count { $0 == create } == (preset == .lowLatency ? 1 : 3))
            hurried.cancel()
            #expect(await end(of: hurried) == .cancelled)
            await bed.wait(.seconds(1))
            #expect(port.opcodes.count { $0 == create } == (preset == .lowLatency ? 1 : 4))
            try await server.serve([7])
            let device = try await waiting.value
            #expect(try await device.read(device.sample()) == [7])
            await device.disconnect()
        }
    }

    @Test("a connect waits behind a link whose end the controller does not report")
    func connectWaitsBehindUnreportedDisconnection() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server")
            try await server.serve()
            let first = try await client.connect(to: server)
            // The controller accepts the commands and does nothing.
            port.play { command in
                [.disconnect, .leCreateConnection].contains(command.opcode)
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            let before = bed.loop.now
            await first.disconnect()
            #expect(bed.loop.now == before + .seconds(5))
            port.forget()
            let second = bed.task { try await client.connect(to: server, timeout: nil) }
            await bed.wait(.seconds(3))
            #expect(!port.opcodes.contains(.leCreateConnection), "the link may still be there")
            await bed.wait(.seconds(1))
            #expect(port.opcodes.contains(.leCreateConnection))
            second.cancel()
            #expect(await end(of: second) == .cancelled)
        }
    }

    @Test("the timeout of directed advertising does not end an attempt to connect", arguments: [false, true])
    func advertisingTimeoutDoesNotEndConnect(isExtended: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(extended: isExtended), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server", extended: isExtended)
            let waiting = bed.task { try await client.connect(to: server, timeout: nil) }
            await bed.wait(.seconds(1))
            port.emit(
                LEConnectionComplete(
                    status: .advertisingTimeout, connection: ConnectionHandle(0), role: .peripheral,
                    peer: HCIAddress(Self.nowhere), interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 400)
                ).packet)
            await bed.wait(.seconds(1))
            try await server.serve([3])
            let device = try await waiting.value
            #expect(try await device.read(device.sample()) == [3])
            await device.disconnect()
        }
    }

    @Test func connectJoinsLinkMadeByPeer() async throws {
        try await VirtualTestbed.run { bed in
            let one = try await bed.host("one")
            let two = try await bed.host("two")
            try await one.serve([1])
            try await PeripheralManager(two).publish([])
            let made = try await two.connect(to: one)
            let joined = try await one.connect(to: two)
            #expect(try await joined.discover().services.contains { $0.uuid == 0x1800 })
            await joined.disconnect()
            #expect(try await made.read(made.sample()) == [1])
            await made.disconnect()
        }
    }

    @Test func incomingLinkCompletesConnect() async throws {
        try await VirtualTestbed.run { bed in
            let one = try await bed.host("one")
            let two = try await bed.host("two")
            let third = try await bed.host("third")
            try await one.serve([1])
            let waiting = bed.task { try await one.connect(to: two, timeout: nil) }
            await bed.wait(.seconds(1))
            let made = try await two.connect(to: one)
            let joined = try await waiting.value
            #expect(try await made.read(made.sample()) == [1])
            // The attempt has ended, so the controller can make another connection.
            try await third.serve([3])
            let other = try await one.connect(to: third)
            #expect(try await other.read(other.sample()) == [3])
            #expect(await one.linkCount == 2)
            for device in [other, joined, made] { await device.disconnect() }
        }
    }

    @Test func connectDuringDisconnectGetsNewLink() async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client")
            let server = try await bed.host("server")
            try await server.serve()
            let first = try await client.connect(to: server)
            let ending = bed.task { await first.disconnect() }
            await Task.yield()
            let second = try await client.connect(to: server)
            try await ending.value
            #expect(try await second.read(second.sample()) == [1])
            await second.disconnect()
        }
    }

    @Test func linkAfterCancelIsDisconnected() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server")
            var events = PeripheralManager(server).events().makeAsyncIterator()
            let waiting = bed.task { try await client.connect(to: server, timeout: nil) }
            await bed.wait(.seconds(1))
            // The controller refuses the cancel, as if it came after the link was made.
            port.play { command in
                command.opcode == .leCreateConnectionCancel
                    ? [CommandComplete(command.opcode, status: .commandDisallowed).packet] : nil
            }
            waiting.cancel()
            #expect(await end(of: waiting) == .cancelled)
            try await server.serve()
            guard case .connected(let central, _)? = try await events.next() else {
                Issue.record("the link did not come")
                return
            }
            var reason: DisconnectReason?
            while let event = try await events.next() {
                guard case .disconnected(central, let why, _) = event else { continue }
                reason = why
                break
            }
            #expect(reason == .status(.remoteUserTerminatedConnection))
        }
    }

    @Test func linkAfterCancelGoesToNewRequest() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server")
            let waiting = bed.task { try await client.connect(to: server, timeout: nil) }
            await bed.wait(.seconds(1))
            port.play { command in
                command.opcode == .leCreateConnectionCancel
                    ? [CommandComplete(command.opcode, status: .commandDisallowed).packet] : nil
            }
            waiting.cancel()
            #expect(await end(of: waiting) == .cancelled)
            let again = bed.task { try await client.connect(to: server, timeout: nil) }
            try await server.serve()
            let device = try await again.value
            #expect(try await device.read(device.sample()) == [1])
            await device.disconnect()
        }
    }

    @Test func unreportedConnectionIsRetried() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server")
            try await server.serve()
            // The controller accepts both commands and does nothing.
            port.play { command in
                switch command.opcode {
                case .leCreateConnection: [CommandStatus(status: .success, opcode: command.opcode).packet]
                case .leCreateConnectionCancel: [CommandComplete(command.opcode, status: .success).packet]
                default: nil
                }
            }
            let silent = await failure { () throws(BLEError) in
                _ = try await client.connect(to: server, timeout: .seconds(3))
            }
            #expect(silent == .timedOut(.connecting, after: .seconds(3)))
            port.play(nil)
            let device = try await client.connect(to: server)
            await device.disconnect()
        }
    }

    @Test func refusalsAndFailuresReachCaller() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            port.play { command in
                command.opcode == .leCreateConnection
                    ? [CommandStatus(status: .connectionLimitExceeded, opcode: command.opcode).packet] : nil
            }
            let central = CentralManager(client)
            let refused = await failure { () throws(BLEError) in
                _ = try await central.connect(to: Self.nowhere, timeout: nil)
            }
            #expect(refused == .hci(.connectionLimitExceeded, command: .leCreateConnection))
            port.play { command in
                guard command.opcode == .leCreateConnection else { return nil }
                return [
                    CommandStatus(status: .success, opcode: command.opcode).packet,
                    LEConnectionComplete(
                        status: .hardwareFailure, connection: ConnectionHandle(0), role: .central,
                        peer: HCIAddress(0, type: .public), interval: ConnectionInterval(rawValue: 0),
                        latency: 0, supervisionTimeout: Centiseconds(rawValue: 0)
                    ).packet,
                ]
            }
            let failed = await failure { () throws(BLEError) in
                _ = try await central.connect(to: Self.nowhere, timeout: nil)
            }
            #expect(failed == .connectFailed(.status(.hardwareFailure)))
        }
    }

    @Test(arguments: [1, 3]) func retriesUnestablishedLinkAsOptionsSpecify(
        _ attempts: Int
    ) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            port.play(Self.neverEstablished)
            port.forget()
            var options = ConnectionOptions()
            options.establishmentAttempts = attempts
            let failed = await failure { () throws(BLEError) in
                _ = try await CentralManager(client).connect(to: Self.nowhere, options: options)
            }
            #expect(failed == .connectFailed(.status(.connectionFailedToBeEstablished)))
            #expect(port.opcodes.count { $0 == .leCreateConnection } == attempts)
        }
    }

    /// The controller reports the end of the link, or before that the end of the procedure.
    @Test(
        "a link without an exchange of the MTU is not handed out before the peer has answered on it",
        arguments: [false, true], [1, 2])
    func smallestMTULinkWaitsForPeer(isProcedureFirst: Bool, attempts: Int) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            port.play { command in
                switch command.opcode {
                case .leCreateConnection: Array(Self.neverEstablished(command)?.dropLast() ?? [])
                case .leReadRemoteFeatures: [CommandStatus(status: .success, opcode: command.opcode).packet]
                default: nil
                }
            }
            let connect = Task(executorPreference: bed.loop) {
                await failure { () throws(BLEError) in
                    var options = ConnectionOptions()
                    options.mtu = .default
                    options.establishmentAttempts = attempts
                    _ = try await CentralManager(client).connect(to: Self.nowhere, options: options)
                }
            }
            for _ in 1...attempts {
                await bed.wait(.milliseconds(90))
                if isProcedureFirst {
                    port.emit(
                        LEReadRemoteFeaturesComplete(
                            status: .connectionFailedToBeEstablished, connection: ConnectionHandle(0x40),
                            features: []
                        ).packet)
                }
                port.emit(
                    DisconnectionComplete(
                        connection: ConnectionHandle(0x40), reason: .connectionFailedToBeEstablished
                    ).packet)
            }
            #expect(await connect.value == .connectFailed(.status(.connectionFailedToBeEstablished)))
        }
    }

    @Test("a peripheral's state stays connecting between two attempts")
    func peripheralStaysConnectingBetweenAttempts() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let central = CentralManager(try await bed.host("client", on: port))
            port.play(Self.neverEstablished)
            let isOver = Lock(false)
            let connect = Task(executorPreference: bed.loop) {
                defer { isOver.withLock { $0 = true } }
                _ = try await central.connect(to: Self.nowhere)
            }
            await bed.wait(.milliseconds(1))
            var states: Set<PeripheralState> = []
            while !isOver.withLock({ $0 }) {
                states.insert(await central.state(of: Peripheral.Identifier(Self.nowhere)))
                await bed.wait(.milliseconds(7))
            }
            #expect(states == [.connecting])
            _ = await connect.result
        }
    }

    /// A rule for links that end at once because the peer never responds on them.
    private static let neverEstablished: @Sendable (HCICommandPacket) -> [HCIEventPacket]? = { command in
        guard command.opcode == .leCreateConnection else { return nil }
        return [
            CommandStatus(status: .success, opcode: command.opcode).packet,
            LEConnectionComplete(
                connection: ConnectionHandle(0x40), role: .central, peer: HCIAddress(nowhere),
                interval: ConnectionInterval(rawValue: 24), latency: 0,
                supervisionTimeout: Centiseconds(rawValue: 400)
            ).packet,
            DisconnectionComplete(
                connection: ConnectionHandle(0x40), reason: .connectionFailedToBeEstablished
            ).packet,
        ]
    }

    @Test func linkUsesParametersOfLatestConnect() async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client")
            let server = try await bed.host("server")
            try await server.serve()
            var options = ConnectionOptions()
            options.parameters = .init(interval: .milliseconds(50) ... .milliseconds(50))
            let one = try await client.connect(to: server, options: options)
            #expect(try await one.connection.parameters.timing?.interval == .milliseconds(50))
            options.parameters = .init(interval: .milliseconds(100) ... .milliseconds(100))
            let two = try await client.connect(to: server, options: options)
            #expect(try await one.connection.parameters.timing?.interval == .milliseconds(100))
            await one.disconnect()
            await two.disconnect()
            options.parameters = .init(interval: .milliseconds(5) ... .milliseconds(5))
            let wrong = await failure { () throws(BLEError) in
                _ = try await client.connect(to: server, options: options)
            }
            #expect(
                wrong
                    == .timeOutOfRange(
                        .connectionInterval, allowed: .microseconds(7500) ... .seconds(4),
                        value: .milliseconds(5)))
        }
    }

    @Test func closeCancelsConnectionAttempt() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let waiting = bed.task {
                try await CentralManager(client).connect(to: Self.nowhere, timeout: nil)
            }
            await bed.wait(.seconds(1))
            port.forget()
            await client.close()
            #expect(await end(of: waiting) == .adapter(.closed))
            #expect(port.opcodes == [.leCreateConnectionCancel])
        }
    }

    @Test("closing during recovery does not wait for what the reset has ended")
    func closeDuringRecoveryFinishes() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let waiting = bed.task {
                try await CentralManager(client).connect(to: Self.nowhere, timeout: nil)
            }
            await bed.wait(.seconds(1))
            port.emit(HardwareError(hardwareCode: 1).packet)
            let closing = Task(executorPreference: bed.loop) {
                while port.opcodes.last != .reset { await Task.yield() }
                await client.close()
            }
            await closing.value
            #expect(await end(of: waiting) == .adapter(.closed))
        }
    }

    @Test("a connection that is reported twice does not complete another attempt")
    func duplicateConnectionCompleteIsIgnored() async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(), on: bed.loop)
            let client = try await bed.host("client", on: port)
            let server = try await bed.host("server")
            try await server.serve([3])
            let device = try await client.connect(to: server)
            let waiting = bed.task {
                try await CentralManager(client).connect(to: Self.nowhere, timeout: .seconds(10))
            }
            await bed.wait(.seconds(1))
            port.emit(
                LEConnectionComplete(
                    connection: try #require(await client.handles.first), role: .central,
                    peer: HCIAddress(await server.address), interval: ConnectionInterval(rawValue: 24),
                    latency: 0, supervisionTimeout: Centiseconds(rawValue: 400)
                ).packet)
            await bed.wait(.seconds(1))
            #expect(try await device.read(device.sample()) == [3])
            #expect(await end(of: waiting) == .timedOut(.connecting, after: .seconds(10)))
            #expect(try await device.read(device.sample()) == [3])
        }
    }

    /// Returns the error of a connect; nil if it succeeded.
    private func end(of task: Task<Peripheral, any Error>) async -> BLEError? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return error as? BLEError
        }
    }
}

extension Adapter {
    /// The connection handles of the adapter's links.
    fileprivate var handles: [ConnectionHandle] { links.compactMap(\.handle) }
}

extension ScanTiming {
    /// The interval and the window as encoded in commands.
    fileprivate var octets: [UInt8] {
        [interval, window].flatMap { [UInt8(Slots($0).rawValue & 0xff), UInt8(Slots($0).rawValue >> 8)] }
    }
}
