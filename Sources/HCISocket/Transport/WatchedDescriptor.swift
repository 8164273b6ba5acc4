import Glibc
import SystemPackage

/// A non-blocking descriptor on a loop, which is closed once: by `close()` or when its owner is deallocated.
final class WatchedDescriptor: @unchecked Sendable {
    // Sendable: `registration`, `interest` and `isOpen` are accessed only on the loop (which the loop
    // checks), and in deinit, when no other reference exists.
    let descriptor: CInt
    let loop: EventLoop
    private var registration: UInt64?
    private var interest: Readiness = []
    private(set) var isOpen = true

    init(_ descriptor: CInt, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit {
        guard isOpen else { return }
        // The descriptor must be closed only after `unwatch`, which must run on the loop.
        let (descriptor, loop, registration) = (descriptor, loop, registration)
        loop.execute {
            if let registration { loop.unwatch(registration) }
            Glibc.close(descriptor)
        }
    }

    func watch(for interest: Readiness, _ handler: @escaping @Sendable (Readiness) -> Void) throws(PortError)
    {
        do throws(Errno) {
            registration = try loop.watch(descriptor, for: interest, handler)
            self.interest = interest
        } catch {
            throw .system(error, during: "epoll_ctl")
        }
    }

    func setInterest(_ interest: Readiness) {
        guard let registration, interest != self.interest else { return }
        loop.change(registration, to: interest)
        self.interest = interest
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        if let registration { loop.unwatch(registration) }
        registration = nil
        Glibc.close(descriptor)
    }
}
