import CLinux
import Glibc
import Synchronization
import SystemPackage

/// Signals as events of a loop instead of interrupts of whatever runs. One watch a process at a time.
///
/// A handler that writes to a pipe, not a signalfd: that would need every thread to block the signals, and
/// a library's thread that waits with a mask of its own (`epoll_pwait`) would take them and end the process.
package final class SignalWatch: @unchecked Sendable {
    // Sendable: after `init` all is touched on the loop only, which WatchedDescriptor checks.
    private var signals: [CInt]
    let loop: EventLoop
    private let output: WatchedDescriptor
    private let input: CInt

    /// Catches `signals` from now on. They are kept until `start`, so that none is missed.
    package init(_ signals: [CInt], on loop: EventLoop) throws(PortError) {
        var ends: [CInt] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw .system(.current, during: "pipe") }
        self.signals = signals
        self.loop = loop
        (output, input) = (WatchedDescriptor(ends[0], on: loop), ends[1])
        caughtSignals.store(input, ordering: .sequentiallyConsistent)
        for signal in signals { Self.set(signal, to: catchSignal) }
        Self.others.withLock { $0.watch = self }
    }

    /// Calls `handler` on the loop with each signal. Call this on the loop.
    package func start(_ handler: @escaping @Sendable (CInt) -> Void) throws(PortError) {
        let descriptor = output.descriptor
        try output.watch(for: .read) { _ in
            var number: UInt8 = 0
            while Glibc.read(descriptor, &number, 1) == 1 {
                (Self.otherHandler(of: CInt(number)) ?? handler)(CInt(number))
            }
        }
    }

    /// Catches more signals, or some no longer, which then do again what they do by default. Call it on the loop.
    func watch(_ more: [CInt], isWatched: Bool) {
        guard output.isOpen else { return }
        signals.removeAll(where: more.contains)
        if isWatched { signals += more }
        for signal in more { Self.set(signal, to: isWatched ? catchSignal : SIG_DFL) }
    }

    /// Lets the signals do again what they do by default. Call it on the loop.
    package func close() {
        guard output.isOpen else { return }
        Self.others.withLock { $0 = Others(farewell: $0.farewell) }
        for signal in signals { Self.set(signal, to: SIG_DFL) }
        caughtSignals.store(-1, ordering: .sequentiallyConsistent)
        output.close()
        Glibc.close(input)
    }

    /// Whether this process was started with `signal` ignored, as nohup does with SIGHUP.
    package static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        let handler = action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) }
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Ends the process by `signal` as if it had not been caught, so that the parent process sees why.
    package static func die(by signal: CInt) -> Never {
        others.withLock { $0.farewell }?()
        set(signal, to: SIG_DFL)
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        sigaddset(&unblocked, signal)
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
        kill(getpid(), signal)
        // A stopped or ignored signal returns: the shell's convention then says the same.
        exit(128 + signal)
    }

    private static func set(_ signal: CInt, to handler: __sighandler_t?) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(signal, &action, nil)
    }
}

/// Where the handler writes; -1 when there is no watch.
private let caughtSignals = Atomic<CInt>(-1)

/// Runs in the middle of anything: an atomic load and a write are all that it may do. The pipe is full only
/// when thousands of signals wait already.
private func catchSignal(_ number: CInt) {
    let before = errno
    var octet = UInt8(truncatingIfNeeded: number)
    _ = Glibc.write(caughtSignals.load(ordering: .sequentiallyConsistent), &octet, 1)
    errno = before
}
