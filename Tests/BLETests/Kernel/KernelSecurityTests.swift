import ATT
import BLECore
import GATTClient
import GATTServer
import HCI
import HCISocket
import SMP
import SystemPackage
import Testing

@testable import BLE

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let lampOctets: [UInt8] = [6, 5, 4, 3, 2, 0xc1, 2]

@Suite(.timeLimit(.minutes(10))) struct KernelSecurityTests {
    /// Runs `body` with a host, the socket of a kernel's link on it, and the link's ID.
    private func run(
        refusing refusal: PortError? = nil,
        _ body: @escaping @Sendable (KernelHost, KernelSocket, LinkID) async throws -> Void
    ) async throws {
        try await KernelHost.run { host in
            let socket = KernelSocket(on: host.loop, refusing: refusal)
            let id = await host.link(to: lamp, over: socket)
            try await body(host, socket, id)
        }
    }

    private func raising(
        _ host: KernelHost, _ id: LinkID, _ level: SecurityLevel = .encrypted
    ) -> Task<BLEError?, Never> {
        Task(executorPreference: host.loop) {
            await failure { () throws(BLEError) in try await host.adapter.secure(id, level) }
        }
    }

    @Test("raising security waits for the kernel, once for all callers, and is reported")
    func raisingWaitsForKernel() async throws {
        try await run { host, socket, id in
            let events = PeripheralManager(host.adapter).events()
            let raised = [raising(host, id), raising(host, id), raising(host, id, .authenticated)]
            _ = await host.loop.sleep(for: .seconds(20))
            #expect(socket.required == [.encrypted])
            socket.reach(.encrypted)
            _ = await host.loop.sleep(for: .seconds(20))
            #expect(socket.required == [.encrypted, .authenticated])
            socket.reach(.secureConnections)
            for each in raised { #expect(await each.value == nil) }
            #expect(
                await failure { () throws(BLEError) in try await host.adapter.secure(id, .secureConnections) }
                    == nil)
            #expect(socket.required == [.encrypted, .authenticated])
            var shown: [PeripheralEvent] = []
            for try await event in events {
                shown.append(event)
                if shown.count == 2 { break }
            }
            let central = Central(address: lamp, client: ClientID(id))
            #expect(
                shown == [
                    .security(central, LinkSecurity(level: .encrypted)),
                    .security(central, LinkSecurity(level: .secureConnections)),
                ])
        }
    }

    @Test("the level requested from the kernel does not count while it reports no key")
    func requestedLevelIsNotActualLevel() async throws {
        try await run { host, socket, id in
            let first = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            socket.set(.encrypted, keySize: 0)
            first.cancel()
            #expect(await first.value == .cancelled)
            let second = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(20))
            #expect(await host.adapter.security(of: id) == LinkSecurity.none)
            #expect(await !host.hasEnded(second))
            socket.reach(.encrypted)
            #expect(await second.value == nil)
            // A link keeps its level while a higher one is requested.
            let third = raising(host, id, .authenticated)
            socket.set(.authenticated, keySize: 0)
            _ = await host.loop.sleep(for: .seconds(1))
            await host.adapter.look(at: id)
            #expect(await host.adapter.security(of: id) == LinkSecurity(level: .encrypted))
            #expect(await !host.hasEnded(third))
            socket.reach(.authenticated)
            #expect(await third.value == nil)
        }
    }

    @Test("encryption with a key below the minimum size grants no security")
    func shortKeyGrantsNoSecurity() async throws {
        try await run { host, socket, id in
            socket.set(.encrypted, keySize: 15)
            await host.adapter.look(at: id)
            #expect(await host.adapter.security(of: id) == LinkSecurity.none)
            let raised = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            #expect(socket.required == [.encrypted])
            socket.reach(.encrypted, keySize: 15)
            #expect(await raised.value == .pairing(.local(.encryptionKeySize)))
        }
    }

    @Test("a level that the kernel has refused does not count as the link's")
    func refusedLevelIsNotActualLevel() async throws {
        try await KernelHost.run { host in
            let socket = KernelSocket(on: host.loop)
            let id = await host.adapter.take(ReluctantSocket(socket))
            #expect(await raising(host, id).value == .adapter(.unsupported(.pairing)))
            // The kernel reports that level nevertheless, without a key.
            socket.set(.encrypted, keySize: 0)
            let second = raising(host, id)
            await host.wait(.seconds(20))
            #expect(await !host.hasEnded(second))
            #expect(socket.required == [.encrypted, .encrypted])
            #expect(await host.adapter.security(of: id) == LinkSecurity.none)
            socket.reach(.encrypted)
            #expect(await second.value == nil)
        }
    }

    @Test("a read during pairing is not refused for the key size")
    func readDuringPairingIsNotRefusedForKeySize() async throws {
        try await run { host, socket, id in
            let answers = Lock<[[UInt8]]>([])
            try socket.peer.start(
                PacketPortHandlers(
                    receive: { frame in answers.withLock { $0.append([UInt8](copying: frame)) } },
                    writable: {},
                    closed: { _ in }))
            try await host.adapter.serve([
                GATTService(0xfff0) {
                    GATTCharacteristic(
                        0xfff1, properties: .read, permissions: AttributePermissions(read: .encrypted),
                        value: [7])
                    GATTCharacteristic(
                        0xfff2, properties: .read, permissions: AttributePermissions(read: .authenticated),
                        value: [8])
                }
            ])
            func read(_ handle: AttributeHandle) async -> [UInt8]? {
                socket.peer.send(ATTRequest.read(handle).encoded.span)
                _ = await host.loop.sleep(for: .seconds(1))
                return answers.withLock { $0.last }
            }
            socket.set(.encrypted, keySize: 0)
            #expect(await read(3) == [0x01, 0x0a, 0x03, 0x00, 0x05])
            socket.set(.encrypted)
            #expect(await read(3) == [0x0b, 7])
            socket.set(.authenticated, keySize: 0)
            #expect(await read(3) == [0x0b, 7])
            #expect(await read(5) == [0x01, 0x0a, 0x05, 0x00, 0x05])
            socket.set(.authenticated)
            #expect(await read(5) == [0x0b, 8])
        }
    }

    @Test("a command is checked against the current security of the link")
    func commandUsesCurrentSecurity() async throws {
        try await run { host, socket, id in
            let written = Lock<[UInt8]>([])
            try await host.adapter.serve([
                GATTService(0xfff0) {
                    GATTCharacteristic(
                        0xfff1, properties: .writeWithoutResponse,
                        permissions: AttributePermissions(read: nil, write: .encrypted),
                        onWrite: { request in
                            written.withLock { $0 += request.value }
                            return .accept
                        })
                }
            ])
            let handle: AttributeHandle = 3
            let (first, second) = (
                ATTCommand.write(handle, value: [1]).encoded, ATTCommand.write(handle, value: [2]).encoded
            )
            socket.peer.send(first.span)
            _ = await host.loop.sleep(for: .seconds(1))
            // A process without a raw socket receives no event of the encryption.
            socket.set(.encrypted)
            socket.peer.send(second.span)
            _ = await host.loop.sleep(for: .seconds(1))
            #expect(written.withLock { $0 } == [2])
            #expect(await host.adapter.linkCount == 1)
        }
    }

    /// Starts a read of handle 3 that the peer refuses with Insufficient Encryption, on a link whose security
    /// may be raised.
    private func refusedRead(
        _ host: KernelHost, _ socket: KernelSocket, _ id: LinkID, _ asked: Lock<[[UInt8]]>
    ) async throws -> Task<[UInt8], any Error> {
        try socket.peer.start(
            PacketPortHandlers(
                receive: { frame in asked.withLock { $0.append([UInt8](copying: frame)) } }, writable: {},
                closed: { _ in }))
        await host.adapter.raiseOnDemand(on: id)
        let read = Task<[UInt8], any Error>(executorPreference: host.loop) {
            try await host.adapter.run(ReadValue(3), on: id)
        }
        _ = await host.loop.sleep(for: .seconds(1))
        #expect(asked.withLock { $0 } == [ATTRequest.read(3).encoded])
        socket.peer.send([0x01, 0x0a, 0x03, 0x00, 0x0f].span)
        _ = await host.loop.sleep(for: .seconds(1))
        #expect(socket.required == [.encrypted])
        return read
    }

    @Test("a request refused for missing security is repeated when the link is secure")
    func refusedRequestIsRepeatedOnceSecure() async throws {
        try await run { host, socket, id in
            let asked = Lock<[[UInt8]]>([])
            let read = try await refusedRead(host, socket, id, asked)
            #expect(asked.withLock { $0.count } == 1)
            host.loop.execute { socket.reach(.encrypted) }
            _ = await host.loop.sleep(for: .seconds(1))
            #expect(asked.withLock { $0.count } == 2)
            socket.peer.send([0x0b, 7].span)
            #expect(try await read.value == [7])
        }
    }

    @Test("a request refused while the kernel pairs waits for that pairing")
    func requestRefusedDuringPairingWaits() async throws {
        for code: UInt8 in [0x05, 0x0f] {
            try await run { host, socket, id in
                let asked = Lock<[[UInt8]]>([])
                let first = try await refusedRead(host, socket, id, asked)
                socket.set(.encrypted, keySize: 0)
                first.cancel()
                await #expect(throws: BLEError.cancelled) { try await first.value }
                let second = Task<[UInt8], any Error>(executorPreference: host.loop) {
                    try await host.adapter.run(ReadValue(4), on: id)
                }
                _ = await host.loop.sleep(for: .seconds(1))
                socket.peer.send([0x01, 0x0a, 0x04, 0x00, code].span)
                _ = await host.loop.sleep(for: .seconds(1))
                #expect(!socket.required.contains(.authenticated))
                #expect(asked.withLock { $0.count } == 2)
                #expect(await !host.hasEnded(second))
                host.loop.execute { socket.reach(.encrypted) }
                _ = await host.loop.sleep(for: .seconds(1))
                #expect(asked.withLock { $0.count } == 3)
                socket.peer.send([0x0b, 7].span)
                #expect(try await second.value == [7])
            }
        }
    }

    @Test("the 30 s timeout of a request queued in the socket starts when it is sent")
    func queuedRequestTimeoutStartsWhenSent() async throws {
        try await run { host, socket, id in
            let asked = Lock<[[UInt8]]>([])
            try socket.peer.start(
                PacketPortHandlers(
                    receive: { frame in asked.withLock { $0.append([UInt8](copying: frame)) } }, writable: {},
                    closed: { _ in }))
            socket.keepNext()
            let read = Task<[UInt8], any Error>(executorPreference: host.loop) {
                try await host.adapter.run(ReadValue(3), on: id)
            }
            _ = await host.loop.sleep(for: .seconds(50))
            host.loop.execute { socket.release() }
            _ = await host.loop.sleep(for: .seconds(29))
            #expect(asked.withLock { $0 } == [ATTRequest.read(3).encoded])
            socket.peer.send([0x0b, 7].span)
            #expect(try await read.value == [7])
            socket.keepNext()
            let late = Task<[UInt8], any Error>(executorPreference: host.loop) {
                try await host.adapter.run(ReadValue(3), on: id)
            }
            _ = await host.loop.sleep(for: .seconds(50))
            host.loop.execute { socket.release() }
            _ = await host.loop.sleep(for: .seconds(31))
            await #expect(throws: BLEError.self) { try await late.value }
        }
    }

    @Test("a request fails with the failure to secure its link, and the next request is sent")
    func failedSecurityFailsRequest() async throws {
        try await run { host, socket, id in
            let asked = Lock<[[UInt8]]>([])
            let read = try await refusedRead(host, socket, id, asked)
            let other = Task(executorPreference: host.loop) {
                await failure { () throws(BLEError) in _ = try await host.adapter.run(ReadValue(4), on: id) }
            }
            _ = await host.loop.sleep(for: .seconds(1))
            #expect(asked.withLock { $0.count } == 1, "it waits its turn")
            read.cancel()
            await #expect(throws: BLEError.cancelled) { try await read.value }
            _ = await host.loop.sleep(for: .seconds(1))
            #expect(asked.withLock { $0.last } == ATTRequest.read(4).encoded)
            socket.peer.send([0x01, 0x0a, 0x04, 0x00, 0x0f].span)
            _ = await host.loop.sleep(for: .seconds(1))
            host.kernel.emit(0x0011, lampOctets + [5])
            #expect(await other.value == .kernelPairing(.authenticationFailed))
        }
    }

    @Test(
        "a request that waits for security fails for the lack of it when the link ends first"
    )
    func disconnectDuringPairingFailsRequest() async throws {
        try await run { host, socket, id in
            let asked = Lock<[[UInt8]]>([])
            let read = try await refusedRead(host, socket, id, asked)
            let handle = socket.connectionHandle()
            host.kernel.emit(DisconnectionComplete(connection: handle, reason: .authenticationFailure).packet)
            socket.lose()
            await #expect(throws: BLEError.encryption(.authenticationFailure)) { try await read.value }
        }
    }

    @Test("an unconfirmed indication does not delay a disconnect")
    func unconfirmedIndicationDoesNotDelayDisconnect() async throws {
        try await run { host, socket, id in
            let handle: AttributeHandle = 3
            try await host.adapter.serve([
                GATTService(0xfff0) { GATTCharacteristic(0xfff1, properties: .indicate) }
            ])
            socket.peer.send(ATTRequest.write(4, value: [2, 0]).encoded.span)
            _ = await host.loop.sleep(for: .seconds(1))
            let update = Task(executorPreference: host.loop) {
                await failure { () throws(BLEError) in
                    try await PeripheralManager(host.adapter).update(handle, to: [1])
                }
            }
            _ = await host.loop.sleep(for: .seconds(1))
            let began = host.loop.now
            await host.adapter.endLink(id)
            #expect(began.duration(until: host.loop.now) < .seconds(1))
            #expect(await host.adapter.linkCount == 0)
            _ = await update.value
        }
    }

    @Test("a level below the requested one is refused, and the link stays open")
    func insufficientLevelIsRefused() async throws {
        try await run { host, socket, id in
            let raised = raising(host, id, .authenticated)
            _ = await host.loop.sleep(for: .seconds(1))
            socket.reach(.encrypted)
            #expect(await raised.value == .pairing(.local(.authenticationRequirements)))
            #expect(await host.adapter.linkCount == 1)
        }
    }

    @Test("a pairing that fails or takes more than 30 s ends the link")
    func failedOrSlowPairingEndsLink() async throws {
        try await run { host, _, id in
            let raised = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            host.kernel.emit(0x0011, lampOctets + [5])
            #expect(await raised.value == .kernelPairing(.authenticationFailed))
            _ = await host.loop.sleep(for: .seconds(2))
            #expect(await host.adapter.linkCount == 0)
        }
        try await run { host, _, id in
            let raised = raising(host, id)
            _ = await host.loop.sleep(for: .milliseconds(29_900))
            #expect(await host.adapter.linkCount == 1)
            _ = await host.loop.sleep(for: .milliseconds(200))
            #expect(await raised.value == .pairing(.timeout))
            _ = await host.loop.sleep(for: .seconds(2))
            #expect(await host.adapter.linkCount == 0)
        }
    }

    @Test("a peer that has lost its key is reported as bond lost, without pairing again")
    func lostPeerKeyIsReported() async throws {
        try await run { host, _, id in
            let raised = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            host.port.emit(
                EncryptionChange(
                    status: .pinOrKeyMissing, connection: ConnectionHandle(0x40), mode: .off
                ).packet)
            #expect(await raised.value == .bondLost(lamp))
        }
    }

    @Test("a disconnect ends the wait for security; cancelling the wait keeps the link")
    func disconnectOrCancellationEndsWait() async throws {
        try await run { host, socket, id in
            let raised = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            host.loop.execute { socket.lose() }
            #expect(
                await raised.value == .disconnected(.errno(Errno.connectionReset.rawValue)))
        }
        try await run { host, socket, id in
            let raised = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            raised.cancel()
            #expect(await raised.value == .cancelled)
            #expect(await host.adapter.linkCount == 1)
            let again = raising(host, id)
            _ = await host.loop.sleep(for: .seconds(1))
            host.loop.execute { socket.reach(.encrypted) }
            #expect(await again.value == nil)
        }
    }

    @Test("a kernel without a Security Manager for the adapter throws, and the link stays open")
    func unsupportedSecurityKeepsLink() async throws {
        try await run(refusing: .system(.invalidArgument, during: "setsockopt BT_SECURITY")) { host, _, id in
            #expect(
                await raising(host, id).value
                    == .adapter(
                        .unsupported(.pairing)))
            #expect(await host.adapter.linkCount == 1)
        }
    }

    @Test("encryption by the peer is reported after the kernel has handled the event")
    func peerEncryptionIsReported() async throws {
        try await run { host, socket, id in
            let events = PeripheralManager(host.adapter).events()
            host.port.script(.readRSSI, .late(.milliseconds(3)))
            host.port.emit(
                EncryptionChange(status: .success, connection: ConnectionHandle(0x40), mode: .on).packet
            )
            _ = await host.loop.sleep(for: .milliseconds(1))
            socket.set(.encrypted)
            for try await event in events {
                #expect(
                    event
                        == .security(
                            Central(address: lamp, client: ClientID(id)),
                            LinkSecurity(level: .encrypted)))
                break
            }
        }
    }
}

/// A socket whose kernel refuses the first level that it is requested to set, with EINVAL.
private final class ReluctantSocket: L2CAPSocket {
    private let inner: KernelSocket
    private let hasRefused = Lock(false)

    init(_ inner: KernelSocket) { self.inner = inner }

    func require(_ level: SecurityLevel) throws(PortError) {
        try inner.require(level)
        let isFirst = hasRefused.withLock { hasRefused in
            defer { hasRefused = true }
            return !hasRefused
        }
        if isFirst { throw .system(.invalidArgument, during: "setsockopt BT_SECURITY") }
    }

    func security() -> (level: SecurityLevel?, keySize: Int) { inner.security() }
    func connectionHandle() -> ConnectionHandle { inner.connectionHandle() }
    func watchDepartures(_ departed: (@Sendable () -> Void)?) { inner.watchDepartures(departed) }
    func start(_ handlers: PacketPortHandlers) throws(PortError) { try inner.start(handlers) }
    func send(_ packet: Span<UInt8>) { inner.send(packet) }
    func close() { inner.close() }
    func send(_ packet: Span<UInt8>, isAwaited: Bool) { inner.send(packet, isAwaited: isAwaited) }
    var sendState: L2CAPSendState { inner.sendState }
    var isWritable: Bool { inner.isWritable }
}

extension KernelHost {
    /// Returns whether a task has ended by now.
    fileprivate func hasEnded<Success: Sendable, Failure: Error>(
        _ task: Task<Success, Failure>
    ) async -> Bool {
        let ended = Lock(false)
        Task(executorPreference: loop) {
            _ = await task.result
            ended.withLock { $0 = true }
        }
        await wait(.milliseconds(1))
        return ended.withLock { $0 }
    }
}

extension Adapter {
    /// Adds a link of the kernel to `lamp`, which is the central.
    fileprivate func take(_ socket: ReluctantSocket) -> LinkID {
        addLink(to: lamp, as: .peripheral, over: .socket(L2CAPChannel(port: socket, peer: lamp)))
    }

    fileprivate func security(of id: LinkID) -> LinkSecurity? { links[id]?.security }
    fileprivate func look(at id: LinkID) { if let link = links[id] { noteSecurity(of: link) } }

    /// Publishes services without a listener of the kernel.
    fileprivate func serve(_ services: [GATTService]) throws {
        server.gatt.publish(try AttributeDatabase(services, generic: nil), ServerOptions())
    }

    fileprivate func raiseOnDemand(on id: LinkID) { links[id]?.raisesSecurity = true }
}
