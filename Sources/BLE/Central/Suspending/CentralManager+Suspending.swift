extension CentralManager {
    /// Holds back what this manager, and its copies, report: scans, connection events, states. The radio goes on, and
    /// so do links and the values that they bring, which have buffers of their own. For a gateway that has something
    /// more urgent to do than to process every packet.
    ///
    /// Meanwhile what comes is merged: of each advertising set the last packet is kept, of each device the last
    /// connection event, and the last state, in the order in which they came. When there is more than a stream's buffer
    /// holds, its policy counts, as ever: of advertisements the oldest go, and `dropped` counts them.
    ///
    /// What was reported before can still be taken.
    public func suspend() { suspension.set(true) }

    /// Hands over what came meanwhile, and goes on. Does nothing when it is not suspended.
    public func resume() { suspension.set(false) }

    /// Whether the manager holds its events back.
    public var isSuspended: Bool { suspension.isSuspended }
}
