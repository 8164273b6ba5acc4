import CLinux
import Glibc
import Synchronization
import SystemPackage

/// Receives signals as events of a loop rather than as interruptions of running code. There can be only one
/// watch per process at a time.
///
/// It uses a handler that writes to a pipe instead of a signalfd. A signalfd would require every thread to
/// block the signals, and a library's thread that waits with a mask of its own (`epoll_pwait`) would receive
/// them and end the process.
package final class SignalWatch: @unchecked Sendable {
    // Sendable: after `init`, everything is accessed only on the loop, which WatchedDescriptor checks.
    private var signals: [CInt]
    /// The signals of the watch's owner.
    private let own: Set<CInt>
    private let loop: EventLoop
    private let output: WatchedDescriptor
    private let input: CInt

    /// Catches `signals` from now on. They are stored until `start`, so that none is missed.
    package init(_ signals: [CInt], on loop: EventLoop) throws(PortError) {
        var ends: [CInt] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw .system(.current, during: "pipe") }
        self.signals = signals
        own = Set(signals)
        self.loop = loop
        (output, input) = (WatchedDescriptor(ends[0], on: loop), ends[1])
        caughtSignals.store(input, ordering: .sequentiallyConsistent)
        let others = Self.others.withLock { others in
            others.watch = self
            return others.handlers.keys.sorted()
        }
        self.signals += others
        for signal in self.signals { Self.set(signal, to: catchSignal) }
    }

    /// Calls `handler` on the loop with each signal. Call this on the loop.
    package func start(_ handler: @escaping @Sendable (CInt) -> Void) throws(PortError) {
        let descriptor = output.descriptor
        try output.watch(for: .read) { [own] _ in
            var number: UInt8 = 0
            while Glibc.read(descriptor, &number, 1) == 1 {
                let signal = CInt(number)
                if let other = Self.otherHandler(of: signal) {
                    other(signal)
                } else if own.contains(signal) {
                    handler(signal)
                }
                // Another signal was caught before its handler was removed, and has no effect any more.
            }
        }
    }

    /// Catches additional signals, or restores the default action of signals. Call this on the loop.
    func watch(_ more: [CInt], isWatched: Bool) {
        guard output.isOpen else { return }
        signals.removeAll(where: more.contains)
        if isWatched { signals += more }
        for signal in more { Self.set(signal, to: isWatched ? catchSignal : SIG_DFL) }
    }

    /// Restores the default action of the signals. Call this on the loop.
    package func close() {
        guard output.isOpen else { return }
        Self.others.withLock { $0 = Others(beforeDeath: $0.beforeDeath) }
        for signal in signals { Self.set(signal, to: SIG_DFL) }
        caughtSignals.store(-1, ordering: .sequentiallyConsistent)
        output.close()
        Glibc.close(input)
    }

    /// Returns whether this process was started with `signal` ignored, as by nohup with SIGHUP.
    package static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        let handler = action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) }
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Ends the process with `signal` as if it had not been caught, so that the parent process can see that
    /// the signal was the cause.
    package static func terminate(by signal: CInt) -> Never {
        others.withLock { $0.beforeDeath }?()
        set(signal, to: SIG_DFL)
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        sigaddset(&unblocked, signal)
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
        kill(getpid(), signal)
        // A stopped or ignored signal returns; the exit status then follows the convention of shells.
        exit(128 + signal)
    }

    private static func set(_ signal: CInt, to handler: __sighandler_t?) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(signal, &action, nil)
    }
}

/// The descriptor to which the handler writes; -1 when there is no watch.
private let caughtSignals = Atomic<CInt>(-1)

/// Interrupts arbitrary code, so only an atomic load and a write are allowed. The pipe is full only when
/// thousands of signals are already waiting.
private func catchSignal(_ number: CInt) {
    let before = errno
    var octet = UInt8(truncatingIfNeeded: number)
    _ = Glibc.write(caughtSignals.load(ordering: .sequentiallyConsistent), &octet, 1)
    errno = before
}

extension SignalWatch {
    /// Returns the result of `body`. One of `signals` cancels its task and, once `body` has cleaned up after
    /// itself, ends the process as if the signal had not been caught, so that a shell or a service manager
    /// can see that the signal was the cause. A second signal ends the process at once. `onSignal` is called
    /// with the first signal before the task is cancelled, and `beforeDeath` before the process ends by a
    /// signal. Only one such call can be active in a process. If no descriptor is available for signals, they
    /// have their default action.
    package static func result<Success: Sendable, Failure: Error>(
        cancelledBy signals: [CInt], on loop: EventLoop = .shared,
        onSignal listener: @escaping @Sendable (CInt) -> Void = { _ in },
        beforeDeath: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async -> Result<Success, Failure> {
        let watch = try? SignalWatch(signals, on: loop)
        let task = Task { () -> Result<Success, Failure> in
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        let caught = Lock<CInt?>(nil)
        loop.execute {
            try? watch?.start { signal in
                // A second signal ends the process without waiting for `body`.
                if caught.withLock({ $0 != nil }) {
                    beforeDeath()
                    terminate(by: signal)
                }
                caught.withLock { $0 = signal }
                listener(signal)
                task.cancel()
            }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if let signal = caught.withLock({ $0 }) {
            beforeDeath()
            terminate(by: signal)
        }
        loop.execute { watch?.close() }
        return result
    }
}

/// Signals that a part of the program other than the watch's owner handles, such as those of a terminal
/// while something is drawn on it.
extension SignalWatch {
    struct Others {
        /// The watch of this process, or nil if there is none.
        weak var watch: SignalWatch?
        var handlers: [CInt: @Sendable (CInt) -> Void] = [:]
        /// The action before the process ends by a signal.
        var beforeDeath: (@Sendable () -> Void)?
    }
    static let others = Lock(Others())

    /// Calls `handler` with these signals, on the watch's loop, until `unwatch` or until the watch is closed.
    /// Before there is a watch, the signals have their default action.
    package static func watch(_ signals: [CInt], to handler: @escaping @Sendable (CInt) -> Void) {
        let watch = others.withLock { others in
            for signal in signals { others.handlers[signal] = handler }
            return others.watch
        }
        watch?.loop.execute { watch?.watch(signals, isWatched: true) }
    }

    /// Restores the default action of these signals.
    package static func unwatch(_ signals: [CInt]) {
        let watch = others.withLock { others in
            for signal in signals { others.handlers[signal] = nil }
            return others.watch
        }
        watch?.loop.execute { watch?.watch(signals, isWatched: false) }
    }

    /// Sets the action before the process ends by a caught signal; nil for none.
    package static func beforeDeath(_ beforeDeath: (@Sendable () -> Void)?) {
        others.withLock { $0.beforeDeath = beforeDeath }
    }

    private static func otherHandler(of signal: CInt) -> (@Sendable (CInt) -> Void)? {
        others.withLock { $0.handlers[signal] }
    }
}
