import BLECore
import CLinux
import Glibc
import HeapModule
import SystemPackage

/// An event loop with one thread and one epoll instance, for descriptors, deadlines and Swift tasks. As a
/// serial executor it runs actors whose state the descriptors' handlers access directly. As a task executor
/// it runs whole tasks, so that an await between such an actor and its caller needs no thread switch.
///
/// Nothing on the loop may block. The loop never polls: it sleeps in `epoll_wait` until a descriptor is
/// ready, a deadline is reached, or another thread enqueues work.
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
    // Sendable: `inbox` and `thread` are locked; `registrations`, `timers`, `actions`, `sleepers` and
    // `virtualNow` are accessed only on the loop's own thread, which every method that reaches them checks.

    /// The clock that provides a loop's time.
    public enum Clock: Sendable {
        /// CLOCK_MONOTONIC, which does not advance while the system is suspended.
        case monotonic
        /// A clock that starts at zero and jumps to the next deadline when there is no other work. It is for
        /// tests: hours pass in milliseconds, in the same order on every run. The clock does not wait for
        /// work in progress on other threads, except in `withClockHeld`, so keep all work on the loop.
        case virtual
    }

    /// The loop that adapters use by default. It starts on first use and runs until the process ends. If it cannot
    /// start, the process ends, because nothing in this library could work: a program that may run out of
    /// descriptors or threads calls ``startShared()`` first.
    public static var shared: EventLoop {
        switch started {
        case .success(let loop): loop
        case .failure(let error): fatalError("cannot start the event loop: \(error)")
        }
    }

    /// Starts the shared loop, if it has not started yet. Throws if the system has no descriptor or thread left;
    /// then later calls throw as well.
    public static func startShared() throws(Errno) { _ = try started.get() }

    private static let started = Result { () throws(Errno) in try EventLoop(name: "bluetooth") }

    private enum Work {
        case job(UnownedJob)
        case action(@Sendable () -> Void)
    }

    private struct Inbox: ~Copyable {
        var work: [Work] = []
        var sleeping = false
        var stopped = false
        /// The number of `withClockHeld` calls in progress on a virtual clock.
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
    /// What runs when a virtual clock has had nothing to do for a real time.
    private var stillness: (milliseconds: CInt, action: @Sendable () -> Void)?
    /// The objects to wake at the end of the turn.
    private var sleepers: [any Wakeable] = []

    /// The number of descriptors that have to be free before a loop starts: its own 2, those of its first ports,
    /// and those that libdispatch opens when Swift's own executor first has to wait. libdispatch ends the
    /// process if it gets none, so a loop that took the last ones would make that of a shortage.
    private static let neededDescriptors = 12

    /// Starts a loop on its own thread. Throws if the system has no thread left, or `EMFILE` if this process may
    /// not open 12 further descriptors, with which nothing could be done.
    public init(name: String = "bluetooth", clock: Clock = .monotonic) throws(Errno) {
        guard DescriptorLimit.leaves(Self.neededDescriptors) else { throw .tooManyOpenFiles }
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
        // The thread retains the loop until it ends, so nothing runs here any more.
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

    /// The loop's time. With a virtual clock, it must be read on the loop.
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

    /// Ends the loop after the work that is queued now, and waits for its thread. A loop that is not stopped
    /// keeps its thread and two descriptors until the process ends. Close the adapters on the loop first,
    /// because an await that enters the loop later never returns. Do not stop `EventLoop.shared`, which other
    /// parts of the process use. Call this once, and not on the loop itself, which traps.
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
    /// The maximum number of rounds in a turn, in which the loop runs queued work. Work that is enqueued
    /// meanwhile runs in the same turn up to this limit, which saves a system call each time. After that,
    /// timers and descriptors come first, so that work that enqueues itself cannot delay them. A task that
    /// takes all values of a full stream needs a round for every 42 of them, after which the runtime enqueues
    /// it again, so a turn reads thousands of values.
    private static let roundsPerTurn = 256

    private func run() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let isOver = runWork()
            fireTimers()
            wakeSleepers()
            if isOver { return }
            let count = Int(wait(&events))
            // The loop is awake, so work that the handlers below add need not wake it.
            inbox.withLock { $0.sleeping = false }
            for index in 0..<max(0, count) { dispatch(events[index]) }
        }
    }

    /// Runs the queued work, and the work that it enqueues, for one turn. Returns true when nothing is left
    /// and the loop has been stopped.
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

    /// Sleeps until there is something to do. Returns the number of events, which is negative after a signal.
    private func wait(_ events: inout [epoll_event]) -> CInt {
        let (mayBlock, isHeld) = inbox.withLock { inbox -> (Bool, Bool) in
            inbox.sleeping = inbox.work.isEmpty && !inbox.stopped
            return (inbox.sleeping, inbox.holds > 0)
        }
        forgetCancelledTimers()
        guard mayBlock else { return epoll_wait(epoll, &events, CInt(events.count), 0) }
        guard let deadline = timers.min?.deadline else {
            guard !isHeld, let stillness else { return epoll_wait(epoll, &events, CInt(events.count), -1) }
            let ready = epoll_wait(epoll, &events, CInt(events.count), stillness.milliseconds)
            // Another thread may have begun to work for this loop meanwhile.
            if ready == 0, Self.workElsewhere.withLock({ $0 == 0 }),
                inbox.withLock({ $0.work.isEmpty && $0.holds == 0 && !$0.stopped })
            {
                self.stillness = nil
                stillness.action()
            }
            return ready
        }
        switch clock {
        case .monotonic:
            // Rounded up, because epoll counts milliseconds and waking too early would spin.
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

    /// Runs `action` once when this loop, which has a virtual clock, has had nothing to do for `limit` of real time and
    /// no timer is set: then nothing happens any more, unless another thread causes it other than in `awaitingWork`. Call this
    /// on the loop.
    package func whenStill(for limit: Duration, _ action: @escaping @Sendable () -> Void) {
        precondition(isCurrent && clock == .virtual)
        stillness = (CInt(clamping: max(1, limit.nanoseconds / 1_000_000)), action)
    }

    /// The number of pieces of work on other threads that tasks wait for, of whichever loop.
    private static let workElsewhere = Lock(0)

    /// Runs `body`, which waits for work on other threads. No loop is still meanwhile: a busy machine can delay that work
    /// for any time.
    package nonisolated(nonsending) static func awaitingWork<Success>(
        _ body: () async -> Success
    ) async -> Success {
        workElsewhere.withLock { $0 += 1 }
        defer { workElsewhere.withLock { $0 -= 1 } }
        return await body()
    }

    /// Withdraws the action of `whenStill`. Call this on the loop.
    package func forgetStillness() { stillness = nil }

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
        // An earlier handler in this batch may have removed this descriptor.
        registrations[id]?.handler(Readiness(event.events))
    }

    private func signal() {
        var one: UInt64 = 1
        Glibc.write(wake, &one, 8)
    }
}

// MARK: - Waking

/// An object that waits for values, possibly on another thread.
package protocol Wakeable: AnyObject, Sendable {
    /// Delivers the queued values.
    func wake()
}

extension EventLoop {
    /// The number of rounds after which a turn wakes the objects that wait for values, so that a busy loop
    /// does not delay them.
    private static let roundsBeforeWaking = 16

    /// Wakes `sleeper` soon, at the latest when no work is queued any more. Waking a thread costs more than
    /// handling a packet, so this is done once for all values of a burst. Call this on the loop.
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
    /// Runs `body`, which waits for work on other threads, such as disk access. Meanwhile a virtual clock
    /// does not advance; a monotonic clock is not affected.
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
    /// Enqueues a job of the Swift runtime.
    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs `action` on the loop in its next turn. Can be called on any thread.
    package func execute(_ action: @escaping @Sendable () -> Void) { add(.action(action)) }

    private func add(_ work: sending Work) {
        let mustWake = inbox.withLock { inbox -> Bool in
            inbox.work.append(work)
            defer { inbox.sleeping = false }
            return inbox.sleeping
        }
        if mustWake { signal() }
    }

    /// Returns this loop as a serial executor for actors.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Returns this loop as a task executor for tasks.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    /// Traps if the caller is not on the loop.
    public func checkIsolated() { precondition(isCurrent, "not on the event loop") }

    /// Returns whether the caller is on the loop.
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
    /// Watches `descriptor`, which the caller continues to own, and calls `handler` on the loop. The watch is
    /// level-triggered: a handler that does not read all available data is called again. Call this on the
    /// loop.
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
    /// Waits until `duration` has passed on this loop's clock. Returns false if the task is cancelled before.
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
    /// Waits until `descriptor` is ready for `interest`, its other end has closed or it has failed; the last
    /// two are always reported. Returns nil if the task is cancelled before or the descriptor cannot be
    /// waited for, such as that of a regular file. The caller continues to own the descriptor, and only one
    /// wait for it is possible at a time.
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

/// A wait for a descriptor, which readiness or cancellation ends, whichever comes first.
private final class ReadinessWaiter: @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let loop: EventLoop
    private var registration: UInt64?
    private var continuation: CheckedContinuation<Readiness?, Never>?
    private var ended = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(
        _ descriptor: CInt, _ interest: Readiness, _ continuation: CheckedContinuation<Readiness?, Never>
    ) {
        // A task that was cancelled earlier does not start to wait.
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

/// A sleep, which the timer or cancellation ends, whichever comes first.
private final class Sleeper: @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let loop: EventLoop
    private var timer: UInt64?
    private var continuation: CheckedContinuation<Bool, Never>?
    private var cancelled = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(_ duration: Duration, _ continuation: CheckedContinuation<Bool, Never>) {
        // A task that was cancelled earlier does not start to wait.
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
