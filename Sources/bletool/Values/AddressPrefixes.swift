/// The manufacturers of devices with a public address: the prefixes that the IEEE registers, from the lists that the system has. They
/// are 40,000 and grow each day, so that they are the system's and not ours.
struct AddressPrefixes {
    /// A prefix and whose it is.
    struct Entry: Hashable {
        /// The prefix in hexadecimal digits, upper-case: 6 (MA-L), 7 (MA-M) or 9 (MA-S and IAB).
        var digits: String
        var organization: String
    }

    /// Where systems keep the lists, the newest first: update-ieee-data's and Debian's, then Fedora's and Arch's.
    static let folders = ["/var/lib/ieee-data", "/usr/share/ieee-data", "/usr/share/hwdata"]

    private static let lists = ["oui.txt", "mam.txt", "oui36.txt", "iab.txt"]

    let entries: [Entry]

    /// The lists of the first folder that has one; nil if none has.
    init?(in folders: [String] = Self.folders) {
        for folder in folders {
            let found = Self.lists.compactMap { try? File.contents("\(folder)/\($0)", limit: 64 << 20) }
            guard !found.isEmpty else { continue }
            entries = found.flatMap(Self.entries)
            return
        }
        return nil
    }

    /// What an address, a prefix or a part of a name stands for: for a whole address the longest prefix of it.
    func matching(_ text: String) -> [Entry] {
        guard let digits = Self.digits(text) else {
            let part = text.lowercased()
            return entries.filter { $0.organization.lowercased().contains(part) }
        }
        let found = entries.filter { digits.hasPrefix($0.digits) || $0.digits.hasPrefix(digits) }
        guard digits.count == 12 else { return found }
        return found.max { $0.digits.count < $1.digits.count }.map { [$0] } ?? []
    }

    /// The digits of an address, also as the tool shows it, or of a prefix of three octets at least.
    private static func digits(_ text: String) -> String? {
        let digits = (text.hasSuffix("/public") ? text.dropLast(7) : text[...]).filter { !":-".contains($0) }
        guard 6...12 ~= digits.utf8.count, digits.allSatisfy(\.isHexDigit) else { return nil }
        return digits.uppercased()
    }

    /// The entries of a list in the IEEE's form: a line `70-B3-D5 (hex) NAME`, then `F2F000-F2FFFF (base 16)
    /// NAME` for a part of those addresses, or `70B3D5 (base 16) NAME` for all of them; lines of the postal
    /// address follow.
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

    /// The digits that all addresses of a range have: those of the block, and those that its two ends share.
    private static func prefix(_ range: Substring, of block: String) -> String? {
        let ends = range.split(separator: "-")
        guard let first = ends.first, let last = ends.last, ends.count <= 2 else { return nil }
        let shared = String(zip(first, last).prefix { $0 == $1 }.map { $0.0 })
        let digits = ends.count == 2 ? block + shared : shared
        return 6...12 ~= digits.utf8.count && digits.allSatisfy(\.isHexDigit) ? digits : nil
    }
}
