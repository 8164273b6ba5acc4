/// When a recording goes on in another file, and how many files are kept.
struct Rotation: Hashable, Sendable {
    /// The size after which a new file begins, in octets.
    var size: Int?
    /// How long a file is written to.
    var time: Duration?
    /// How many files are kept; the oldest is removed when there are more. nil: all.
    var kept: Int?

    /// Whether there is more than one file.
    var isThere: Bool { size != nil || time != nil }
}

extension Rotation {
    /// The path of a recording's file: `a.btsnoop` becomes `a-0001.btsnoop`.
    static func path(_ path: String, _ number: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        // A dot that begins a name is no extension's.
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(padded)" }
        return "\(path[..<dot])-\(padded)\(path[dot...])"
    }

    /// The octets that a text spells: `500000`, `500k`, `10M`, `1G`.
    static func octets(text: String) throws(BadInput) -> Int {
        let units: [Character: Int] = ["k": 1000, "K": 1000, "M": 1_000_000, "G": 1_000_000_000]
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard let number = Int.number(digits), number > 0,
            case let (octets, over) = number.multipliedReportingOverflow(by: unit ?? 1), !over
        else {
            throw BadInput("\(text.quoted) is not a size", hint: "a size is 500000, 500k, 10M or 1G")
        }
        return octets
    }
}
