import HCISocket

/// The suspension of a manager, during which its streams are held.
final class Suspension: Sendable {
    /// Holds or releases a stream; returns false when the stream no longer exists.
    private typealias Hold = @Sendable (_ isHeld: Bool) -> Bool

    private struct State {
        var isSuspended = false
        var holds: [Hold] = []
    }

    private let state = Lock(State())

    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Adds a new stream of the manager.
    func adopt<Element>(_ buffer: StreamBuffer<Element>) {
        state.withLock { state in
            // The entries of released streams are removed whenever the number of entries is a power of two,
            // from 16 on.
            if state.holds.count >= 16, state.holds.count.nonzeroBitCount == 1 {
                let isSuspended = state.isSuspended
                state.holds.removeAll { !$0(isSuspended) }
            }
            state.holds.append { [weak buffer] isHeld in
                guard let buffer else { return false }
                if isHeld { buffer.hold() } else { buffer.release() }
                return true
            }
            // Inside the lock, because a `resume` between the two would find no buffer to release.
            if state.isSuspended { buffer.hold() }
        }
    }

    func set(_ isSuspended: Bool) {
        state.withLock { state in
            state.isSuspended = isSuspended
            state.holds.removeAll { !$0(isSuspended) }
        }
    }
}
