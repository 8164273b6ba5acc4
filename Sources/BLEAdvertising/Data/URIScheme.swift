import BLECore

/// The schemes that take one code point in the URIs of advertisements (Assigned Numbers, 2.7).
enum URIScheme {
    /// The scheme of a code point with its colon, "" for the one that stands for none, nil for one that is
    /// not assigned.
    static func name(of codePoint: UInt32) -> Substring? {
        if codePoint == UInt32(none) { return "" }
        let index = Int(codePoint) - first
        return names.indices.contains(index) ? names[index] + ":" : nil
    }

    /// The code point of a scheme, given without its colon in either case.
    static func codePoint(of name: String) -> UInt8? {
        names.firstIndex(of: name.lowercased()[...]).map { UInt8(truncatingIfNeeded: $0 + first) }
    }

    /// The code point before a URI that has no scheme, or one without a code point.
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
