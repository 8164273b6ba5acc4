extension Duration {
    /// Names of units with their nanoseconds, smallest first; the first three are powers of ten.
    package typealias Units = [(name: String, nanoseconds: Int64)]

    /// The text of a sentence: "20 ms", "10.24 s", "2 min"; minutes and hours only when they are whole.
    package var phrase: String {
        text(in: [
            (" us", 1_000), (" ms", 1_000_000), (" s", 1_000_000_000), (" min", 60_000_000_000),
            (" h", 3_600_000_000_000),
        ])
    }

    /// A number and the unit behind it: the greatest that leaves no fraction, of those from the fourth on; else the
    /// greatest of the first three that it reaches, and the smallest below all of them.
    package func text(in units: Units) -> String {
        let (isNegative, nanoseconds) = (nanoseconds < 0, Int64(clamping: nanoseconds.magnitude))
        if nanoseconds == 0 { return "0\(units[2].name)" }
        let unit =
            units.dropFirst(3).last { nanoseconds.isMultiple(of: $0.nanoseconds) }
            ?? units.prefix(3).last { nanoseconds >= $0.nanoseconds } ?? units[0]
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: unit.nanoseconds)
        // The unit is a power of ten here; the 1 in front keeps the zeros behind it.
        var fraction = rest == 0 ? "" : "." + String(rest + unit.nanoseconds).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(isNegative ? "-" : "")\(whole)\(fraction)\(unit.name)"
    }
}
