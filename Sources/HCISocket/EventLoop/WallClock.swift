import BLECore
import CLinux
import Glibc

/// The time of day, for display and for recordings. Deadlines use the loop's clock.
package enum WallClock {
    /// The time of CLOCK_REALTIME in microseconds since 1970-01-01T00:00:00Z.
    package static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

extension Timestamp {
    /// The current time of the system's clock.
    public static var now: Timestamp { Timestamp(milliseconds: WallClock.microseconds / 1000) }
}
