import BLECore

/// A deadline on a loop, owned by the object that sets it. A new deadline replaces the previous one.
package struct LoopTimer: ~Copyable {
    private let loop: EventLoop
    private let action: @Sendable () -> Void
    private var pending: (id: UInt64, deadline: Instant)?

    /// Creates a timer that runs `action` on `loop`.
    package init(on loop: EventLoop, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets, moves or (with nil) cancels the deadline. Call this on the loop.
    package mutating func set(_ deadline: Instant?) {
        if let pending {
            if pending.deadline == deadline, loop.isPending(pending.id) { return }
            loop.cancel(pending.id)
        }
        pending = deadline.map { (loop.schedule($0, action), $0) }
    }
}
