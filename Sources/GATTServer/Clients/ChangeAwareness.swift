/// Whether a client knows that the database changed (Core Specification 5.4, Vol 3, Part G, 2.5.2.1).
struct ChangeAwareness: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case aware
        case unaware
        /// Informed by Database Out Of Sync or by the hash it read; its next request makes it change-aware.
        case informed
    }

    private var state = State.aware

    /// Whether the client is known to be change-aware.
    var isAware: Bool { state == .aware }

    /// Records that the database changed, or had changed before the client connected.
    mutating func databaseChanged() { state = .unaware }

    /// Notes that the client confirmed Service Changed.
    mutating func confirmed() { state = .aware }

    /// Records that the client's read of the Database Hash was answered.
    mutating func readHash() { if state == .unaware { state = .informed } }

    /// Decides on a request. Returns false when the request uses a handle and the client does not know that
    /// the database changed: then it is rejected with Database Out Of Sync, once.
    mutating func admit(usesHandle: Bool, isRobust: Bool) -> Bool {
        switch state {
        case .aware: return true
        case .informed:
            state = .aware
            return true
        case .unaware:
            guard usesHandle, isRobust else { return true }
            state = .informed
            return false
        }
    }
}
