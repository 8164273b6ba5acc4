import BLECore

/// The columns of a table of devices for a terminal of some width: those that matter least go first, and names, words and
/// services share what the others leave.
struct ScanColumns {
    enum Column: CaseIterable {
        case address, kind, name, strength, bars, rate, says, services, seen

        var heading: String {
            switch self {
            case .address: "ADDRESS"
            case .kind: "KIND"
            case .name: "NAME"
            case .strength: "RSSI"
            case .bars: ""
            case .rate: "RATE"
            case .says: "COMPANY"
            case .services: "SERVICES"
            case .seen: "SEEN"
            }
        }

        /// The least columns of the terminal that it takes.
        var least: Int {
            switch self {
            case .address: 17
            case .kind: 6
            case .name: 10
            case .strength, .seen: 4
            case .bars: 8
            case .rate: 6
            case .says: 12
            case .services: 10
            }
        }

        /// What part of the room that is left it takes.
        var share: Int {
            switch self {
            case .name, .services: 2
            case .says: 3
            default: 0
            }
        }

        /// The most that it takes.
        var most: Int { self == .name ? 32 : share > 0 ? 200 : least }

        var isNumber: Bool { [.strength, .rate, .seen].contains(self) }
    }

    /// The columns and how wide they are.
    let all: [(column: Column, width: Int)]

    /// The columns within so many of the terminal, of which the mark before each row takes two.
    init(within room: Int) {
        var columns = Column.allCases
        func width(_ columns: [Column]) -> Int { columns.reduce(1) { $0 + $1.least + 1 } }
        for least in [Column.kind, .rate, .bars, .services, .says, .seen, .address, .strength]
        where width(columns) > room {
            columns.removeAll { $0 == least }
        }
        let spare = max(0, room - width(columns))
        let shares = max(1, columns.reduce(0) { $0 + $1.share })
        var left = spare
        all = columns.map { column in
            let more = min(spare * column.share / shares, column.most - column.least)
            left -= more
            // With the name alone, it has what there is.
            return (column, columns == [.name] ? max(0, room - 2) : column.least + more)
        }
    }

    /// A row of headings.
    var heading: String { "  " + line { $0.heading } }

    /// A row of the table.
    func line(of row: ScanRow, at now: Timestamp) -> String {
        let hasAddress = all.contains { $0.column == .address }
        return line { column in
            switch column {
            case .address: row.addressText
            case .kind: row.event.address?.kind.rawValue ?? ""
            // Without room for the address, a device without a name would have nothing.
            case .name: row.name.isEmpty && !hasAddress ? row.addressText : row.name
            case .strength: row.event.rssi.map { "\($0)" } ?? "?"
            case .bars: Sparkline.text(row.strengths(8))
            case .rate: row.rate(at: now).map { $0.tenths + "/s" } ?? ""
            case .says: row.says
            case .services: row.services
            case .seen: row.age(at: now)
            }
        }
    }

    private func line(_ text: (Column) -> String) -> String {
        all.map { text($0.column).filling($0.width, fromRight: $0.column.isNumber) }.joined(separator: " ")
    }
}

extension ScanRow {
    /// How long ago it was heard: `now`, `12s`, `3m`, `2h`.
    func age(at now: Timestamp) -> String {
        let seconds = max(0, now.milliseconds - event.time.milliseconds) / 1000
        switch seconds {
        case 0: return "now"
        case ..<100: return "\(seconds)s"
        case ..<6000: return "\(seconds / 60)m"
        default: return "\(seconds / 3600)h"
        }
    }
}

extension Double {
    /// With one digit after the point.
    var tenths: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
