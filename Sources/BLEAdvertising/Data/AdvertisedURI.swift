import BLECore

/// A URI in an advertisement, its scheme shortened to one code point (Core Specification Supplement v11,
/// Part A, 1.18).
///
/// ```swift
/// AdvertisedURI("https://example.org").value.octets.hex  // "172f2f6578616d706c652e6f7267"
/// ```
public struct AdvertisedURI: Hashable, Sendable {
    /// The URI as it is sent: the code point of the scheme, then the rest.
    package let value: UTF8Text

    /// A URI as it is sent.
    package init(value: UTF8Text) { self.value = value }

    /// A URI as people write it. A scheme that has no code point, and a relative URI, are sent in full.
    public init(_ uri: String) {
        let scalars = uri.unicodeScalars
        let name = scalars.prefix { $0 != ":" }
        let known = name.count < scalars.count ? URIScheme.codePoint(of: String(name)) : nil
        var text = String.UnicodeScalarView()
        text.append(Unicode.Scalar(known ?? URIScheme.none))
        text += scalars.dropFirst(known == nil ? 0 : name.count + 1)
        value = UTF8Text(String(text))
    }

    /// The URI as people write it; a scheme with a code point that is not assigned reads `0x123:`.
    public var text: String {
        let scalars = value.text.unicodeScalars
        guard let first = scalars.first?.value else { return "" }
        let scheme = URIScheme.name(of: first) ?? "0x\(String(first, radix: 16)):"
        return scheme + String(scalars.dropFirst())
    }
}

extension AdvertisedURI: PacketDecodable, PacketEncodable, CustomStringConvertible {
    package static var packetName: String { "URI" }

    /// Reads all that is left, at least one octet.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        guard reader.remaining > 0 else {
            throw reader.failure("URI scheme", .truncated(needed: 1, available: 0))
        }
        value = try UTF8Text(decoding: &reader)
    }

    /// Octets of the URI as it is sent.
    package var encodedCount: Int { value.encodedCount }

    /// Writes the URI as it is sent.
    package func encode(into output: inout OutputSpan<UInt8>) { value.encode(into: &output) }

    /// The URI as people write it.
    public var description: String { text }
}
