import HCISocket

/// A moment of the calendar, to the millisecond.
struct Timestamp: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z; negative before.
    var milliseconds: Int64

    /// That many milliseconds after the beginning of 1970, UTC.
    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// This moment, by the system's clock.
    static var now: Timestamp {
        Timestamp(milliseconds: WallClock.microseconds / 1000)
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC: `2026-11-21T05:45:08.042Z`.
    var description: String {
        let (days, rest) = milliseconds.split(by: 86_400_000)
        let date = Self.date(days: days)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { $0.padded(2) }
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))"
            + "T\(clock.joined(separator: ":")).\((rest % 1000).padded(3))Z"
    }

    /// The date of a day counted from 1970-01-01, in the Gregorian calendar for ever in both directions.
    /// Years begin in March here, so that the leap day is their last.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).split(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let january = month >= 10
        return (yearOfEra + era * 400 + (january ? 1 : 0), january ? month - 9 : month + 3, day)
    }
}

extension Int64 {
    /// The quotient rounded down, and what is left, which is never negative.
    fileprivate func split(by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    /// The number in decimal, with zeros in front up to `width` digits.
    fileprivate func padded(_ width: Int) -> String {
        let digits = String(magnitude)
        let zeros = String(repeating: "0", count: Swift.max(0, width - digits.count))
        return (self < 0 ? "-" : "") + zeros + digits
    }
}
