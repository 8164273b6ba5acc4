import Glibc
import SystemPackage

/// A connection attempt. It ends with a descriptor, with an error, or by `cancel()`.
package final class PendingConnection: @unchecked Sendable {
    // Sendable: accessed only on the loop, which WatchedDescriptor ensures.
    private let socket: WatchedDescriptor
    private var done: (@Sendable (Result<CInt, PortError>) -> Void)?

    init(_ descriptor: CInt, on loop: EventLoop) { socket = WatchedDescriptor(descriptor, on: loop) }

    /// Waits until the attempt has ended, and calls `done` on the loop with the result. The caller then owns
    /// the descriptor: it is a duplicate, because this object closes its own.
    func start(_ done: @escaping @Sendable (Result<CInt, PortError>) -> Void) throws(PortError) {
        self.done = done
        // The loop retains the attempt until it has ended, so the caller does not need to.
        try socket.watch(for: .write) { [self] _ in ready() }
    }

    /// Cancels the attempt; `done` is not called any more.
    package func cancel() {
        done = nil
        socket.close()
    }

    private func ready() {
        let result = Result<CInt, PortError> { () throws(PortError) in
            if let error = try Sockets.pendingError(socket.descriptor) {
                throw .system(error, during: "connect")
            }
            let copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw .system(.current, during: "dup") }
            return copy
        }
        let done = done
        cancel()
        done?(result)
    }
}
