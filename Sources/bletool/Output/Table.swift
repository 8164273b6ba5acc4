/// Rows of text in columns.
struct Table {
    /// The alignment of a column's texts.
    enum Alignment {
        case left
        case right
    }

    /// The headings and alignments of the columns.
    var columns: [(heading: String, alignment: Alignment)]
    /// The rows; each has a text for every column.
    var rows: [[String]] = []

    /// Returns the lines, the headings first. Columns are as wide as their widest text, and two spaces apart.
    func lines(colored: Bool) -> [String] {
        let headings = columns.map(\.heading)
        let widths = columns.indices.map { column in
            ([headings] + rows).map { $0[column].count }.max() ?? 0
        }
        let all = ([headings] + rows).map { row in
            var line = columns.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return columns[column].alignment == .left ? row[column] + space : space + row[column]
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        return [Style.bold(all[0], when: colored)] + all.dropFirst()
    }
}
