import BLECore

/// A time that HCI counts in steps.
package protocol HCITime: HCICode, Comparable {
    /// The duration of one unit.
    static var step: Duration { get }
}

extension HCITime {
    package var duration: Duration { Self.step * rawValue }

    /// The number of steps nearest to `duration`, within what the field can hold. Which numbers make sense
    /// depends on the command.
    package init(_ duration: Duration) {
        let (whole, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: Self.step.nanoseconds)
        let rounded = rest >= Self.step.nanoseconds - rest ? whole + 1 : whole
        self.init(rawValue: RawValue(clamping: rounded))
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Steps of 0.625 ms: intervals and windows of advertising and scanning, lengths of connection events.
package struct Slots: HCITime {
    package static let step = Duration.microseconds(625)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// Steps of 0.625 ms in 24 bits: intervals of extended advertising, 20 ms to 10,485.759375 s.
package struct LongSlots: HCITime {
    package static let step = Duration.microseconds(625)
    /// The number of steps, at most 0xffffff.
    package let rawValue: UInt32

    /// That many steps, or as many as 24 bits hold.
    package init(rawValue: UInt32) { self.rawValue = min(rawValue, 0xff_ffff) }

    /// Reads three octets, the least significant first.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        rawValue = try reader.u24("")
    }

    package var fieldWidth: Int { 3 }

    /// Writes three octets, the least significant first.
    package func write(into output: inout OutputSpan<UInt8>) { output.u24(rawValue) }
}

/// Steps of 1.25 ms: the interval of a connection (0x0006 to 0x0c80, 7.5 ms to 4 s) or of periodic
/// advertising.
package struct ConnectionInterval: HCITime {
    package static let step = Duration.microseconds(1250)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// Steps of 10 ms: a supervision timeout (0x000a to 0x0c80, 100 ms to 32 s), how long to advertise or scan.
package struct Centiseconds: HCITime {
    package static let step = Duration.milliseconds(10)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// Steps of 1.28 s: the time from one start of scanning to the next.
package struct ScanPeriod: HCITime {
    package static let step = Duration.milliseconds(1280)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}
