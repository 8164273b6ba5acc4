import BLECore

/// What is done to a controller that has failed.
public enum RecoveryStep: Hashable, Sendable {
    /// The controller is reset, and set up as when it was opened; its links are lost. On kernel adapters only the
    /// kernel can send a reset: there only the activities of this process begin again, and no link is lost.
    case reset
    /// A kernel adapter is powered off and on again; all its links are lost, those of other programs included.
    /// Adapters that only this process uses have no such step: if a reset does not help, the adapter ends.
    /// Opening `user:hciN` again powers its controller off and on.
    case powerCycle
}

extension RecoveryStep: CustomStringConvertible {
    /// What is done, as a clause's end: "reset".
    public var description: String {
        switch self {
        case .reset: "reset"
        case .powerCycle: "power off and on"
        }
    }
}

/// In which order a controller is brought back that has failed: the gentlest step first, each only so often,
/// until it has been well for a minute.
struct RecoveryLadder: Hashable, Sendable {
    private struct Rung: Hashable {
        let step: RecoveryStep
        let attempts: Int
    }

    /// So long without a fault, and the next one is met from the bottom again.
    static let calm = Duration.seconds(60)

    private let rungs: [Rung]
    private var rung = 0
    private var attempts = 0
    private var latest: Instant?

    /// For a controller that is this host's alone: five resets.
    static let own = RecoveryLadder([Rung(step: .reset, attempts: 5)])
    /// For a controller that is the kernel's: two resets, one power cycle.
    static let kernel = RecoveryLadder([
        Rung(step: .reset, attempts: 2), Rung(step: .powerCycle, attempts: 1),
    ])

    private init(_ rungs: [Rung]) { self.rungs = rungs }

    /// What to do about a fault at `now`, be it a new one or that the last step did not help. Nil: all has
    /// been tried.
    mutating func climb(at now: Instant) -> RecoveryStep? {
        if let latest, latest + Self.calm <= now { (rung, attempts) = (0, 0) }
        latest = now
        if rung < rungs.count, attempts == rungs[rung].attempts { (rung, attempts) = (rung + 1, 0) }
        guard rung < rungs.count else { return nil }
        attempts += 1
        return rungs[rung].step
    }

    /// The step that was taken last was not done.
    mutating func stepBack() { attempts = max(attempts - 1, 0) }
}
