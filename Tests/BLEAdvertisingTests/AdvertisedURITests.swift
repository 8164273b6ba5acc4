import BLEAdvertising
import BLECore
import TestSupport
import Testing

@Suite struct AdvertisedURITests {
    /// The text, the encoded octets, and the decoded text if it differs.
    @Test(
        arguments: [
            ("http://a.b", "162f2f612e62", nil),
            ("https://example.org/", "172f2f6578616d706c652e6f72672f", nil),
            ("HTTPS://a", "172f2f61", "https://a"),
            ("aaa:x", "0278", nil),
            ("z39.50s:x", "5878", nil),
            ("ymsgr:x", "c2b878", nil),  // code points from 0x80 on take two octets
            ("bl:x", "c2bc78", nil),
            ("mailto:a@b", "26614062", nil),
            ("gemini://a", "0167656d696e693a2f2f61", nil),
            ("no scheme", "016e6f20736368656d65", nil),
            ("", "01", nil),
            (":", "013a", nil),
            ("http:", "16", nil),
            ("tel:é", "45c3a9", nil),
            // A combining mark directly after the scheme belongs to the text after the scheme.
            ("tel:\u{301}", "45cc81", nil),
        ] as [(String, String, String?)])
    func encodesAndDecodesSchemes(_ text: String, _ hex: String, _ back: String?) {
        let uri = AdvertisedURI(text)
        #expect(uri.value.octets == octets(hex))
        #expect(Array(uri.text.utf8) == Array((back ?? text).utf8))
    }

    @Test func unassignedSchemePrintsHexNumber() {
        #expect(AdvertisedURI(value: UTF8Text("\u{123}//x")).text == "0x123://x")
        #expect(AdvertisedURI(value: UTF8Text("\u{0}x")).text == "0x0:x")
        #expect(AdvertisedURI(value: UTF8Text("")).text == "")
    }
}
