import BLECore
import CLinux
import Glibc
import HeapModule
import SystemPackage

/// One thread, one epoll: descriptors, deadlines and Swift tasks. As serial executor it is the home of
/// actors whose state the descriptors' handlers touch directly; as task executor it runs whole tasks, so
/// that an await between such an actor and its caller costs no thread switch.
///
/// Nothing on it may block. It never polls: it sleeps in `epoll_wait` until a descriptor is ready, a
/// deadline has come, or another thread hands it work.
///
/// ```swift
/// actor Port {
///     nonisolated let loop: EventLoop
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
///
///     init(on loop: EventLoop) { self.loop = loop }
/// }
/// let port = Port(on: try EventLoop())
/// ```
public final class EventLoop: @unchecked Sendable {
    // Sendable: `inbox` and `thread` are locked; `registrations`, `timers`, `actions`, `sleepers` and `virtualNow` are
    // touched on the loop's own thread only, which every method that reaches them checks.

    /// The clock that a loop's times are of.
    public enum Clock: Sendable {
        /// CLOCK_MONOTONIC, which stands still while the system is suspended.
        case monotonic
        /// Time that starts at zero and jumps to the next deadline when nothing else is left to do. For
        /// tests: hours pass in milliseconds, in the same order on every run. Work that is under way on
        /// other threads is not waited for, but in `withClockHeld`, so keep everything on the loop.
        case virtual
    }

    /// The loop that adapters use unless they are given another. It starts with its first use and lives
    /// as long as the process.
    public static let shared: EventLoop = {
        do {
            return try EventLoop(name: "bluetooth")
        } catch {
            // Neither an epoll descriptor nor a thread can be had: nothing of this library could work.
            fatalError("cannot start the event loop: \(error)")
        }
    }()

    private enum Work {
        case job(UnownedJob)
        case action(@Sendable () -> Void)
    }

    private struct Inbox: ~Copyable {
        var work: [Work] = []
        var sleeping = false
        var stopped = false
        /// How many hold a virtual clock.
        var holds = 0
    }

    private struct Registration {
        let descriptor: CInt
        let handler: @Sendable (Readiness) -> Void
    }

    private struct TimerEntry: Comparable {
        let deadline: Instant
        let id: UInt64

        static func < (left: TimerEntry, right: TimerEntry) -> Bool {
            (left.deadline, left.id) < (right.deadline, right.id)
        }
    }

    private let inbox = Lock(Inbox())
    private let clock: Clock
    private let wake: CInt
    private let epoll: CInt
    private let thread = Lock<pthread_t?>(nil)

    private var registrations: [UInt64: Registration] = [:]
    private var timers = Heap<TimerEntry>()
    private var actions: [UInt64: @Sendable () -> Void] = [:]
    private var nextID: UInt64 = 1
    private var virtualNow = Instant.zero
    /// What is woken at the end of the turn.
    private var sleepers: [any Wakeable] = []

    /// Starts a loop on a thread of its own. Throws when the system has no descriptor or thread left.
    public init(name: String = "bluetooth", clock: Clock = .monotonic) throws(Errno) {
        self.clock = clock
        epoll = epoll_create1(CLINUX_EPOLL_CLOEXEC)
        guard epoll >= 0 else { throw Errno.current }
        wake = eventfd(0, CLINUX_EFD_CLOEXEC | CLINUX_EFD_NONBLOCK)
        guard wake >= 0 else {
            let error = Errno.current
            Glibc.close(epoll)
            throw error
        }
        var event = epoll_event(events: CLINUX_EPOLLIN, data: epoll_data_t(u64: 0))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event)
        var started = pthread_t()
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(&started, nil, Self.main, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw Errno(rawValue: code)
        }
        pthread_setname_np(started, String(name.prefix(15)))
        thread.withLock { $0 = started }
    }

    deinit {
        // The thread holds the loop until it ends, so nothing runs here any more.
        Glibc.close(epoll)
        Glibc.close(wake)
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
        guard let box else { return nil }
        let loop = Unmanaged<EventLoop>.fromOpaque(box).takeRetainedValue()
        loop.thread.withLock { $0 = pthread_self() }
        loop.run()
        return nil
    }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool {
        thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// The loop's time. With a virtual clock, only on the loop.
    public var now: Instant {
        switch clock {
        case .virtual:
            return virtualNow
        case .monotonic:
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Instant(
                nanoseconds: UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec))
        }
    }

    /// Ends the loop after the work that is queued now, and waits for its thread. A loop that is not stopped keeps
    /// its thread and two descriptors for as long as the process runs. Close the adapters on it first: an await that
    /// enters the loop later never returns. Not for `EventLoop.shared`, which other parts of the process use. Call it once,
    /// and not on the loop itself, which traps.
    public func stop() {
        precondition(!isCurrent, "a loop cannot wait for its own end")
        guard let ended = thread.withLock({ $0 }) else { return }
        inbox.withLock { $0.stopped = true }
        signal()
        pthread_join(ended, nil)
        thread.withLock { $0 = nil }
    }
}

// MARK: - Turning

extension EventLoop {
    /// How often a turn takes what is queued. What work queues runs in the same turn up to here, which saves a system
    /// call each time; beyond, timers and descriptors come first, so that work that queues itself holds nothing back.
    /// A task that takes all values of a full stream needs a round for every 42 of them, at which the runtime has it
    /// queued anew, and a turn reads thousands.
    private static let roundsPerTurn = 256

    private func run() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let isOver = runWork()
            fireTimers()
            wakeSleepers()
            if isOver { return }
            let count = Int(wait(&events))
            // The loop sees work that the handlers below add without being woken.
            inbox.withLock { $0.sleeping = false }
            for index in 0..<max(0, count) { dispatch(events[index]) }
        }
    }

    /// Runs what is queued, and what that queues, for one turn. True when nothing is left and the loop shall end.
    private func runWork() -> Bool {
        for round in 1...Self.roundsPerTurn {
            let (work, stopped) = inbox.withLock { inbox -> ([Work], Bool) in
                inbox.sleeping = false
                defer { inbox.work.removeAll() }
                return (inbox.work, inbox.stopped)
            }
            if work.isEmpty, sleepers.isEmpty { return stopped }
            for item in work {
                switch item {
                case .job(let job):
                    job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                case .action(let action):
                    action()
                }
            }
            if work.isEmpty || round % Self.roundsBeforeWaking == 0 { wakeSleepers() }
        }
        return false
    }

    private func fireTimers() {
        while let first = timers.min, first.deadline <= now {
            timers.removeMin()
            actions.removeValue(forKey: first.id)?()
        }
    }

    /// Sleeps until something is to do; the number of events, negative after a signal.
    private func wait(_ events: inout [epoll_event]) -> CInt {
        let (mayBlock, isHeld) = inbox.withLock { inbox -> (Bool, Bool) in
            inbox.sleeping = inbox.work.isEmpty && !inbox.stopped
            return (inbox.sleeping, inbox.holds > 0)
        }
        forgetCancelledTimers()
        guard mayBlock else { return epoll_wait(epoll, &events, CInt(events.count), 0) }
        guard let deadline = timers.min?.deadline else {
            return epoll_wait(epoll, &events, CInt(events.count), -1)
        }
        switch clock {
        case .monotonic:
            // Rounded up: epoll counts milliseconds, and waking too early would spin.
            let left = now.duration(until: deadline).nanoseconds
            let milliseconds = CInt(clamping: left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1))
            return epoll_wait(epoll, &events, CInt(events.count), milliseconds)
        case .virtual where isHeld: return epoll_wait(epoll, &events, CInt(events.count), -1)
        case .virtual:
            let ready = epoll_wait(epoll, &events, CInt(events.count), 0)
            if ready == 0 { virtualNow = max(virtualNow, deadline) }
            return ready
        }
    }

    private func forgetCancelledTimers() {
        while let first = timers.min, actions[first.id] == nil { timers.removeMin() }
    }

    private func dispatch(_ event: epoll_event) {
        let id = event.data.u64
        guard id != 0 else {
            var count: UInt64 = 0
            Glibc.read(wake, &count, 8)
            return
        }
        // A handler that ran before in this batch may have taken this descriptor out.
        registrations[id]?.handler(Readiness(event.events))
    }

    private func signal() {
        var one: UInt64 = 1
        Glibc.write(wake, &one, 8)
    }
}

// MARK: - Waking

/// What waits for values and lives elsewhere, on another thread perhaps.
package protocol Wakeable: AnyObject, Sendable {
    /// Delivers what has been queued.
    func wake()
}

extension EventLoop {
    /// After so many rounds a turn wakes who waits for values: a busy loop does not keep them waiting.
    private static let roundsBeforeWaking = 16

    /// Wakes `sleeper` when nothing is queued any more, or soon. To wake a thread costs more than to handle a
    /// packet, so that is done once for all the values of a burst. Only on the loop.
    package func wakeSoon(_ sleeper: any Wakeable) {
        checkIsolated()
        sleepers.append(sleeper)
    }

    private func wakeSleepers() {
        guard !sleepers.isEmpty else { return }
        let all = sleepers
        sleepers.removeAll(keepingCapacity: true)
        for sleeper in all { sleeper.wake() }
    }
}

// MARK: - Holding the clock

extension EventLoop {
    /// Runs `body`, which waits for work on other threads, such as that of a disk: meanwhile a virtual clock stands
    /// still. A monotonic one cannot be held.
    public nonisolated(nonsending) func withClockHeld<Success, Failure: Error>(
        _ body: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        guard clock == .virtual else { return try await body() }
        inbox.withLock { $0.holds += 1 }
        defer {
            inbox.withLock { $0.holds -= 1 }
            signal()
        }
        return try await body()
    }
}

// MARK: - Work

extension EventLoop: SerialExecutor, TaskExecutor {
    /// Takes a job from the Swift runtime.
    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs `action` on the loop in its next turn, from whatever thread.
    package func execute(_ action: @escaping @Sendable () -> Void) { add(.action(action)) }

    private func add(_ work: sending Work) {
        let mustWake = inbox.withLock { inbox -> Bool in
            inbox.work.append(work)
            defer { inbox.sleeping = false }
            return inbox.sleeping
        }
        if mustWake { signal() }
    }

    /// This loop, as actors name it.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// This loop, as tasks name it.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    /// Traps when the caller is not on the loop.
    public func checkIsolated() { precondition(isCurrent, "not on the event loop") }

    /// Whether the caller is on the loop.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

// MARK: - Deadlines

extension EventLoop {
    func schedule(_ deadline: Instant, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        checkIsolated()
        let id = newID()
        timers.insert(TimerEntry(deadline: deadline, id: id))
        actions[id] = action
        return id
    }

    func cancel(_ id: UInt64) {
        checkIsolated()
        actions.removeValue(forKey: id)
    }

    func isPending(_ id: UInt64) -> Bool { actions[id] != nil }

    private func newID() -> UInt64 {
        defer { nextID &+= 1 }
        return nextID
    }
}

// MARK: - Descriptors

extension EventLoop {
    /// Watches `descriptor`, which stays the caller's; `handler` runs on the loop. Only on the loop.
    /// Level-triggered: a handler that does not take what is there is called again.
    func watch(
        _ descriptor: CInt, for interest: Readiness, _ handler: @escaping @Sendable (Readiness) -> Void
    ) throws(Errno) -> UInt64 {
        checkIsolated()
        let id = newID()
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else { throw Errno.current }
        registrations[id] = Registration(descriptor: descriptor, handler: handler)
        return id
    }

    func change(_ id: UInt64, to interest: Readiness) {
        checkIsolated()
        guard let registration = registrations[id] else { return }
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: id))
        epoll_ctl(epoll, EPOLL_CTL_MOD, registration.descriptor, &event)
    }

    func unwatch(_ id: UInt64) {
        checkIsolated()
        guard let registration = registrations.removeValue(forKey: id) else { return }
        epoll_ctl(epoll, EPOLL_CTL_DEL, registration.descriptor, nil)
    }
}

extension EventLoop {
    /// Waits until `duration` has passed by this loop's clock; false when the task was cancelled before.
    public func sleep(for duration: Duration) async -> Bool {
        let sleeper = Sleeper(self)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                execute { sleeper.start(duration, continuation) }
            }
        } onCancel: {
            execute { sleeper.end(false) }
        }
    }
}

extension EventLoop {
    /// Waits until `descriptor` is ready for what is of interest; also when its other end is gone or it has failed,
    /// which is always of interest. Nil when the task was cancelled before, and for what cannot be waited for, as
    /// regular files. The descriptor stays the caller's; there is one wait for it at a time.
    public func readiness(of descriptor: CInt, for interest: Readiness) async -> Readiness? {
        let waiter = ReadinessWaiter(self)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                execute { waiter.start(descriptor, interest, continuation) }
            }
        } onCancel: {
            execute { waiter.end(nil) }
        }
    }
}

/// One wait for a descriptor: whichever of it and cancellation comes first ends it.
private final class ReadinessWaiter: @unchecked Sendable {
    // Sendable: touched in work of the loop only.
    private let loop: EventLoop
    private var registration: UInt64?
    private var continuation: CheckedContinuation<Readiness?, Never>?
    private var ended = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(
        _ descriptor: CInt, _ interest: Readiness, _ continuation: CheckedContinuation<Readiness?, Never>
    ) {
        // A task that was cancelled before it began to wait does not wait.
        guard !ended else { return continuation.resume(returning: nil) }
        self.continuation = continuation
        registration = try? loop.watch(descriptor, for: interest) { [self] in end($0) }
        if registration == nil { end(nil) }
    }

    func end(_ readiness: Readiness?) {
        ended = true
        if let registration { loop.unwatch(registration) }
        registration = nil
        continuation.take()?.resume(returning: readiness)
    }
}

/// One sleep: whichever of timer and cancellation comes first ends it.
private final class Sleeper: @unchecked Sendable {
    // Sendable: touched in work of the loop only.
    private let loop: EventLoop
    private var timer: UInt64?
    private var continuation: CheckedContinuation<Bool, Never>?
    private var cancelled = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(_ duration: Duration, _ continuation: CheckedContinuation<Bool, Never>) {
        // A task that was cancelled before it began to wait does not wait.
        guard !cancelled else { return continuation.resume(returning: false) }
        self.continuation = continuation
        timer = loop.schedule(loop.now + duration) { [self] in end(true) }
    }

    func end(_ slept: Bool) {
        cancelled = true
        if let timer { loop.cancel(timer) }
        continuation?.resume(returning: slept)
        continuation = nil
    }
}
