/// Text as a peer sent it, which should be UTF-8 and may not be. `text` is for reading: what is not UTF-8
/// is U+FFFD there. `octets` are what was sent.
public struct UTF8Text: Sendable {
    /// The text, repaired where it had to be.
    public let text: String
    /// What was sent, when it was not UTF-8.
    private let bad: [UInt8]?

    package init(_ text: String) {
        self.text = text
        bad = nil
    }

    /// The text that `octets` spell, or nearly do.
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

/// Equal octets; `String` alone would take two spellings of one letter for the same.
extension UTF8Text: Hashable {
    /// Whether both were sent with the same octets.
    public static func == (left: UTF8Text, right: UTF8Text) -> Bool {
        left.bad == right.bad && left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Feeds the text; what differs in spelling only may share a hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension UTF8Text: PacketDecodable, PacketEncodable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// For errors, which text never causes.
    package static var packetName: String { "UTF-8 text" }

    /// Creates text that is valid UTF-8.
    public init(stringLiteral text: String) { self.init(text) }

    /// All octets that are left; never throws.
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

    /// The text, with U+FFFD for what is not UTF-8.
    public var description: String { text }
}
