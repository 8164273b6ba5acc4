import Glibc
import SystemPackage

/// A connection attempt. It ends with a descriptor or an error, or by `cancel()`.
package final class PendingConnection: @unchecked Sendable {
    // Sendable: touched on the loop only; WatchedDescriptor sees to it.
    private let socket: WatchedDescriptor
    private var done: (@Sendable (Result<CInt, PortError>) -> Void)?

    init(_ descriptor: CInt, on loop: EventLoop) { socket = WatchedDescriptor(descriptor, on: loop) }

    /// Waits for the end, and calls `done` on the loop with the result. The descriptor is then the
    /// caller's: a duplicate, since this object closes its own.
    func start(_ done: @escaping @Sendable (Result<CInt, PortError>) -> Void) throws(PortError) {
        self.done = done
        // The loop holds the attempt until it has ended: the caller need not hold it.
        try socket.watch(for: .write) { [self] _ in ready() }
    }

    /// Gives up; `done` is not called any more.
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
