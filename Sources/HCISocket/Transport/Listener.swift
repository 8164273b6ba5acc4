import BLECore
import Glibc
import SystemPackage

/// A listening socket: hands each accepted descriptor to its owner, on the loop.
package final class Listener: @unchecked Sendable {
    // Sendable: touched on the loop only; WatchedDescriptor sees to it.
    private let socket: WatchedDescriptor
    private let acceptNext: @Sendable (CInt) throws(PortError) -> (@Sendable () -> Void)?
    private var rest: LoopTimer?

    /// How long nothing is accepted after the process or the system has run out of what a connection needs.
    private static let restTime = Duration.milliseconds(100)

    /// Takes over `descriptor`. `acceptNext` accepts one connection and returns what to do with it, or nil
    /// when there is none.
    init(
        _ descriptor: CInt, on loop: EventLoop,
        acceptNext: @escaping @Sendable (CInt) throws(PortError) -> (@Sendable () -> Void)?
    ) {
        socket = WatchedDescriptor(descriptor, on: loop)
        self.acceptNext = acceptNext
    }

    /// Starts to accept. `failed` is called with the error that ends it, for example the adapter's removal.
    package func start(failed: @escaping @Sendable (PortError) -> Void) throws(PortError) {
        rest = LoopTimer(on: socket.loop) { [weak self] in self?.socket.want(.read) }
        try socket.watch(for: .read) { [weak self] readiness in self?.ready(readiness, failed) }
    }

    /// Ends it. More calls do nothing.
    package func close() {
        // While it listens, the file is its own and no newer one's.
        if socket.isOpen { StreamSockets.removeFile(of: socket.descriptor) }
        rest?.set(nil)
        socket.close()
    }

    private func ready(_ readiness: Readiness, _ failed: @Sendable (PortError) -> Void) {
        do throws(PortError) {
            while socket.isOpen, let accepted = try acceptNext(socket.descriptor) { accepted() }
            guard readiness.isDisjoint(with: [.error, .hangUp]) else { throw .ended }
        } catch  where error.isShortage && readiness.isDisjoint(with: [.error, .hangUp]) {
            socket.want([])
            rest?.set(socket.loop.now + Self.restTime)
        } catch {
            close()
            failed(error)
        }
    }
}

extension PortError {
    /// Whether the process or the system has no descriptors or no memory left, as may change.
    fileprivate var isShortage: Bool {
        switch errno {
        case .tooManyOpenFiles?, .tooManyOpenFilesInSystem?, .noBufferSpace?, .noMemory?: true
        default: false
        }
    }
}
