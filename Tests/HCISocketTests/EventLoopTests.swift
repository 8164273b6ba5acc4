import BLECore
import Glibc
import Testing

@testable import HCISocket

/// An actor whose executor is a loop, like an adapter.
private actor Port {
    nonisolated let loop: EventLoop
    private(set) var log: [String] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func note(_ text: String) { log.append(text) }

    var isOnLoop: Bool { loop.isCurrent }
}

@Suite(.timeLimit(.minutes(10))) struct EventLoopTests {
    @Test func actorsRunOnTheirLoopsThread() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        #expect(!loop.isCurrent)
        #expect(await Port(loop).isOnLoop)
    }

    @Test func workFromOtherThreadsRunsInOrderAndIsolated() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let port = Port(loop)
        await withCheckedContinuation { done in
            for number in 0..<100 {
                loop.execute { port.assumeIsolated { $0.note("\(number)") } }
            }
            loop.execute { done.resume() }
        }
        #expect(await port.log == (0..<100).map(String.init))
    }

    @Test func tasksStayOnTheirLoop() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let both = await Task(executorPreference: loop) {
            async let child = loop.isCurrent
            return (loop.isCurrent, await child)
        }.value
        #expect(both == (true, true))
    }

    @Test func virtualClockAdvancesFromDeadlineToDeadline() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let port = Port(loop)
        await Task(executorPreference: loop) {
            await withTaskGroup(of: Void.self) { group in
                for hours in [3, 1, 2] {
                    group.addTask {
                        #expect(await loop.sleep(for: .seconds(hours * 3600)))
                        await port.note("\(hours) h at \(loop.now.nanoseconds / 1_000_000_000) s")
                    }
                }
            }
        }.value
        #expect(await port.log == ["1 h at 3600 s", "2 h at 7200 s", "3 h at 10800 s"])
    }

    @Test func cancellationEndsSleepImmediately() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let (slept, passed) = await Task(executorPreference: loop) {
            let sleeper = Task(executorPreference: loop) { await loop.sleep(for: .seconds(1_000_000)) }
            sleeper.cancel()
            return (await sleeper.value, loop.now)
        }.value
        #expect(!slept)
        #expect(passed == .zero)
    }

    @Test func timerFiresAtLastSetDeadline() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        actor Alarm {
            nonisolated let loop: EventLoop
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
            var rung: [UInt64] = []
            var timer: LoopTimer?

            init(_ loop: EventLoop) { self.loop = loop }

            func run() {
                timer = LoopTimer(on: loop) { [weak self] in
                    self?.assumeIsolated { $0.rung.append($0.loop.now.nanoseconds) }
                }
                timer?.set(Instant(nanoseconds: 10))
                timer?.set(Instant(nanoseconds: 30))
                timer?.set(Instant(nanoseconds: 20))
            }
        }
        let alarm = Alarm(loop)
        await alarm.run()
        _ = await Task(executorPreference: loop) { await loop.sleep(for: .seconds(1)) }.value
        #expect(await alarm.rung == [20])
    }

    /// Work that queues itself repeatedly, and the number of its runs before a timer and a descriptor were
    /// served.
    private actor Endless {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var rounds = 0
        private(set) var roundsBeforeTimer: Int?
        private(set) var roundsBeforeDescriptor: Int?
        private var timer: LoopTimer?
        private var done: CheckedContinuation<Void, Never>?

        init(_ loop: EventLoop) { self.loop = loop }

        func run(for limit: Int, watching descriptor: CInt) async throws {
            timer = LoopTimer(on: loop) { [self] in assumeIsolated { $0.roundsBeforeTimer = $0.rounds } }
            timer?.set(loop.now)
            _ = try loop.watch(descriptor, for: .write) { [self] _ in
                assumeIsolated { $0.roundsBeforeDescriptor = $0.roundsBeforeDescriptor ?? $0.rounds }
            }
            await withCheckedContinuation {
                done = $0
                again(limit)
            }
        }

        private func again(_ limit: Int) {
            rounds += 1
            guard rounds < limit else {
                done?.resume()
                return
            }
            loop.execute { [self] in assumeIsolated { $0.again(limit) } }
        }
    }

    @Test func requeuedWorkDoesNotStarveTimersOrDescriptors() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let endless = Endless(loop)
        let limit = 10_000
        try await endless.run(for: limit, watching: ends[1])
        #expect(try #require(await endless.roundsBeforeTimer) < limit)
        #expect(try #require(await endless.roundsBeforeDescriptor) < limit)
    }

    /// A sleeper that performs an action when the loop wakes it.
    private final class Sleeper: Wakeable {
        private let action: @Sendable () -> Void
        init(_ action: @escaping @Sendable () -> Void) { self.action = action }
        func wake() { action() }
    }

    /// The steps on a loop, in order. Accessed only on the loop.
    private final class Order: @unchecked Sendable {
        var steps: [String] = []
    }

    @Test func sleepersWakeAfterQueuedWork() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let order = Order()
        await withCheckedContinuation { done in
            let sleeper = Sleeper {
                order.steps.append("woken")
                done.resume()
            }
            loop.execute {
                loop.wakeSoon(sleeper)
                loop.execute {
                    order.steps.append("first")
                    loop.execute { order.steps.append("what that queued") }
                }
            }
        }
        #expect(order.steps == ["first", "what that queued", "woken"])
    }

    @Test func requeuedWorkDoesNotStarveSleepers() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let rounds = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
            let isWoken = Lock(false)
            @Sendable func again(_ rounds: Int) {
                guard !isWoken.withLock({ $0 }), rounds < 10_000 else {
                    return done.resume(returning: rounds)
                }
                loop.execute { again(rounds + 1) }
            }
            loop.execute {
                loop.wakeSoon(Sleeper { isWoken.withLock { $0 = true } })
                again(0)
            }
        }
        #expect(rounds < 100)
    }

    @Test(
        "a sleeper scheduled by a timer or descriptor handler is woken before the loop blocks",
        arguments: [true, false])
    func handlersWakeSleepersBeforeLoopBlocks(byTimer: Bool) async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let descriptor = ends[1]
        await withCheckedContinuation { done in
            loop.execute {
                let sleeper = Sleeper { done.resume() }
                if byTimer {
                    _ = loop.schedule(loop.now) { loop.wakeSoon(sleeper) }
                } else {
                    let watch = Lock<UInt64>(0)
                    let id = try? loop.watch(descriptor, for: .write) { _ in
                        loop.unwatch(watch.withLock { $0 })
                        loop.wakeSoon(sleeper)
                    }
                    watch.withLock { $0 = id ?? 0 }
                }
            }
        }
    }
}
