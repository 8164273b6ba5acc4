/// A protocol endpoint without I/O, clock or task: frames and time go in, frames and events come out.
///
/// A driver feeds it, then drains it:
/// ```swift
/// machine.receive(frame, at: now)
/// while machine.nextFrame(into: &output, at: now) { send(output) }
/// while let event = machine.nextEvent() { handle(event) }
/// wakeUp(at: machine.deadline)
/// ```
/// The same machine runs over a kernel socket, over ACL packets, joined to another one in a test, and in
/// a fuzzer. Keep it in a `var` stored property, not in an enum's payload, which would copy its arrays.
package protocol Machine {
    /// What the machine reports to its owner.
    associatedtype Event: Equatable & Sendable

    /// Takes one whole frame from the peer. Never throws: what a bad peer does is an event.
    mutating func receive(_ frame: Span<UInt8>, at now: Instant)

    /// Acts on what was due by `now`.
    mutating func expire(at now: Instant)

    /// Writes the next frame for the peer, or returns false when there is none. Called only while the
    /// transport takes frames, so what waits here can still be cancelled.
    mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool

    /// Returns the next event, oldest first.
    mutating func nextEvent() -> Event?

    /// When `expire(at:)` is to be called, if nothing else happens before.
    var deadline: Instant? { get }
}
