import BLECore
import Glibc
import HCISocket
import TestSupport

/// The owner of a port, with a log of the calls to its handlers.
actor PortLog {
    enum Entry: Hashable {
        case received([UInt8])
        case writable
        case closed(PortError)
        case wasReset
        case lost(Int)
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    let port: any PacketPort
    private(set) var entries: [Entry] = []
    /// The loop's time at each entry.
    private(set) var times: [Instant] = []
    private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(_ loop: EventLoop, _ port: any PacketPort) {
        self.loop = loop
        self.port = port
    }

    /// Starts the port. When `last` arrives, its handler closes the port.
    func start(closingAt last: [UInt8]? = nil) throws {
        try port.start(
            PacketPortHandlers(
                receive: { [self] packet in
                    let octets = [UInt8](copying: packet)
                    assumeIsolated {
                        $0.add(.received(octets))
                        if octets == last { $0.port.close() }
                    }
                },
                writable: { [self] in assumeIsolated { $0.add(.writable) } },
                closed: { [self] error in assumeIsolated { $0.add(.closed(error)) } },
                wasReset: { [self] in assumeIsolated { $0.add(.wasReset) } },
                lost: { [self] count in assumeIsolated { $0.add(.lost(count)) } }))
    }

    private func add(_ entry: Entry) {
        entries.append(entry)
        times.append(loop.now)
        if let waiter, entries.count >= waiter.count {
            self.waiter = nil
            waiter.continuation.resume()
        }
    }

    /// Waits until the log has `count` entries.
    func wait(for count: Int) async {
        if entries.count >= count { return }
        await withCheckedContinuation { waiter = (count, $0) }
    }

    func send(_ packet: [UInt8]) { port.send(packet.span) }

    func readNow() { port.readNow() }

    var isWritable: Bool { port.isWritable }

    /// The packets that arrived.
    var packets: [[UInt8]] {
        entries.compactMap { if case .received(let packet) = $0 { packet } else { nil } }
    }

    func close() { port.close() }
}

/// Runs `body` on a loop with a virtual clock.
func onVirtualLoop(_ body: @escaping @Sendable (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop(clock: .virtual)
    let outcome = await Task(executorPreference: loop) { try await body(loop) }.result
    loop.stop()
    try outcome.get()
}

extension EventLoop {
    /// Returns when a virtual loop has run all work that is due and a millisecond has passed.
    func settle() async { _ = await sleep(for: .milliseconds(1)) }
}
