import BLECore

extension Duration {
    /// The units of a duration's text, smallest first.
    private static let units: Units = [
        ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ]

    /// Parses a duration, a number and its unit: `500ms`, `152.5ms`, `10s`, `2m`, `1h`. The duration is never
    /// negative. A number without a unit is rejected, because it could be seconds or milliseconds.
    init(text: some StringProtocol) throws(BadInput) {
        let hint = "a duration is a number and a unit, as in 500ms, 10s, 2m or 1h"
        let name = text.drop { $0.isNumber || $0 == "." }
        let number = text.prefix(text.count - name.count)
        guard let unit = Self.units.first(where: { $0.name == name }), let decimal = DecimalNumber(number)
        else {
            throw BadInput("\(text.quoted) is not a duration", hint: hint)
        }
        guard let billionths = decimal.mantissa(atExponent: -9),
            case let (scaled, over) = billionths.multipliedReportingOverflow(by: Int128(unit.nanoseconds)),
            !over, scaled.isMultiple(of: 1_000_000_000),
            let nanoseconds = Int64(exactly: scaled / 1_000_000_000)
        else { throw BadInput("\(text.quoted) is too long or too fine a duration", hint: hint) }
        self = .nanoseconds(nanoseconds)
    }

    /// The text that names this duration: `20ms`, `152.5ms`, `10.24s`, `2m`; minutes and hours only when
    /// they are whole.
    var text: String { text(in: Self.units) }
}

extension ClosedRange<Duration> {
    /// Parses `MIN-MAX`, or one duration for both.
    init(text: some StringProtocol, within limits: ClosedRange<Duration>) throws(BadInput) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let least = try Duration(text: parts[0])
        let most = try Duration(text: parts[parts.count - 1])
        guard least <= most else { throw BadInput("\(text.quoted) ends before it begins") }
        guard limits.contains(least), limits.contains(most) else {
            throw BadInput(
                "\(text.quoted) is not within \(limits.lowerBound.text) to \(limits.upperBound.text)")
        }
        self = least...most
    }

    /// The text `MIN-MAX`, or one duration if both are equal.
    var text: String {
        lowerBound == upperBound ? lowerBound.text : "\(lowerBound.text)-\(upperBound.text)"
    }
}
