import BLECore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

/// The owner of a port, with a log of its calls and of those to its handlers.
private actor Owner {
    enum Entry: Hashable {
        case sent(isWritable: Bool)
        case received(Int)
        case writable
        case closed(Errno?)
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    let port: any PacketPort
    private(set) var entries: [Entry] = []

    init(_ loop: EventLoop, _ port: any PacketPort) {
        self.loop = loop
        self.port = port
    }

    func start() throws {
        try port.start(
            PacketPortHandlers(
                receive: { [self] packet in
                    let count = packet.count
                    assumeIsolated { $0.entries.append(.received(count)) }
                },
                writable: { [self] in assumeIsolated { $0.entries.append(.writable) } },
                closed: { [self] error in assumeIsolated { $0.entries.append(.closed(error.errno)) } }))
    }

    func send(_ count: Int) {
        port.send([UInt8](repeating: 0, count: count).span)
        entries.append(.sent(isWritable: port.isWritable))
    }

    var canSend: Bool { port.isWritable }

    func close() { port.close() }

    func sendAndClose(_ count: Int) {
        send(count)
        close()
    }
}

@Suite struct PacketPortTests {
    private func run(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        try await body(loop)
    }

    /// Returns when the loop has run all work that was due.
    private func settle(_ loop: EventLoop) async {
        _ = await Task(executorPreference: loop) { await loop.sleep(for: .milliseconds(1)) }.value
    }

    @Test("a packet socket that fails while sending reports the error in a later turn")
    func packetSocketSendFailureIsDeferred() async throws {
        try await run { loop in
            let (near, far) = socketPair(.packets)
            defer { Glibc.close(far) }
            let owner = Owner(loop, PacketSocket(near, on: loop, maximumPacket: 64))
            try await owner.start()
            await owner.send(4 << 20)
            await settle(loop)
            #expect(await owner.entries == [.sent(isWritable: false), .closed(.messageTooLong)])
        }
    }

    @Test("a stream that fails while sending reports the error in a later turn")
    func streamSendFailureIsDeferred() async throws {
        try await run { loop in
            let (near, far) = socketPair(.stream)
            defer { Glibc.close(far) }
            let owner = Owner(loop, H4Port(near, on: loop))
            try await owner.start()
            // The owner sends after the other end has closed, but before the port has reported it.
            await withCheckedContinuation { done in
                loop.execute {
                    // The descriptor is shut down, not closed, because a program that another test starts may
                    // have it, too.
                    shutdown(far, CInt(SHUT_RDWR))
                    owner.assumeIsolated { $0.send(4) }
                    done.resume()
                }
            }
            await settle(loop)
            #expect(await owner.entries == [.sent(isWritable: false), .closed(.brokenPipe)])
        }
    }

    @Test("an owner that closes the port before the deferred report receives no event")
    func closingSuppressesDeferredFailure() async throws {
        try await run { loop in
            let (near, far) = socketPair(.packets)
            defer { Glibc.close(far) }
            let owner = Owner(loop, PacketSocket(near, on: loop, maximumPacket: 64))
            try await owner.start()
            await owner.sendAndClose(4 << 20)
            await settle(loop)
            #expect(await owner.entries == [.sent(isWritable: false)])
        }
    }

    @Test("a memory port is full with 64 KiB unread, and reports writable once they are read")
    func memoryPortIsBounded() async throws {
        try await run { loop in
            let (near, far) = MemoryPort.pair(on: loop)
            let (owner, other) = (Owner(loop, near), Owner(loop, far))
            try await owner.start()
            for _ in 0..<2 { await owner.send(32 << 10) }
            await settle(loop)
            #expect(await owner.entries == [.sent(isWritable: true), .sent(isWritable: false)])
            try await other.start()
            await settle(loop)
            #expect(await other.entries == [.received(32 << 10), .received(32 << 10)])
            #expect(await owner.entries.last == .writable)
            #expect(await owner.canSend)
        }
    }
}
