/// A URI in an advertisement, its scheme shortened to one code point (Core Specification Supplement v11,
/// Part A, 1.18).
///
/// ```swift
/// AdvertisedURI("https://example.org").value.octets.hex  // "172f2f6578616d706c652e6f7267"
/// ```
public struct AdvertisedURI: Hashable, Sendable {
    /// The URI as it is sent: the code point of the scheme, then the rest.
    public let value: UTF8Text

    /// A URI as it is sent.
    public init(value: UTF8Text) { self.value = value }

    /// A URI as people write it. A scheme that has no code point, and a relative URI, are sent in full.
    public init(_ uri: String) {
        let colon = uri.firstIndex(of: ":")
        let known = colon.flatMap { URIScheme.codePoint(of: uri[..<$0]) }
        let rest = if known != nil, let colon { uri[uri.index(after: colon)...] } else { uri[...] }
        var text = ""
        text.unicodeScalars.append(Unicode.Scalar(known ?? URIScheme.none) ?? "\u{1}")
        text += rest
        value = UTF8Text(text)
    }

    /// The URI as people write it; a scheme with a code point that is not assigned reads `0x0123:`.
    public var text: String {
        let scalars = value.text.unicodeScalars
        guard let first = scalars.first?.value else { return "" }
        let scheme =
            URIScheme.name(of: first).map(String.init) ?? "0x\(UInt16(truncatingIfNeeded: first).hex):"
        return scheme + String(scalars.dropFirst())
    }
}

extension AdvertisedURI: PacketDecodable, PacketEncodable, CustomStringConvertible {
    /// For errors.
    public static var packetName: String { "URI" }

    /// Reads all that is left, at least one octet.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
        guard reader.remaining > 0 else {
            throw reader.failure("URI scheme", .truncated(needed: 1, available: 0))
        }
        value = try UTF8Text(decoding: &reader)
    }

    /// Octets of the URI as it is sent.
    public var encodedCount: Int { value.encodedCount }

    /// Writes the URI as it is sent.
    public func encode(into output: inout OutputSpan<UInt8>) { value.encode(into: &output) }

    /// The URI as people write it.
    public var description: String { text }
}
