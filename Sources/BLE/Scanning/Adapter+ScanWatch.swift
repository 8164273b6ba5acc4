import BLECore
import HCISocket

extension Adapter {
    /// Watches for silence as long as somebody scans.
    func watchScan() {
        scanning.watchdog.watch(scanning.isWanted, at: loop.now)
        if silence == nil {
            silence = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.silenceEnded() } }
        }
        silence?.set(scanning.watchdog.deadline)
    }

    /// The timer is set once for all that is heard meanwhile: reports come by the thousand.
    private func silenceEnded() {
        if end == nil, let duration = scanning.watchdog.expire(at: loop.now), !recovery.isUnderWay {
            beginScanAnew(after: duration)
        }
        silence?.set(end == nil ? scanning.watchdog.deadline : nil)
    }

    private func beginScanAnew(after silence: Duration) {
        note(.scanRestarted(silence: silence))
        // A scan of somebody else's is theirs to end: ours begins only if it has ended already.
        if scanning.radio != .joined { scanning.takesOver = true }
        scanning.radio = .off
        reconcileScan()
    }
}
