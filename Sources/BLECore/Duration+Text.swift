extension Duration {
    /// The names of units with their lengths in nanoseconds, smallest first; the first three are powers of
    /// ten.
    package typealias Units = [(name: String, nanoseconds: Int64)]

    /// The duration as a phrase: "20 ms", "10.24 s", "2 min". Minutes and hours are used only for whole
    /// numbers of them.
    package var phrase: String {
        text(in: [
            (" us", 1_000), (" ms", 1_000_000), (" s", 1_000_000_000), (" min", 60_000_000_000),
            (" h", 3_600_000_000_000),
        ])
    }

    /// Returns a number followed by its unit. The unit is the largest from the fourth on that leaves no
    /// fraction. If there is none, it is the largest of the first three that is not longer than the duration,
    /// or the smallest unit if all are longer.
    package func text(in units: Units) -> String {
        let (isNegative, nanoseconds) = (nanoseconds < 0, Int64(clamping: nanoseconds.magnitude))
        if nanoseconds == 0 { return "0\(units[2].name)" }
        let unit =
            units.dropFirst(3).last { nanoseconds.isMultiple(of: $0.nanoseconds) }
            ?? units.prefix(3).last { nanoseconds >= $0.nanoseconds } ?? units[0]
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: unit.nanoseconds)
        // The unit is a power of ten here; adding it puts a 1 in front, which keeps the leading zeros of the
        // fraction.
        var fraction = rest == 0 ? "" : "." + String(rest + unit.nanoseconds).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(isNegative ? "-" : "")\(whole)\(fraction)\(unit.name)"
    }
}
