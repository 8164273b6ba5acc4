import BLECore
import HCISocket
import Testing

@testable import BLE

/// Testbeds in which nothing can happen any more.
@Suite(.timeLimit(.minutes(10))) struct StandstillTests {
    @Test("a bed whose caller is cancelled waits until the body has put things in order")
    func cancelledCallerWaitsForBody() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let isOrdered = Lock(false)
        let running = Task {
            try await VirtualTestbed.run { bed in
                let adapter = try await bed.adapter("central")
                let (never, continuation) = AsyncStream.makeStream(of: Void.self)
                begin.yield()
                for await _ in never {}
                continuation.finish()
                await adapter.close()
                isOrdered.withLock { $0 = true }
            }
        }
        for await _ in begun { break }
        running.cancel()
        _ = await running.result
        #expect(isOrdered.withLock { $0 })
    }

    @Test("a test that waits for what cannot happen ends, and names what it waits for")
    func waitIsNamed() async throws {
        let error = await #expect(throws: VirtualTestbed.Standstill.self) {
            try await VirtualTestbed.run(standstill: .milliseconds(200)) { bed in
                let central = CentralManager(try await bed.adapter("central"))
                let address = DeviceAddress(1, type: .public)
                _ = try await central.connect(to: address, timeout: nil)
            }
        }
        #expect(error?.waits.contains("central: a connection") == true, "\(error?.waits ?? [])")
    }

    @Test("a test whose work is elsewhere than on the adapters is named as such")
    func workElsewhere() async throws {
        let error = await #expect(throws: VirtualTestbed.Standstill.self) {
            try await VirtualTestbed.run(standstill: .milliseconds(200)) { _ in
                let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                for await _ in stream {}
                continuation.finish()
            }
        }
        #expect(error?.waits == [])
        #expect(error?.description == "nothing can happen any more; the test waits for something else")
    }

    @Test("a wait that cannot be cancelled does not hold up the test")
    func waitWithoutCancellation() async throws {
        await #expect(throws: VirtualTestbed.Standstill.self) {
            try await VirtualTestbed.run(standstill: .milliseconds(200)) { _ in
                await withCheckedContinuation { continuation in Self.kept.withLock { $0 = continuation } }
            }
        }
        Self.kept.withLock { $0.take() }?.resume()
    }

    private static let kept = Lock<CheckedContinuation<Void, Never>?>(nil)

    @Test("a test that waits for a slow disk does not stand still")
    func slowDiskIsWaitedFor() async throws {
        let isDone = try await VirtualTestbed.run(standstill: .milliseconds(50)) { _ in
            try await offLoop { () throws(BLEError) in
                try? await Task.sleep(for: .milliseconds(500))
                return true
            }
        }
        #expect(isDone)
    }

    @Test("a testbed leaves no loop and no adapter behind")
    func nothingIsLeft() async throws {
        let (loop, adapter) = (WeakReference(), WeakReference())
        try await VirtualTestbed.run { bed in
            loop.object = bed.loop
            adapter.object = try await bed.adapter("one")
        }
        #expect(loop.object == nil && adapter.object == nil)
    }
}

/// A reference that does not keep its object. Used by one task at a time.
private final class WeakReference: @unchecked Sendable {
    weak var object: AnyObject?
}
