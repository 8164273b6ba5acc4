/// The address prefixes that the IEEE assigns to manufacturers, from the lists of the system. The tool has no
/// list of its own, because there are 40,000 prefixes and their number grows each day.
struct AddressPrefixes {
    /// A prefix and the organization that owns it.
    struct Entry: Hashable {
        /// The prefix in hexadecimal digits, upper-case: 6 (MA-L), 7 (MA-M) or 9 (MA-S and IAB).
        var digits: String
        var organization: String
    }

    /// The folders of the lists, the newest first: update-ieee-data's and Debian's, then Fedora's and Arch's.
    static let folders = ["/var/lib/ieee-data", "/usr/share/ieee-data", "/usr/share/hwdata"]

    private static let lists = ["oui.txt", "mam.txt", "oui36.txt", "iab.txt"]

    let entries: [Entry]

    /// Reads the lists of the first folder that has one, or returns nil if none has.
    init?(in folders: [String] = Self.folders) {
        for folder in folders {
            let found = Self.lists.compactMap { try? File.contents("\(folder)/\($0)", limit: 64 << 20) }
            guard !found.isEmpty else { continue }
            entries = found.flatMap(Self.entries)
            return
        }
        return nil
    }

    /// Returns the entries for an address, a prefix or a part of a name: for a whole address, the one with
    /// the longest prefix.
    func matching(_ text: String) -> [Entry] {
        guard let digits = Self.digits(text) else {
            let part = text.lowercased()
            return entries.filter { $0.organization.lowercased().contains(part) }
        }
        let found = entries.filter { digits.hasPrefix($0.digits) || $0.digits.hasPrefix(digits) }
        guard digits.count == 12 else { return found }
        return found.max { $0.digits.count < $1.digits.count }.map { [$0] } ?? []
    }

    /// Returns the digits of an address, also in the form that the tool shows, or of a prefix of at least
    /// three octets.
    private static func digits(_ text: String) -> String? {
        let digits = (text.hasSuffix("/public") ? text.dropLast(7) : text[...]).filter { !":-".contains($0) }
        guard 6...12 ~= digits.utf8.count, digits.allSatisfy(\.isHexDigit) else { return nil }
        return digits.uppercased()
    }

    /// Returns the entries of a list in the IEEE's format: a line `70-B3-D5 (hex) NAME`, then
    /// `F2F000-F2FFFF (base 16) NAME` for a part of those addresses, or `70B3D5 (base 16) NAME` for all of
    /// them. Lines of the postal address follow.
    static func entries(of list: [UInt8]) -> [Entry] {
        var block = ""
        return list.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.first.map({ Character(Unicode.Scalar($0)).isHexDigit }) == true else { return nil }
            let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            if words.count > 1, words[1] == "(hex)" {
                block = words[0].filter { $0 != "-" }
            } else if words.count > 2, words[1] == "(base", words[2] == "16)" {
                guard let digits = prefix(words[0], of: block) else { return nil }
                return Entry(
                    digits: digits.uppercased(), organization: words.dropFirst(3).joined(separator: " "))
            }
            return nil
        }
    }

    /// Returns the common digits of all addresses in a range: those of the block, and those that both ends
    /// share.
    private static func prefix(_ range: Substring, of block: String) -> String? {
        let ends = range.split(separator: "-")
        guard let first = ends.first, let last = ends.last, ends.count <= 2 else { return nil }
        let shared = String(zip(first, last).prefix { $0 == $1 }.map { $0.0 })
        let digits = ends.count == 2 ? block + shared : shared
        return 6...12 ~= digits.utf8.count && digits.allSatisfy(\.isHexDigit) ? digits : nil
    }
}
