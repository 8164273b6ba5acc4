/// A name to look for: case does not matter, and spaces, underscores and hyphens are the same.
struct NamePattern {
    private let octets: [UInt8]

    init(_ name: some StringProtocol) { octets = name.utf8.map(Self.fold) }

    /// Whether `name` equals the whole pattern.
    func isWhole(_ name: Span<UInt8>) -> Bool { name.count == octets.count && matches(name, at: 0) }

    /// Whether that name is in `name`.
    func isPart(_ name: Span<UInt8>) -> Bool {
        name.count >= octets.count && (0...(name.count - octets.count)).contains { matches(name, at: $0) }
    }

    private func matches(_ name: Span<UInt8>, at start: Int) -> Bool {
        octets.indices.allSatisfy { Self.fold(name[start + $0]) == octets[$0] }
    }

    private static func fold(_ octet: UInt8) -> UInt8 {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): octet | 0x20
        case UInt8(ascii: "_"), UInt8(ascii: "-"): UInt8(ascii: " ")
        default: octet
        }
    }
}
