import BLECore

/// One deadline on a loop, held by the object that sets it. A new deadline replaces the old one.
package struct LoopTimer: ~Copyable {
    private let loop: EventLoop
    private let action: @Sendable () -> Void
    private var pending: (id: UInt64, deadline: Instant)?

    /// A timer that runs `action` on `loop`.
    package init(on loop: EventLoop, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets, moves or (with nil) cancels the deadline. Only on the loop.
    package mutating func set(_ deadline: Instant?) {
        if let pending {
            if pending.deadline == deadline, loop.isPending(pending.id) { return }
            loop.cancel(pending.id)
        }
        pending = deadline.map { (loop.schedule($0, action), $0) }
    }
}
