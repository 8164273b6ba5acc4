import BLECore
import HCISocket

/// The kernel's attempts to connect to devices that requests wait for.
struct KernelAttempts {
    private var attempts: [(peer: DeviceAddress, attempt: any KernelAttempt, asked: Instant)] = []

    /// Returns whether the kernel tries to connect to a device.
    func contains(_ peer: DeviceAddress) -> Bool { attempts.contains { $0.peer == peer } }

    /// Records that the kernel was asked at `now` to connect to a device.
    mutating func began(_ attempt: any KernelAttempt, for peer: DeviceAddress, at now: Instant) {
        attempts.append((peer, attempt, now))
    }

    /// Records that the attempt for a device has ended. Returns the time at which the kernel was asked; nil if it was
    /// cancelled.
    mutating func ended(for peer: DeviceAddress) -> Instant? {
        attempts.firstIndex { $0.peer == peer }.map { attempts.remove(at: $0).asked }
    }

    /// Cancels the attempt for a device. Returns false when there is none.
    mutating func cancel(_ peer: DeviceAddress) -> Bool {
        guard let index = attempts.firstIndex(where: { $0.peer == peer }) else { return false }
        attempts.remove(at: index).attempt.cancel()
        return true
    }

    /// Cancels all attempts, in the order in which they began.
    mutating func cancelAll() {
        for each in attempts { each.attempt.cancel() }
        attempts = []
    }
}
