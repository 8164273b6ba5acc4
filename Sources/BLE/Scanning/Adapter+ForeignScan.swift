import BLECore
import HCISocket

/// What is left of our scan when others use the radio of a shared adapter.
extension Adapter {
    private static let settling = Duration.milliseconds(250)
    /// How often a minute the scan is taken back from others.
    private static let restartLimit = 30

    /// A command of somebody else's passed by on a shared adapter. When it switches scanning, what is left of
    /// ours is looked at as soon as they have done: they say off, parameters, on.
    ///
    /// While the adapter is brought back those are the kernel's own, and our scan begins anew afterwards.
    func noteForeign(_ command: Span<UInt8>) {
        guard kernel != nil, scanning.foreign.note(command), scanning.isWanted, !recovery.isUnderWay else {
            return
        }
        settleForeign(after: Self.settling)
    }

    private func settleForeign(after delay: Duration) {
        if settling == nil {
            settling = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.foreignSettled() } }
        }
        settling?.set(loop.now + delay)
    }

    private func foreignSettled() {
        guard end == nil, scanning.isWanted, !recovery.isUnderWay else { return }
        // Nobody knows which of the commands came last: that is looked at when ours are done.
        guard !scanning.isChanging else {
            scanning.looksAgain = true
            return
        }
        guard scanning.foreign.verdict == .takeOver else {
            scanning.radio = .joined
            return
        }
        let now = loop.now
        scanning.restarts.removeAll { $0 + .seconds(60) <= now }
        if scanning.restarts.count >= Self.restartLimit, let first = scanning.restarts.first {
            let wait = now.duration(until: first + .seconds(60))
            note(.scanLeft(for: wait, restarts: Self.restartLimit))
            return settleForeign(after: wait)
        }
        scanning.restarts.append(now)
        note(.scanTakenBack)
        scanning.radio = .off
        scanning.takesOver = true
        reconcileScan()
    }

    /// A change of our own has ended, in the midst of which others had done with theirs.
    func lookAgainAtForeign() {
        guard scanning.looksAgain else { return }
        scanning.looksAgain = false
        settleForeign(after: Self.settling)
    }
}
