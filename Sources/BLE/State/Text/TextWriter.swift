import BLECore

/// Writes the text of a `TextSection`.
struct TextWriter {
    private var text: String

    /// Begins a text of this kind with its heading.
    init(_ kind: String) { text = "bletool \(kind) \(TextSection.version)\n" }

    mutating func line(_ key: String, _ values: String...) {
        text += ([key] + values).joined(separator: " ") + "\n"
    }

    /// Adds a line, when there is a value.
    mutating func line(_ key: String, ifThere value: String?) { if let value { line(key, value) } }

    /// The text of the section, with its checksum.
    var octets: [UInt8] {
        var octets = Array(text.utf8)
        var checksum = CRC32()
        checksum.update(octets)
        octets += "checksum \(checksum.value.hex)\n".utf8
        return octets
    }
}
