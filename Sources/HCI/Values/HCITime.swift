import BLECore

/// A time that HCI counts in units.
package protocol HCITime: HCICode, Comparable {
    /// The duration of one unit.
    static var step: Duration { get }
}

extension HCITime {
    package var duration: Duration { Self.step * rawValue }

    /// Creates the number of steps nearest to `duration`, within the range of the field. The valid range
    /// depends on the command.
    package init(_ duration: Duration) {
        let (whole, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: Self.step.nanoseconds)
        let rounded = rest >= Self.step.nanoseconds - rest ? whole + 1 : whole
        self.init(rawValue: RawValue(clamping: rounded))
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A time in units of 0.625 ms: intervals and windows of advertising and scanning, lengths of connection
/// events.
package struct Slots: HCITime {
    package static let step = Duration.microseconds(625)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A time in units of 0.625 ms in 24 bits: intervals of extended advertising, 20 ms to 10,485.759375 s.
package struct LongSlots: HCITime {
    package static let step = Duration.microseconds(625)
    /// The number of steps, at most 0xffffff.
    package let rawValue: UInt32

    /// Creates that many steps, at most as many as fit into 24 bits.
    package init(rawValue: UInt32) { self.rawValue = min(rawValue, 0xff_ffff) }

    /// Reads three octets, the least significant first.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        rawValue = try reader.u24("")
    }

    package var fieldWidth: Int { 3 }

    /// Writes three octets, the least significant first.
    package func write(into output: inout OutputSpan<UInt8>) { output.u24(rawValue) }
}

/// A time in units of 1.25 ms: the interval of a connection (0x0006 to 0x0c80, 7.5 ms to 4 s) or of periodic
/// advertising.
package struct ConnectionInterval: HCITime {
    package static let step = Duration.microseconds(1250)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A time in units of 10 ms: a supervision timeout (0x000a to 0x0c80, 100 ms to 32 s), or the duration of
/// advertising or scanning.
package struct Centiseconds: HCITime {
    package static let step = Duration.milliseconds(10)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A time in units of 1.28 s: the time from the start of one scan to the start of the next.
package struct ScanPeriod: HCITime {
    package static let step = Duration.milliseconds(1280)
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }
}
