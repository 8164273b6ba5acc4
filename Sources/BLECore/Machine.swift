/// A protocol endpoint without I/O, clock or tasks: its inputs are frames and time, and its outputs are
/// frames and events.
///
/// A driver feeds it, then drains it:
/// ```swift
/// machine.receive(frame, at: now)
/// while machine.nextFrame(into: &output, at: now) { send(output) }
/// while let event = machine.nextEvent() { handle(event) }
/// wakeUp(at: machine.deadline)
/// ```
/// The same machine runs over a kernel socket, over ACL packets, connected to another machine in a test, and
/// in a fuzzer. Keep it in a `var` stored property, not in an enum's payload, which would copy its arrays.
package protocol Machine {
    /// What the machine reports to its owner.
    associatedtype Event: Equatable & Sendable

    /// Handles one whole frame from the peer. Never throws: errors of the peer are reported as events.
    mutating func receive(_ frame: Span<UInt8>, at now: Instant)

    /// Performs the actions that are due by `now`.
    mutating func expire(at now: Instant)

    /// Writes the next frame for the peer, or returns false when there is none. The driver calls it only
    /// while the transport accepts frames, so waiting frames can still be cancelled.
    mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool

    /// Returns the next event, oldest first.
    mutating func nextEvent() -> Event?

    /// The time at which to call `expire(at:)`, unless something else happens before.
    var deadline: Instant? { get }
}
