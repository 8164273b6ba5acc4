/// Six digits that a user reads on one device and types or compares on the other (Core Specification 5.4,
/// Vol 3, Part H, 2.3.5.3 and 2.3.5.6).
public struct Passkey: Hashable, Sendable {
    /// The number, 0 to 999,999.
    public let value: UInt32

    /// Creates a passkey from a number; returns nil if the number has more than six digits.
    public init?(_ value: UInt32) {
        guard value <= Self.maximum else { return nil }
        self.value = value
    }

    /// Creates a passkey from a text of six digits; returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let value = UInt32(text)
        else { return nil }
        self.init(value)
    }

    /// Creates a passkey from the lowest six digits of a number, as numeric comparison displays them.
    package init(lowestDigitsOf value: UInt32) { self.value = value % (Self.maximum + 1) }

    /// Returns a random passkey; all passkeys are equally likely.
    public static func random(using generator: inout some RandomNumberGenerator) -> Passkey {
        Passkey(lowestDigitsOf: UInt32.random(in: 0...maximum, using: &generator))
    }

    private static let maximum: UInt32 = 999_999
}

extension Passkey: CustomStringConvertible {
    /// The six digits, leading zeros included.
    public var description: String {
        let digits = String(value)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}
