import BLECore

extension Machine {
    /// All events that wait.
    package mutating func events() -> [Event] {
        var events: [Event] = []
        while let event = nextEvent() { events.append(event) }
        return events
    }

    /// All frames that wait.
    package mutating func frames(at now: Instant = .zero) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let frame = frame(at: now) { frames.append(frame) }
        return frames
    }

    /// The next frame, if there is one.
    package mutating func frame(at now: Instant = .zero) -> [UInt8]? {
        written { nextFrame(into: &$0, at: now) }
    }
}

/// What `next` writes, which has room for 1024 octets; nil when it returns false, as `nextFrame` does without a frame.
package func written(by next: (inout OutputSpan<UInt8>) -> Bool) -> [UInt8]? {
    var hasFrame = false
    let frame = [UInt8](capacity: 1024) { hasFrame = next(&$0) }
    return hasFrame ? frame : nil
}

extension Instant {
    /// That many seconds after the origin.
    package static func seconds(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    /// That many milliseconds after the origin.
    package static func ms(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }
}
