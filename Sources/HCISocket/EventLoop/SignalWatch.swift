import CLinux
import Glibc

/// Signals as events of a loop instead of interrupts of whatever runs.
///
/// Block them first, before the process has a second thread: a thread that does not block a signal takes
/// it from the descriptor.
public final class SignalWatch: @unchecked Sendable {
    // Sendable: touched on the loop only; WatchedDescriptor sees to it.
    private let socket: WatchedDescriptor

    /// Blocks `signals` in this thread and those that it starts. Call it first thing.
    public static func block(_ signals: [CInt]) {
        var set = set(of: signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Watches `signals`, which are blocked; `handler` is told each on the loop.
    public static func start(
        _ signals: [CInt], on loop: EventLoop, handler: @escaping @Sendable (CInt) -> Void
    ) throws(PortError) -> SignalWatch {
        var set = set(of: signals)
        let descriptor = signalfd(-1, &set, CLINUX_SFD_CLOEXEC | CLINUX_SFD_NONBLOCK)
        guard descriptor >= 0 else { throw .system(.current, during: "signalfd") }
        let watch = SignalWatch(descriptor, on: loop)
        try watch.socket.watch(for: .read) { _ in
            var information = signalfd_siginfo()
            let size = MemoryLayout<signalfd_siginfo>.size
            while Glibc.read(descriptor, &information, size) == size {
                handler(CInt(bitPattern: information.ssi_signo))
            }
        }
        return watch
    }

    /// Ends the process by `signal` as if nobody had caught it, so that its parent sees why.
    public static func die(by signal: CInt) -> Never {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = SIG_DFL
        sigaction(signal, &action, nil)
        var set = set(of: [signal])
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        kill(getpid(), signal)
        // A stopped or ignored signal returns: the shell's convention then says the same.
        exit(128 + signal)
    }

    /// Stops to watch.
    public func close() { socket.close() }

    private init(_ descriptor: CInt, on loop: EventLoop) { socket = WatchedDescriptor(descriptor, on: loop) }

    private static func set(of signals: [CInt]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
