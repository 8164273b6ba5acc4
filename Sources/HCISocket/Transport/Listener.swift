import BLECore
import Glibc
import SystemPackage

/// A listening socket that passes each accepted descriptor to its owner, on the loop.
package final class Listener: @unchecked Sendable {
    // Sendable: accessed only on the loop, which WatchedDescriptor ensures.
    private let socket: WatchedDescriptor
    private let acceptNext: @Sendable (CInt) throws(PortError) -> (@Sendable () -> Void)?
    /// The folder in which a Unix socket was bound.
    private let folder: OpenFolder?
    private var rest: LoopTimer?

    /// The time for which nothing is accepted after the process or the system has run out of resources for a
    /// connection.
    private static let restTime = Duration.milliseconds(100)

    /// Takes ownership of `descriptor`. `acceptNext` accepts one connection and returns the action for it, or
    /// nil if there is none. `folder` is the one in which a Unix socket was bound.
    init(
        _ descriptor: CInt, in folder: OpenFolder? = nil, on loop: EventLoop,
        acceptNext: @escaping @Sendable (CInt) throws(PortError) -> (@Sendable () -> Void)?
    ) {
        socket = WatchedDescriptor(descriptor, on: loop)
        self.folder = folder
        self.acceptNext = acceptNext
    }

    /// Starts to accept connections. `failed` is called with the error that ends the listener, such as the
    /// removal of the adapter.
    package func start(failed: @escaping @Sendable (PortError) -> Void) throws(PortError) {
        rest = LoopTimer(on: socket.loop) { [weak self] in self?.socket.setInterest(.read) }
        try socket.watch(for: .read) { [weak self] readiness in self?.ready(readiness, failed) }
    }

    /// Closes the listener. Further calls have no effect.
    package func close() {
        // While the socket listens, the file belongs to it and not to a newer socket.
        if socket.isOpen { StreamSockets.removeFile(of: socket.descriptor, in: folder) }
        rest?.set(nil)
        socket.close()
    }

    private func ready(_ readiness: Readiness, _ failed: @Sendable (PortError) -> Void) {
        do throws(PortError) {
            while socket.isOpen, let accepted = try acceptNext(socket.descriptor) { accepted() }
            guard readiness.isDisjoint(with: [.error, .hangUp]) else { throw .ended }
        } catch  where error.isShortage && readiness.isDisjoint(with: [.error, .hangUp]) {
            socket.setInterest([])
            rest?.set(socket.loop.now + Self.restTime)
        } catch {
            close()
            failed(error)
        }
    }
}

extension PortError {
    /// Whether the process or the system is temporarily out of descriptors or memory.
    fileprivate var isShortage: Bool {
        switch errno {
        case .tooManyOpenFiles?, .tooManyOpenFilesInSystem?, .noBufferSpace?, .noMemory?: true
        default: false
        }
    }
}
