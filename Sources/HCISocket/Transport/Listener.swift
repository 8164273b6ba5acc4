import Glibc

/// A listening socket: hands each accepted descriptor to its owner, on the loop.
public final class Listener: @unchecked Sendable {
    // Sendable: touched on the loop only; WatchedDescriptor sees to it.
    private let socket: WatchedDescriptor
    private let acceptNext: @Sendable (CInt) throws(PortError) -> (@Sendable () -> Void)?

    /// Takes over `descriptor`. `acceptNext` accepts one connection and returns what to do with it, or nil
    /// when there is none.
    init(
        _ descriptor: CInt, on loop: EventLoop,
        acceptNext: @escaping @Sendable (CInt) throws(PortError) -> (@Sendable () -> Void)?
    ) {
        socket = WatchedDescriptor(descriptor, on: loop)
        self.acceptNext = acceptNext
    }

    /// Starts to accept. `failed` is told what ended it, for example the adapter's removal.
    public func start(failed: @escaping @Sendable (PortError) -> Void) throws(PortError) {
        try socket.watch(for: .read) { [weak self] readiness in self?.ready(readiness, failed) }
    }

    /// Ends it. More calls do nothing.
    public func close() {
        // While it listens, the file is its own and no newer one's.
        if socket.isOpen { StreamSockets.removeFile(of: socket.descriptor) }
        socket.close()
    }

    private func ready(_ readiness: Readiness, _ failed: @Sendable (PortError) -> Void) {
        do throws(PortError) {
            while socket.isOpen, let accepted = try acceptNext(socket.descriptor) { accepted() }
            guard readiness.isDisjoint(with: [.error, .hangUp]) else { throw .ended }
        } catch {
            close()
            failed(error)
        }
    }
}
