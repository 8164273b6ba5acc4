/// Reads sections, one after the other, from a text with any content.
struct TextReader {
    private let octets: [UInt8]
    private var position = 0
    /// The number of lines that were read.
    private(set) var number = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    /// Returns the next section; nil at the end.
    mutating func next() throws(TextError) -> TextSection? {
        let start = position
        guard let heading = nextLine() else { return nil }
        let words = heading.rest.split(separator: " ")
        guard heading.key == TextSection.heading, words.count == 2, let version = Int(words[1]), version >= 1
        else {
            throw TextError(number, .heading)
        }
        guard version == TextSection.version else {
            throw TextError(number, version: version)
        }
        var section = TextSection(kind: words[0], number: number)
        while true {
            let end = position
            guard let line = nextLine() else { throw TextError(number, .missingEnd) }
            if line.key == TextSection.heading {
                // The heading is that of the next section, which may be complete.
                (position, number) = (end, number - 1)
                throw TextError(number, .missingEnd)
            }
            guard line.key == "checksum" else {
                section.lines.append(line)
                continue
            }
            var checksum = CRC32()
            checksum.update(octets[start..<end])
            guard line.rest == checksum.value.hex else { throw TextError(number, .checksum) }
            return section
        }
    }

    /// Whether there are octets that were not read.
    var hasMore: Bool { position < octets.count }

    /// Returns the complete sections of a text, and the errors in the rest.
    static func all(in octets: [UInt8]) -> (sections: [TextSection], problems: [TextError]) {
        var reader = TextReader(octets)
        var (sections, problems): ([TextSection], [TextError]) = ([], [])
        while true {
            do throws(TextError) {
                guard let section = try reader.next() else { break }
                sections.append(section)
            } catch {
                problems.append(error)
                reader.skipToHeading()
            }
        }
        if reader.hasMore { problems.append(TextError(reader.number, .missingEnd)) }
        return (sections, problems)
    }

    /// Skips to the next heading or, if there is none, to the end of the last complete line.
    private mutating func skipToHeading() {
        while true {
            let (start, before) = (position, number)
            guard let line = nextLine() else { return }
            if line.key == TextSection.heading {
                (position, number) = (start, before)
                return
            }
        }
    }

    /// Returns the only section of a text, which has to be of this kind.
    static func only(_ kind: String, in octets: [UInt8]) throws(TextError) -> TextSection {
        var reader = TextReader(octets)
        guard let section = try reader.next() else { throw TextError(1, .empty) }
        guard section.kind == kind else { throw TextError(1, .kind(String(section.kind), expected: kind)) }
        guard !reader.hasMore else { throw TextError(reader.number, .trailing) }
        return section
    }

    /// Returns the next line. Each line ends with a newline, so that a truncated one is detected.
    private mutating func nextLine() -> TextSection.Line? {
        guard let newline = octets[position...].firstIndex(of: UInt8(ascii: "\n")) else {
            // The rest is counted as a line, but lacks its newline.
            if position < octets.count { number += 1 }
            return nil
        }
        let text = String(decoding: octets[position..<newline], as: UTF8.self)
        position = newline + 1
        number += 1
        // By scalars, because a combining mark at the start of a name would form one character with the
        // space.
        let scalars = text.unicodeScalars
        let end = scalars.firstIndex(of: " ") ?? scalars.endIndex
        return TextSection.Line(
            number: number, key: Substring(scalars[..<end]), rest: Substring(scalars[end...].dropFirst()))
    }
}
