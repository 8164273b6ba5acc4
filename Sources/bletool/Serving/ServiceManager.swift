import Glibc
import HCISocket

/// Reports the state of a service to systemd, or to another program that has set $NOTIFY_SOCKET
/// (sd_notify(3), Type=notify).
struct ServiceManager: Sendable {
    private let socket: String
    /// The interval in which the watchdog requires a notification, or nil without a watchdog.
    let watchdog: Duration?

    /// Finds the service manager that has started this process. Returns nil if there is none.
    init?(environment: (String) -> String? = Environment.value, processID: CInt = getpid()) {
        guard let socket = environment("NOTIFY_SOCKET"), socket.hasPrefix("/") || socket.hasPrefix("@"),
            (2...107).contains(socket.utf8.count)
        else { return nil }
        self.socket = socket
        // A child of the service inherits the variables, but they do not apply to it.
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(processID)" } ?? true
        watchdog = environment("WATCHDOG_USEC").flatMap { isMeant ? Int64($0) : nil }
            .flatMap { $0 > 0 ? .microseconds($0) : nil }
    }

    /// Sends assignments such as `READY=1`, one per line. Returns false if they cannot be sent, which a
    /// service survives.
    @discardableResult
    func notify(_ state: String) -> Bool {
        (try? DatagramSockets.send(state.utf8, to: socket)) != nil
    }

    /// Notifies the watchdog twice in its interval, as long as the task runs. Because it runs on `loop`, a loop that is
    /// blocked sends no notification.
    func keepAlive(on loop: EventLoop) async {
        guard let watchdog else { return }
        repeat { notify("WATCHDOG=1") } while await loop.sleep(for: watchdog / 2)
    }

    /// Runs `body`, which lasts as long as the service, and sends `STOPPING=1` once: when it returns, or, before that,
    /// when the task is cancelled.
    func notifyingEnd<Result: Sendable>(of body: () async -> Result) async -> Result {
        let isStopping = Lock(false)
        let stop: @Sendable () -> Void = {
            let isFirst = isStopping.withLock { isStopping in
                defer { isStopping = true }
                return !isStopping
            }
            if isFirst { notify("STOPPING=1") }
        }
        defer { stop() }
        return await withTaskCancellationHandler(operation: body, onCancel: stop)
    }
}
