import BLECore
import HCISocket
import Testing

@testable import BLE

/// The values that a consumer receives from a buffer that gets them in bursts, and their order.
@Suite(.timeLimit(.minutes(10))) struct StreamBufferTests {
    /// The changes of a buffer within one turn of the loop, while its consumer waits.
    enum Burst: CaseIterable {
        case values, valuesAndEnd, valuesAndFailure, valuesAndCancellation, onlyEnd, onlyCancellation
    }

    private enum Taken: Equatable {
        case value(Int)
        case end
        case failure(BLEError)
    }

    /// Takes `limit` values, or all until the stream ends.
    private static func take(_ limit: Int = .max, from buffer: StreamBuffer<Int>) async -> [Taken] {
        var taken: [Taken] = []
        while taken.count < limit {
            do throws(BLEError) {
                guard let value = try await buffer.next() else { return taken + [.end] }
                taken.append(.value(value))
            } catch {
                return taken + [.failure(error)]
            }
        }
        return taken
    }

    private func play(_ burst: Burst, consumerOnLoop: Bool) async throws -> [Taken] {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let buffer = StreamBuffer<Int>(.overflow(limit: 8), on: loop)
        let consumer =
            consumerOnLoop
            ? Task(executorPreference: loop) { await Self.take(from: buffer) }
            : Task { await Self.take(from: buffer) }
        // After that, a consumer on the loop waits; another one may not wait yet.
        _ = await Task(executorPreference: loop) { await loop.sleep(for: .seconds(1)) }.value
        loop.execute {
            switch burst {
            case .onlyEnd, .onlyCancellation: break
            default: for value in 1...3 { buffer.yield(value) }
            }
            switch burst {
            case .values: loop.execute { buffer.finish() }
            case .valuesAndEnd, .onlyEnd: buffer.finish()
            case .valuesAndFailure: buffer.finish(.failure(.adapter(.closed)))
            case .valuesAndCancellation, .onlyCancellation: consumer.cancel()
            }
        }
        return await consumer.value
    }

    @Test(arguments: Burst.allCases, [true, false])
    func burstIsDeliveredInOrder(_ burst: Burst, consumerOnLoop: Bool) async throws {
        let all: [Taken] = [.value(1), .value(2), .value(3)]
        let taken = try await play(burst, consumerOnLoop: consumerOnLoop)
        switch burst {
        case .values, .valuesAndEnd: #expect(taken == all + [.end])
        case .valuesAndFailure: #expect(taken == all + [.failure(.adapter(.closed))])
        case .onlyEnd: #expect(taken == [.end])
        case .onlyCancellation: #expect(taken == [.failure(.cancelled)])
        // A consumer that does not wait yet may take more values, or none.
        case .valuesAndCancellation:
            #expect(taken.last == .failure(.cancelled))
            #expect(all.starts(with: taken.dropLast()))
            #expect(!consumerOnLoop || taken.count == 2)
        }
    }

    @Test("a wait with a limit that has passed, or that is cancelled, leaves the stream as it is")
    func limitedWaitLeavesStream() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let buffer = StreamBuffer<Int>(.overflow(limit: 8), on: loop)
        let stream = BoundedStream(buffer)
        let taken = await Task(executorPreference: loop) {
            @Sendable func next(_ limit: Duration) async -> Taken {
                do throws(BLEError) {
                    return try await stream.next(within: limit).map { .value($0) } ?? .end
                } catch {
                    return .failure(error)
                }
            }
            var taken = [await next(.seconds(3)), await next(.zero)]
            let cancelled = Task(executorPreference: loop) { await next(.seconds(3)) }
            _ = await loop.sleep(for: .seconds(1))
            taken.append(await next(.seconds(1)))
            cancelled.cancel()
            taken.append(await cancelled.value)
            let waiting = Task(executorPreference: loop) { await next(.seconds(3)) }
            _ = await loop.sleep(for: .seconds(1))
            for value in 1...2 { buffer.yield(value) }
            taken.append(await waiting.value)
            taken.append(await next(.zero))
            buffer.finish()
            return taken + [await next(.seconds(3))]
        }.value
        #expect(
            taken == [
                .failure(.timedOut(.value, after: .seconds(3))), .failure(.timedOut(.value, after: .zero)),
                .failure(.invalidRequest(.streamInUse)), .failure(.cancelled), .value(1), .value(2), .end,
            ])
    }

    @Test func waitingConsumerResumesOncePerTurn() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let buffer = StreamBuffer<Int>(.overflow(limit: 8), on: loop)
        let added = Lock(0)
        let (taken, count) = await Task(executorPreference: loop) {
            let consumer = Task(executorPreference: loop) {
                (await Self.take(1, from: buffer), added.withLock { $0 })
            }
            _ = await loop.sleep(for: .seconds(1))
            @Sendable func add(_ value: Int) {
                buffer.yield(value)
                added.withLock { $0 = value }
                if value < 3 { loop.execute { add(value + 1) } }
            }
            add(1)
            return await consumer.value
        }.value
        #expect(taken == [.value(1)])
        #expect(count == 3)
    }

    @Test func overflowDuringHandoverDropsOlderValue() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let buffer = StreamBuffer<Int>(.newest(1), on: loop)
        let taken = await Task(executorPreference: loop) {
            let consumer = Task(executorPreference: loop) { await Self.take(2, from: buffer) }
            _ = await loop.sleep(for: .seconds(1))
            for value in 1...3 { buffer.yield(value) }
            return await consumer.value
        }.value
        #expect(taken == [.value(1), .value(3)])
        #expect(buffer.dropped == 1)
    }

    /// Returns all values in the buffer of a stream that has ended, and its end.
    private func rest(of buffer: StreamBuffer<Int>) async -> [Taken] { await Self.take(from: buffer) }

    @Test("a value beyond the limit ends the stream after the buffered values")
    func overflowOfValues() async {
        let buffer = StreamBuffer<Int>(.overflow(limit: 2))
        for value in 1...2 { buffer.yield(value) }
        #expect(buffer.failure == nil)
        buffer.yield(3)
        #expect(buffer.failure == .overflow(.values(2)))
        // Later values are ignored, although there is room again.
        #expect(await Self.take(1, from: buffer) == [.value(1)])
        buffer.yield(4)
        #expect(await rest(of: buffer) == [.value(2), .failure(.overflow(.values(2)))])
        #expect(buffer.dropped == 0)
    }

    @Test(
        "octets have a limit of their own, which counts only buffered values")
    func overflowOfOctets() async {
        let buffer = StreamBuffer<Int>(.overflow(limit: 100, octets: 10), octets: { $0 })
        buffer.yield(4)
        buffer.yield(6)
        buffer.yield(0)
        #expect(buffer.failure == nil)
        #expect(await Self.take(1, from: buffer) == [.value(4)])
        buffer.yield(4)
        #expect(buffer.failure == nil)
        buffer.yield(1)
        #expect(buffer.failure == .overflow(.octets(10)))
        #expect(
            await rest(of: buffer)
                == [.value(6), .value(0), .value(4), .failure(.overflow(.octets(10)))])
    }

    @Test("a value larger than the whole buffer overflows an empty one")
    func oversizedValueOverflowsEmptyBuffer() async {
        let buffer = StreamBuffer<Int>(.overflow(limit: 100, octets: 10), octets: { $0 })
        buffer.yield(11)
        #expect(await rest(of: buffer) == [.failure(.overflow(.octets(10)))])
    }

    @Test(
        "the newest values stay; dropped ones are counted and passed to the owner",
        arguments: [-1, 0, 1, 3])
    func newestPolicyCountsDroppedValues(limit: Int) async {
        let gone = Lock<[Int]>([])
        let buffer = StreamBuffer<Int>(
            .newest(limit), onTake: { value in gone.withLock { $0.append(value) } })
        for value in 1...5 { buffer.yield(value) }
        let kept = max(limit, 1)
        #expect(buffer.dropped == 5 - kept)
        #expect(gone.withLock { $0 } == Array(1...(5 - kept)))
        buffer.finish()
        #expect(await rest(of: buffer) == (1...5).suffix(kept).map { .value($0) } + [.end])
    }

    @Test(
        "a second concurrent consumer of a stream is refused, and the first one continues")
    func secondConsumerIsRefused() async throws {
        let loop = try EventLoop(clock: .virtual)
        let taken = await Task(executorPreference: loop) {
            let buffer = StreamBuffer<Int>(.overflow(limit: 8), on: loop)
            let first = Task(executorPreference: loop) { await Self.take(1, from: buffer) }
            _ = await loop.sleep(for: .seconds(1))
            #expect(await Self.take(1, from: buffer) == [.failure(.invalidRequest(.streamInUse))])
            buffer.yield(1)
            return await first.value
        }.value
        loop.stop()
        #expect(taken == [.value(1)])
    }

    @Test(
        "the source ends once, by finish, overflow or abandonment; later end handlers run at once"
    )
    func sourceEndsOnce() async {
        let ends: [@Sendable (StreamBuffer<Int>) -> Void] = [
            { $0.finish() }, { $0.finish(.failure(.adapter(.closed))) }, { $0.abandon() },
            { buffer in for value in 1...3 { buffer.yield(value) } },
        ]
        for end in ends {
            let steps = Lock<[String]>([])
            let buffer = StreamBuffer<Int>(.overflow(limit: 2))
            for name in ["first", "second"] {
                buffer.onEnd { steps.withLock { $0.append(name) } }
            }
            buffer.yield(0)
            #expect(steps.withLock { $0 }.isEmpty)
            end(buffer)
            end(buffer)
            #expect(steps.withLock { $0 } == ["first", "second"])
            buffer.onEnd { steps.withLock { $0.append("late") } }
            #expect(steps.withLock { $0 } == ["first", "second", "late"])
        }
    }

    @Test("only the first end counts, and an end without an error is no failure")
    func onlyFirstEndCounts() async {
        let buffer = StreamBuffer<Int>(.overflow(limit: 2))
        buffer.finish()
        buffer.finish(.failure(.adapter(.closed)))
        #expect(buffer.failure == nil)
        buffer.yield(1)
        #expect(await rest(of: buffer) == [.end])
    }

    @Test("an abandoned buffer is empty")
    func abandonedBufferIsEmpty() async {
        let buffer = StreamBuffer<Int>(.overflow(limit: 2))
        buffer.yield(1)
        buffer.abandon()
        #expect(await rest(of: buffer) == [.end])
    }
}

/// Buffers that hold back new values, as while an application is suspended.
@Suite(.timeLimit(.minutes(10))) struct HeldStreamTests {
    /// Creates a buffer in which values with the same tens are of one kind.
    private func buffer(_ policy: BufferPolicy) -> StreamBuffer<Int> {
        StreamBuffer(policy, merge: { AnyHashable($0 / 10) })
    }

    /// Returns the values that are left in a stream that has ended, and the error that ended it.
    private func rest(of buffer: StreamBuffer<Int>) async -> ([Int], BLEError?) {
        var values: [Int] = []
        let error = await failure { () throws(BLEError) in
            while let value = try await buffer.next() { values.append(value) }
        }
        return (values, error)
    }

    @Test(
        "a held stream keeps the last value of each kind, in order"
    )
    func heldStreamKeepsLastValueOfEachKind() async {
        let buffer = buffer(.overflow(limit: 8))
        buffer.yield(1)
        buffer.hold()
        for value in [11, 21, 12, 2] { buffer.yield(value) }
        buffer.hold()
        buffer.release()
        buffer.yield(22)
        buffer.finish()
        // 1 arrived before the stream was held, so 2, which is of the same kind, does not replace it.
        #expect(await rest(of: buffer) == ([1, 21, 12, 2, 22], nil))
    }

    @Test("a waiting consumer receives nothing until the stream is released")
    func heldStreamDeliversAfterRelease() async throws {
        let loop = try EventLoop(clock: .virtual)
        let buffer = buffer(.overflow(limit: 8))
        let (before, after) = await Task(executorPreference: loop) {
            let isTaken = Lock(false)
            let consumer = Task(executorPreference: loop) {
                let value = try? await buffer.next()
                isTaken.withLock { $0 = true }
                return value
            }
            _ = await loop.sleep(for: .seconds(1))
            buffer.hold()
            buffer.yield(1)
            _ = await loop.sleep(for: .seconds(1))
            let before = isTaken.withLock { $0 }
            buffer.release()
            return (before, await consumer.value)
        }.value
        loop.stop()
        #expect(!before && after == 1)
    }

    @Test("more kinds than the limit overflow a held lossless stream")
    func overflowWhileHeld() async {
        let buffer = buffer(.overflow(limit: 2))
        buffer.hold()
        for value in [1, 2, 11, 12] { buffer.yield(value) }
        #expect(buffer.failure == nil)
        buffer.yield(21)
        #expect(buffer.failure == .overflow(.values(2)))
    }

    @Test("more buffered and held values than the limit overflow a lossless stream on release")
    func overflowAtRelease() async {
        let buffer = buffer(.overflow(limit: 2))
        buffer.yield(1)
        buffer.hold()
        for value in [11, 21] { buffer.yield(value) }
        #expect(buffer.failure == nil)
        buffer.release()
        #expect(buffer.failure == .overflow(.values(2)))
    }

    @Test("a held stream of the newest values drops and counts the oldest kinds")
    func heldNewestPolicyDropsOldestKinds() async {
        let buffer = buffer(.newest(2))
        buffer.yield(1)
        buffer.hold()
        for value in [11, 21, 31] { buffer.yield(value) }
        #expect(buffer.dropped == 1)
        buffer.release()
        #expect(buffer.dropped == 2)
        buffer.finish()
        #expect(await rest(of: buffer) == ([21, 31], nil))
    }

    @Test("a held stream that ends delivers what it held")
    func endedHeldStreamDeliversHeldValues() async {
        let buffer = buffer(.overflow(limit: 8))
        buffer.hold()
        for value in [1, 11] { buffer.yield(value) }
        buffer.finish(.failure(.adapter(.closed)))
        #expect(await rest(of: buffer) == ([1, 11], .adapter(.closed)))
    }

    @Test("a stream whose values have no kinds cannot be held")
    func streamWithoutKindsIsNotHeld() async {
        let buffer = StreamBuffer<Int>(.overflow(limit: 8))
        buffer.hold()
        for value in [1, 2] { buffer.yield(value) }
        buffer.finish()
        #expect(await rest(of: buffer) == ([1, 2], nil))
    }
}

@Suite(.timeLimit(.minutes(10))) struct BoundedStreamTests {
    @Test(
        "the finishing step of a value runs when it is taken, before the owner is notified")
    func finishingStepRunsWhenTaken() async throws {
        let steps = Lock<[String]>([])
        let buffer = StreamBuffer<Int>(
            .overflow(limit: 8), onTake: { value in steps.withLock { $0.append("taken \(value)") } })
        let stream = BoundedStream(buffer) { value in
            steps.withLock { $0.append("finish \(value)") }
            return value * 10
        }
        for value in 1...2 { buffer.yield(value) }
        #expect(steps.withLock { $0 }.isEmpty)
        var iterator = stream.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first == 10)
        #expect(steps.withLock { $0 } == ["finish 1", "taken 10"])
    }

    @Test("a stream that is released with its iterators ends its source")
    func releasedStreamEndsSource() async throws {
        let isEnded = Lock(false)
        let buffer = StreamBuffer<Int>(.overflow(limit: 8))
        buffer.onEnd { isEnded.withLock { $0 = true } }
        var iterator: BoundedStream<Int>.Iterator? = BoundedStream(buffer).makeAsyncIterator()
        buffer.yield(1)
        let value = try await iterator?.next()
        #expect(value == 1)
        #expect(!isEnded.withLock { $0 })
        iterator = nil
        #expect(isEnded.withLock { $0 })
    }

    @Test("a cancelled consumer ends its source and receives no later value")
    func cancelledConsumerEndsSource() async throws {
        let loop = try EventLoop(clock: .virtual)
        let isEnded = Lock(false)
        let error = await Task(executorPreference: loop) {
            let buffer = StreamBuffer<Int>(.overflow(limit: 8), on: loop)
            buffer.onEnd { isEnded.withLock { $0 = true } }
            let stream = BoundedStream(buffer)
            let consumer = Task(executorPreference: loop) {
                await failure { () throws(BLEError) in for try await _ in stream {} }
            }
            _ = await loop.sleep(for: .seconds(1))
            consumer.cancel()
            buffer.yield(1)
            return await consumer.value
        }.value
        loop.stop()
        #expect(error == .cancelled)
        #expect(isEnded.withLock { $0 })
    }
}
