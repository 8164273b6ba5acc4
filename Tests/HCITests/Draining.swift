import BLECore

extension Machine {
    /// All events that wait.
    mutating func events() -> [Event] {
        var events: [Event] = []
        while let event = nextEvent() { events.append(event) }
        return events
    }

    /// All frames that wait.
    mutating func frames() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let frame = frame() { frames.append(frame) }
        return frames
    }

    /// The next frame, if there is one.
    mutating func frame() -> [UInt8]? {
        var hasFrame = false
        let frame = [UInt8](capacity: 1024) { hasFrame = nextFrame(into: &$0, at: .zero) }
        return hasFrame ? frame : nil
    }
}

extension Instant {
    /// That many milliseconds after the origin.
    static func ms(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }
}
