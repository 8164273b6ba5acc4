import HCISocket

/// Whether the streams of a manager are held.
final class Suspension: Sendable {
    /// Holds a stream, or lets it go on; false when the stream is gone.
    private typealias Hold = @Sendable (_ isHeld: Bool) -> Bool

    private struct State {
        var isSuspended = false
        var holds: [Hold] = []
    }

    private let state = Lock(State())

    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// A stream of the manager's, from its beginning.
    func adopt<Element>(_ buffer: StreamBuffer<Element>) {
        state.withLock { state in
            // Of streams that are gone, what was kept of them goes when there are twice as many as before.
            if state.holds.count >= 16, state.holds.count.nonzeroBitCount == 1 {
                let isSuspended = state.isSuspended
                state.holds.removeAll { !$0(isSuspended) }
            }
            state.holds.append { [weak buffer] isHeld in
                guard let buffer else { return false }
                if isHeld { buffer.hold() } else { buffer.release() }
                return true
            }
            // Inside the lock: a `resume` between the two would find no buffer to release.
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
