/// A point in time as a machine sees it: nanoseconds since an origin that only its driver knows, such as that
/// of the monotonic clock or the start of a simulation. Arithmetic saturates, so no deadline can trap.
public struct Instant: Hashable, Comparable, Sendable {
    /// The nanoseconds since the clock's origin.
    public var nanoseconds: UInt64

    /// Creates the instant `nanoseconds` after the origin of its clock.
    @inlinable
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The origin of the clock.
    public static let zero = Instant(nanoseconds: 0)

    /// Returns this instant moved by `duration`, which can be negative.
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        let step = duration.nanoseconds
        if step >= 0 {
            let (sum, overflow) = nanoseconds.addingReportingOverflow(step.magnitude)
            return Instant(nanoseconds: overflow ? .max : sum)
        }
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(step.magnitude)
        return Instant(nanoseconds: overflow ? 0 : difference)
    }

    /// Returns the time from this instant to `later`, or zero if `later` is in the past.
    @inlinable
    public func duration(until later: Instant) -> Duration {
        later.nanoseconds > nanoseconds
            ? .nanoseconds(Int64(clamping: later.nanoseconds &- nanoseconds)) : .zero
    }

    /// Orders the earlier instant first.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns `instant` moved by `duration`.
    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }
}

extension Duration {
    /// The whole nanoseconds of this duration, clamped to 64 bits (292 years).
    @inlinable
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}

/// Returns the earlier of two deadlines, where nil means never.
@inlinable
package func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left else { return right }
    guard let right else { return left }
    return min(left, right)
}
