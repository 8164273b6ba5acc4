/// Text as a peer sent it, which should be valid UTF-8 but can be invalid. `text` is for display and contains
/// U+FFFD in place of invalid UTF-8. `octets` is what the peer sent.
public struct UTF8Text: Sendable {
    /// The text, with U+FFFD in place of invalid UTF-8.
    public let text: String
    /// The octets that were sent, if they are not valid UTF-8.
    private let bad: [UInt8]?

    package init(_ text: String) {
        self.text = text
        bad = nil
    }

    /// Creates the text from octets, which can be invalid UTF-8.
    package init(_ octets: Span<UInt8>) {
        do {
            text = String(copying: try UTF8Span(validating: octets))
            bad = nil
        } catch {
            let copy = [UInt8](copying: octets)
            text = String(decoding: copy, as: UTF8.self)
            bad = copy
        }
    }

    /// The octets that were sent, whether or not they are UTF-8.
    package var octets: [UInt8] { bad ?? Array(text.utf8) }

    /// Whether the octets are valid UTF-8.
    package var isValid: Bool { bad == nil }
}

/// Equality of octets: `String` would treat two different encodings of a character as equal.
extension UTF8Text: Hashable {
    /// Returns whether both texts consist of the same octets.
    public static func == (left: UTF8Text, right: UTF8Text) -> Bool {
        left.bad == right.bad && left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the text; texts that differ only in encoding can have the same hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension UTF8Text: PacketDecodable, PacketEncodable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name in errors, which decoding text never throws.
    package static var packetName: String { "UTF-8 text" }

    /// Creates text that is valid UTF-8.
    public init(stringLiteral text: String) { self.init(text) }

    /// Reads all remaining octets; never throws.
    package init(decoding reader: inout ByteReader) throws(DecodeError) { self.init(reader.restInPlace()) }

    /// The number of octets that were received.
    package var encodedCount: Int { bad?.count ?? text.utf8.count }

    /// Writes the octets as they were received.
    package func encode(into output: inout OutputSpan<UInt8>) {
        if let bad {
            output.bytes(bad)
        } else {
            for octet in text.utf8 { output.append(octet) }
        }
    }

    /// The text, with U+FFFD in place of invalid UTF-8.
    public var description: String { text }
}
