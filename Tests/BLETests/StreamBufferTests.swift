import BLECore
import HCISocket
import Testing

@testable import BLE

/// What a consumer has of a buffer whose values come in bursts, and in what order.
@Suite(.timeLimit(.minutes(10))) struct StreamBufferTests {
    /// What becomes of a buffer within one turn of the loop, while its consumer waits.
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
        // One on the loop waits after that; another one may.
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
    func burst(_ burst: Burst, consumerOnLoop: Bool) async throws {
        let all: [Taken] = [.value(1), .value(2), .value(3)]
        let taken = try await play(burst, consumerOnLoop: consumerOnLoop)
        switch burst {
        case .values, .valuesAndEnd: #expect(taken == all + [.end])
        case .valuesAndFailure: #expect(taken == all + [.failure(.adapter(.closed))])
        case .onlyEnd: #expect(taken == [.end])
        case .onlyCancellation: #expect(taken == [.failure(.cancelled)])
        // One that does not wait yet may take more, or none.
        case .valuesAndCancellation:
            #expect(taken.last == .failure(.cancelled))
            #expect(all.starts(with: taken.dropLast()))
            #expect(!consumerOnLoop || taken.count == 2)
        }
    }

    @Test func oneThatWaitsIsWokenOnceForAllValuesOfATurn() async throws {
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

    @Test func valuesThatFindNoRoomWhileOneIsHandedOver() async throws {
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
}
