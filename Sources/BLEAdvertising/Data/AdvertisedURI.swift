import BLECore

/// A URI in an advertisement, in which one code point replaces the scheme (Core Specification Supplement v11,
/// Part A, 1.18).
///
/// ```swift
/// var content = AdvertisingContent()
/// content.uri = AdvertisedURI("https://example.org")  // 14 octets: the scheme takes one
/// ```
public struct AdvertisedURI: Hashable, Sendable {
    /// The URI as sent: the code point of the scheme, then the rest.
    package let value: UTF8Text

    /// Creates a URI from its encoded form.
    package init(value: UTF8Text) { self.value = value }

    /// Creates a URI from its usual text form. A scheme without a code point, and a relative URI, are sent in
    /// full.
    public init(_ uri: String) {
        let scalars = uri.unicodeScalars
        let name = scalars.prefix { $0 != ":" }
        let known = name.count < scalars.count ? URIScheme.codePoint(of: String(name)) : nil
        var text = String.UnicodeScalarView()
        text.append(Unicode.Scalar(known ?? URIScheme.none))
        text += scalars.dropFirst(known == nil ? 0 : name.count + 1)
        value = UTF8Text(String(text))
    }

    /// The URI in its usual text form; a scheme whose code point is not assigned reads `0x123:`.
    public var text: String {
        let scalars = value.text.unicodeScalars
        guard let first = scalars.first?.value else { return "" }
        let scheme = URIScheme.name(of: first) ?? "0x\(String(first, radix: 16)):"
        return scheme + String(scalars.dropFirst())
    }
}

extension AdvertisedURI: PacketDecodable, PacketEncodable, CustomStringConvertible {
    package static var packetName: String { "URI" }

    /// Reads all remaining octets, at least one.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        guard reader.remaining > 0 else {
            throw reader.failure("URI scheme", .truncated(needed: 1, available: 0))
        }
        value = try UTF8Text(decoding: &reader)
    }

    /// The number of octets of the URI as sent.
    package var encodedCount: Int { value.encodedCount }

    /// Writes the URI in its encoded form.
    package func encode(into output: inout OutputSpan<UInt8>) { value.encode(into: &output) }

    /// The URI in its usual text form.
    public var description: String { text }
}

/// The schemes that one code point replaces in the URIs of advertisements (Assigned Numbers, 2.7).
enum URIScheme {
    /// Returns the scheme of a code point, with its colon. The result is "" for the code point that stands
    /// for no scheme, and nil for a code point that is not assigned.
    static func name(of codePoint: UInt32) -> Substring? {
        if codePoint == UInt32(none) { return "" }
        let index = Int(codePoint) - first
        return names.indices.contains(index) ? names[index] + ":" : nil
    }

    /// Returns the code point of a scheme, which is passed without its colon in either case.
    static func codePoint(of name: String) -> UInt8? {
        names.firstIndex(of: name.lowercased()[...]).map { UInt8(truncatingIfNeeded: $0 + first) }
    }

    /// The code point before a URI that has no scheme, or a scheme without a code point.
    static let none: UInt8 = 1
    private static let first = 2

    private static let names = """
        aaa aaas about acap acct cap cid coap coaps crid data dav dict dns file ftp geo go gopher h323 \
        http https iax icap im imap info ipp ipps iris iris.beep iris.xpc iris.xpcs iris.lwz jabber ldap \
        mailto mid msrp msrps mtqp mupdate news nfs ni nih nntp opaquelocktoken pop pres reload rtsp rtsps \
        rtspu service session shttp sieve sip sips sms snmp soap.beep soap.beeps stun stuns tag tel telnet \
        tftp thismessage tn3270 tip turn turns tv urn vemmi ws wss xcon xcon-userid xmlrpc.beep \
        xmlrpc.beeps xmpp z39.50r z39.50s acr adiumxtra afp afs aim apt attachment aw barion beshare \
        bitcoin bolo callto chrome chrome-extension com-eventbrite-attendee content cvs dlna-playsingle \
        dlna-playcontainer dtn dvb ed2k facetime feed feedready finger fish gg git gizmoproject gtalk ham \
        hcp icon ipn irc irc6 ircs itms jar jms keyparc lastfm ldaps magnet maps market message mms \
        ms-help ms-settings-power msnim mumble mvn notes oid palm paparazzi pkcs11 platform proxy psyc \
        query res resource rmi rsync rtmfp rtmp secondlife sftp sgn skype smb smtp soldat spotify ssh \
        steam submit svn teamspeak teliaeid things udp unreal ut2004 ventrilo view-source webcal wtai \
        wyciwyg xfire xri ymsgr example ms-settings-cloudstorage bluetooth bl
        """.split(separator: " ")
}
