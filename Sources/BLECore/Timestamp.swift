/// A point in calendar time with a resolution of one millisecond.
public struct Timestamp: Hashable, Sendable {
    /// The milliseconds since 1970-01-01T00:00:00Z; negative for earlier times.
    public var milliseconds: Int64

    /// Creates the timestamp that many milliseconds after the beginning of 1970, UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }
}

extension Timestamp: Comparable {
    /// Orders the earlier time first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time in RFC 3339 format, in UTC: `2026-11-21T05:45:08.042Z`.
    public var description: String {
        let (days, rest) = milliseconds.split(by: 86_400_000)
        let date = Self.date(days: days)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { $0.padded(2) }
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))"
            + "T\(clock.joined(separator: ":")).\((rest % 1000).padded(3))Z"
    }

    /// Parses a time in RFC 3339 format, in UTC, with or without a fraction of a second; nil for any other
    /// text.
    package init?(_ text: some StringProtocol) {
        let octets = Array(text.utf8)
        guard octets.count >= 20, octets.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            let digits = octets[range]
            guard digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let marks = [4: "-", 7: "-", 10: "T", 13: ":", 16: ":"] as [Int: Unicode.Scalar]
        guard marks.allSatisfy({ octets[$0] == UInt8(ascii: $1) }), let year = number(0..<4),
            let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13), hour < 24,
            let minute = number(14..<16), minute < 60, let second = number(17..<19), second < 60
        else { return nil }
        var thousandths: Int64 = 0
        if octets.count > 20 {
            // Digits after the third are below the resolution of one millisecond.
            guard octets[19] == UInt8(ascii: "."), octets.count > 21, number(20..<octets.count - 1) != nil,
                let most = number(20..<min(23, octets.count - 1))
            else { return nil }
            thousandths = octets.count == 22 ? most * 100 : octets.count == 23 ? most * 10 : most
        }
        let days = Self.days(year, month, day)
        guard Self.date(days: days) == (year, month, day) else { return nil }
        self.init(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + thousandths)
    }

    /// Returns the number of days from 1970-01-01 to a date: the inverse of `date`.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (era, yearOfEra) = (month > 2 ? year : year - 1).split(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date of a day counted from 1970-01-01, in the proleptic Gregorian calendar. Years begin in
    /// March here, so that the leap day is the last day of a year.
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
    /// Returns the quotient rounded down, and the remainder, which is never negative.
    fileprivate func split(by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    /// Returns the number in decimal, padded with leading zeros to `width` digits.
    fileprivate func padded(_ width: Int) -> String {
        let digits = String(magnitude)
        let zeros = String(repeating: "0", count: Swift.max(0, width - digits.count))
        return (self < 0 ? "-" : "") + zeros + digits
    }
}
