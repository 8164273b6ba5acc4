import ATT
import BLECore

extension ATTBearer {
    /// Takes the PDU that `hex` spells.
    mutating func receive(_ hex: String, at seconds: Int = 0) {
        let frame = [UInt8](hex: hex) ?? []
        receive(frame.span, at: .seconds(seconds))
    }

    /// All PDUs that wait, in hex.
    mutating func frames(at seconds: Int = 0) -> [String] {
        var frames: [String] = []
        while let frame = frame(at: seconds) { frames.append(frame.hex) }
        return frames
    }

    /// The next PDU.
    mutating func frame(at seconds: Int = 0) -> [UInt8]? {
        var isThere = false
        let frame = [UInt8](capacity: ATTMTU.maximum.octets) {
            isThere = nextFrame(into: &$0, at: .seconds(seconds))
        }
        return isThere ? frame : nil
    }

    /// All events that wait.
    mutating func events() -> [Event] {
        var events: [Event] = []
        while let event = nextEvent() { events.append(event) }
        return events
    }
}

extension Instant {
    static func seconds(_ seconds: Int) -> Instant { Instant.zero + .seconds(seconds) }
}

extension ATTTransactionID: ExpressibleByIntegerLiteral, Comparable {
    /// The n-th transaction of a bearer.
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }

    /// Orders by number.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
