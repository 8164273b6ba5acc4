import BLECore

extension Machine {
    /// Returns all pending events.
    package mutating func events() -> [Event] {
        var events: [Event] = []
        while let event = nextEvent() { events.append(event) }
        return events
    }

    /// Returns all pending frames.
    package mutating func frames(at now: Instant = .zero) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let frame = frame(at: now) { frames.append(frame) }
        return frames
    }

    /// Returns the next frame, or nil if there is none.
    package mutating func frame(at now: Instant = .zero) -> [UInt8]? {
        written { nextFrame(into: &$0, at: now) }
    }
}

/// Returns the octets that `next` writes into a buffer of 1024 octets. Returns nil if `next` returns
/// false, as `nextFrame` does without a frame.
package func written(by next: (inout OutputSpan<UInt8>) -> Bool) -> [UInt8]? {
    var hasFrame = false
    let frame = [UInt8](capacity: 1024) { hasFrame = next(&$0) }
    return hasFrame ? frame : nil
}

extension Instant {
    /// Returns the time that many seconds after the origin.
    package static func seconds(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    /// Returns the time that many milliseconds after the origin.
    package static func ms(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }
}
