import BLECore

/// A step to recover a controller that has failed.
public enum RecoveryStep: Hashable, Sendable {
    /// The controller is reset, and set up as when it was opened; its links are lost. On kernel adapters only
    /// the kernel can send a reset: there only the activities of this process are restarted, and no link is
    /// lost.
    case reset
    /// A kernel adapter is powered off and on again; all its links are lost, those of other programs included.
    /// Adapters that only this process uses have no such step: if a reset does not help, the adapter ends.
    /// Opening `user:hciN` again powers its controller off and on.
    case powerCycle
}

extension RecoveryStep: CustomStringConvertible {
    /// The step as the end of a clause: "reset".
    public var description: String {
        switch self {
        case .reset: "reset"
        case .powerCycle: "power off and on"
        }
    }
}

/// The order of the steps to recover a controller that has failed: the least disruptive step first, each for a
/// limited number of times, until the controller has worked for a minute.
struct RecoveryLadder: Hashable, Sendable {
    private struct Entry: Hashable {
        let step: RecoveryStep
        let attempts: Int
    }

    /// The time without a fault after which the next fault starts with the first step again.
    static let calm = Duration.seconds(60)

    private let entries: [Entry]
    private var entry = 0
    private var attempts = 0
    private var latest: Instant?

    /// The steps for a controller that only this host uses: five resets.
    static let own = RecoveryLadder([Entry(step: .reset, attempts: 5)])
    /// The steps for a kernel's controller: two resets, one power cycle.
    static let kernel = RecoveryLadder([
        Entry(step: .reset, attempts: 2), Entry(step: .powerCycle, attempts: 1),
    ])

    private init(_ entries: [Entry]) { self.entries = entries }

    /// Returns the step for a fault at `now`, whether it is a new fault or the last step did not help; nil
    /// when all steps were tried.
    mutating func nextStep(at now: Instant) -> RecoveryStep? {
        if let latest, latest + Self.calm <= now { (entry, attempts) = (0, 0) }
        latest = now
        if entry < entries.count, attempts == entries[entry].attempts { (entry, attempts) = (entry + 1, 0) }
        guard entry < entries.count else { return nil }
        attempts += 1
        return entries[entry].step
    }

    /// Takes back the last step, which was not made.
    mutating func stepBack() { attempts = max(attempts - 1, 0) }
}
