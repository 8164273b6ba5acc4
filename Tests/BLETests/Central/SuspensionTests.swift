import BLEAdvertising
import BLECore
import Dispatch
import Foundation
import HCI
import HCISocket
import Testing

@testable import BLE

/// Values that a manager holds back while it is suspended.
struct SuspensionTests {
    @Test func resumeDeliversLastPacketOfEachDevice() async throws {
        try await VirtualTestbed.run { bed in
            let scanner = try await bed.host("scanner")
            let central = CentralManager(scanner)
            var options = ScanOptions()
            options.repeats = .all
            var found = central.scan(options).makeAsyncIterator()
            let (one, other) = (try await bed.host("one"), try await bed.host("other"))
            let first = try await one.advertise(named: "before")
            let before = try await found.next()
            #expect(before?.name == "before")
            await first.stop()
            central.suspend()
            #expect(central.isSuspended)
            // Copies share the suspension; other managers do not.
            let copy = central
            #expect(copy.isSuspended)
            #expect(!CentralManager(scanner).isSuspended)
            for name in ["a", "b", "c"] {
                let advertising = try await one.advertise(named: name)
                await bed.wait(.seconds(2))
                await advertising.stop()
            }
            let last = try await other.advertise(named: "x")
            await bed.wait(.seconds(2))
            await last.stop()
            await bed.wait(.seconds(1))
            copy.resume()
            await scanner.close()
            var names: [String?] = []
            _ = await failure { () throws(BLEError) in
                while let next = try await found.next() { names.append(next.name) }
            }
            // Packets from before the suspension come first, then the last one of each device.
            #expect(names.drop { $0 == "before" } == ["c", "x"])
        }
    }

    @Test func resumeDeliversLastConnectionEventOfEachDevice() async throws {
        try await VirtualTestbed.run { bed in
            let (one, other) = (try await bed.host("one"), try await bed.host("other"))
            let client = try await bed.host("client")
            _ = try await one.advertise(maximumLinks: 2)
            _ = try await other.advertise(maximumLinks: 2)
            let central = CentralManager(client)
            let ids = [
                await central.identifier(of: one.address), await central.identifier(of: other.address),
            ]
            central.suspend()
            // A stream that begins during the suspension is held as well.
            let stream = central.connectionEvents()
            for id in [ids[0], ids[1], ids[0]] { await (try await central.connect(to: id)).disconnect() }
            let device = try await central.connect(to: ids[0])
            central.resume()
            var events = stream.makeAsyncIterator()
            let first = try await events.next()
            #expect(first == .disconnected(ids[1], .status(.connectionTerminatedByLocalHost)))
            let second = try await events.next()
            #expect(second == .connected(ids[0]))
            await device.disconnect()
            let third = try await events.next()
            #expect(third == .disconnected(ids[0], .status(.connectionTerminatedByLocalHost)))
        }
    }

    @Test func endIsDeliveredAfterHeldValues() async throws {
        let buffer = StreamBuffer<Int>(.overflow(limit: 2), merge: { AnyHashable($0 % 10) })
        buffer.hold()
        for value in [1, 2, 11] { buffer.yield(value) }
        buffer.finish(.failure(.adapter(.closed)))
        var taken: [Int] = []
        let end = await failure { () throws(BLEError) in
            for try await value in BoundedStream(buffer) { taken.append(value) }
        }
        #expect(taken == [2, 11])
        #expect(end == .adapter(.closed))
    }

    @Test func heldOverflowFollowsBufferPolicy() async throws {
        let newest = StreamBuffer<Int>(.newest(2), merge: { AnyHashable($0) })
        newest.yield(0)
        newest.hold()
        for value in [1, 2, 3] { newest.yield(value) }
        newest.release()
        #expect(newest.dropped == 2)
        newest.finish()
        var taken: [Int] = []
        for try await value in BoundedStream(newest) { taken.append(value) }
        #expect(taken == [2, 3])

        let strict = StreamBuffer<Int>(.overflow(limit: 2), merge: { AnyHashable($0) })
        strict.hold()
        for value in [1, 2, 3] { strict.yield(value) }
        let end = await failure { () throws(BLEError) in
            for try await _ in BoundedStream(strict) {}
        }
        #expect(end == .overflow(.values(2)))
    }

    @Test func streamCreatedDuringResumeIsNotHeld() async {
        // The rounds run on a separate thread, because each round blocks it until a second thread has finished.
        let dropped = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: (0..<2000).map { Self.dropped(inRound: $0) })
            }
        }
        // A held stream would merge the two values and drop none.
        #expect(dropped.allSatisfy { $0 == 1 })
    }

    /// Returns how many of two values a stream drops when it begins while its manager resumes.
    private static func dropped(inRound round: Int) -> Int {
        let suspension = Suspension()
        suspension.set(true)
        let buffer = StreamBuffer<Int>(.newest(1), merge: { _ in AnyHashable(0) })
        let steps: [@Sendable () -> Void] = [{ suspension.set(false) }, { suspension.adopt(buffer) }]
        // The thread that signals is slightly ahead of the other, so the two steps alternate.
        let (first, second) = (steps[round % 2], steps[1 - round % 2])
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            begun.signal()
            first()
            ended.signal()
        }
        begun.wait()
        second()
        ended.wait()
        buffer.yield(1)
        buffer.yield(2)
        return buffer.dropped
    }

    @Test func newStreamIsHeldIfManagerIsSuspended() {
        for isSuspended in [true, false] {
            let suspension = Suspension()
            suspension.set(true)
            suspension.set(isSuspended)
            let buffer = StreamBuffer<Int>(.newest(1), merge: { _ in AnyHashable(0) })
            suspension.adopt(buffer)
            buffer.yield(1)
            buffer.yield(2)
            // A held stream merges the two values and drops none.
            #expect(buffer.dropped == (isSuspended ? 0 : 1))
        }
    }

    @Test func waitingConsumerResumesAfterRelease() async throws {
        try await VirtualTestbed.run { bed in
            let buffer = StreamBuffer<Int>(.newest(4), merge: { AnyHashable($0) })
            let waiting = bed.task {
                var iterator = BoundedStream(buffer).makeAsyncIterator()
                return try await iterator.next()
            }
            await bed.wait(.milliseconds(1))
            buffer.hold()
            buffer.yield(7)
            await bed.wait(.milliseconds(1))
            buffer.release()
            let got = try await waiting.value
            #expect(got == 7)
        }
    }
}

extension Adapter {
    fileprivate func advertise(named name: String) async throws -> Advertising {
        var content = AdvertisingContent()
        content.name = name
        let plan = try AdvertisingPlan(content, kind: .connectable)
        return try await PeripheralManager(self).advertise(AdvertisingRequest(plan))
    }
}
