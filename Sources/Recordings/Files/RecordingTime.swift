/// The time at which a packet was recorded: microseconds since 1970-01-01 00:00 UTC.
package struct RecordingTime: Hashable, Comparable, Sendable {
    /// Microseconds since the Unix epoch, negative before it.
    package var microseconds: Int64

    /// Creates a time from the number of microseconds since the Unix epoch.
    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// The btsnoop timestamp of 1970-01-01. Writers define 2000-01-01 as 0x00e03ab44a676000, so timestamps
    /// count "nominally" from 0000-01-01, but in fact from 12 days earlier.
    private static let btsnoopEpoch: Int64 = 0x00dc_ddb3_0f2f_8000

    /// Creates a time from a btsnoop timestamp. It wraps around if a damaged timestamp would overflow, so
    /// that the timestamp can be restored.
    package init(btsnoop timestamp: Int64) { microseconds = timestamp &- Self.btsnoopEpoch }

    /// The btsnoop timestamp: microseconds since the year 0.
    package var btsnoop: Int64 { microseconds &+ Self.btsnoopEpoch }

    package static func < (left: RecordingTime, right: RecordingTime) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension RecordingTime: CustomStringConvertible {
    /// The time in RFC 3339 format in UTC with milliseconds: `2026-11-21T05:24:00.123Z`.
    package var description: String {
        let (milliseconds, _) = Self.divide(microseconds, by: 1000)
        let (days, ofDay) = Self.divide(milliseconds, by: 86_400_000)
        let (year, month, day) = Self.date(days)
        let time = [(ofDay / 3_600_000, ":"), (ofDay / 60_000 % 60, ":"), (ofDay / 1000 % 60, ".")]
            .map { Self.padded($0, 2) + $1 }.joined()
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
            + "T\(time)\(Self.padded(ofDay % 1000, 3))Z"
    }

    /// Returns the date in the proleptic Gregorian calendar that is `days` after 1970-01-01. The calculation
    /// begins years in March, so that the leap day is the last day of a year and the start of each month
    /// follows from a linear formula.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, ofEra) = divide(days + 719_468, by: 146_097)
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * ofYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, ofYear - (153 * march + 2) / 5 + 1)
    }

    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ value: Int64, _ digits: Int) -> String {
        let text = String(value.magnitude)
        return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
