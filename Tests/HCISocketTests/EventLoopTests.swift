import BLECore
import HCISocket
import Testing

/// An actor whose executor is a loop, as adapters are.
private actor Port {
    nonisolated let loop: EventLoop
    private(set) var log: [String] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func note(_ text: String) { log.append(text) }

    var isOnLoop: Bool { loop.isCurrent }
}

@Suite struct EventLoopTests {
    @Test func actorsOfALoopRunOnItsThread() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        #expect(!loop.isCurrent)
        #expect(await Port(loop).isOnLoop)
    }

    @Test func workFromOtherThreadsRunsInOrderAndIsIsolated() async throws {
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

    @Test func tasksOfALoopStayOnIt() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let both = await Task(executorPreference: loop) {
            async let child = loop.isCurrent
            return (loop.isCurrent, await child)
        }.value
        #expect(both == (true, true))
    }

    @Test func virtualTimeJumpsFromDeadlineToDeadlineInOrder() async throws {
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

    @Test func cancellationEndsASleepAtOnce() async throws {
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

    @Test func aTimerHoldsOneDeadline() async throws {
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
}
