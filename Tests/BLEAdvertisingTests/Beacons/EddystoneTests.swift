import BLEAdvertising
import BLECore
import TestSupport
import Testing

@Suite struct EddystoneTests {
    private func frame(_ hex: String) throws -> EddystoneFrame? {
        try EddystoneFrame(ServiceData(0xfeaa, octets(hex)))
    }

    /// Namespace and instance are those of the specification's elided UUID. The two reserved octets may be missing.
    @Test(arguments: [
        "00 ee 8b0ca750095477cb3e77 0123456789ab", "00 ee 8b0ca750095477cb3e77 0123456789ab 0000",
    ])
    func decodesUIDFrames(_ hex: String) throws {
        guard case .uid(let uid) = try frame(hex) else {
            Issue.record("not a UID")
            return
        }
        #expect(uid.power == -18)
        #expect(uid.namespace.hex == "8b0ca750095477cb3e77" && uid.instance.hex == "0123456789ab")
    }

    @Test func decodesURLFrame() throws {
        guard case .url(let url) = try frame("10 12 03 676f6f2e676c2f41713138 7a46") else {
            Issue.record("not a URL")
            return
        }
        #expect(url.power == 18 && url.url == "https://goo.gl/Aq18zF")
    }

    @Test("every scheme and ending of the table expands")
    func urlCodesExpand() throws {
        let endings = [
            ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net",
            ".info",
            ".biz", ".gov",
        ]
        for (code, ending) in endings.enumerated() {
            for (scheme, start) in ["http://www.", "https://www.", "http://", "https://"].enumerated() {
                let found = try frame("10 ee" + [UInt8(scheme), 0x61, UInt8(code)].hex)
                guard case .url(let url) = found else {
                    Issue.record("not a URL")
                    continue
                }
                #expect(url.url == "\(start)a\(ending)")
            }
        }
    }

    @Test(
        "telemetry: battery, temperature in 8.8 fixed point, packets, uptime",
        arguments: [
            ("20 00 0bb8 1680 0000000c 00000258", "3.000 V", "22.500 °C", 12, "60.0 s"),
            ("20 00 0000 8000 00000000 00000000", "-", "-", 0, "0.0 s"),
            (
                "20 00 ffff ff80 ffffffff ffffffff", "65.535 V", "-0.500 °C", .max,
                "429496729.5 s"
            ),
            ("20 00 0001 0001 00000001 00000001", "0.001 V", "0.004 °C", 1, "0.1 s"),
            ("20 00 0001 8001 00000001 00000001", "0.001 V", "-127.996 °C", 1, "0.1 s"),
        ] as [(String, String, String, UInt32, String)])
    func decodesTelemetryFrames(
        _ hex: String, _ battery: String, _ temperature: String, _ packets: UInt32, _ up: String
    ) throws {
        guard case .telemetry(let telemetry) = try frame(hex) else {
            Issue.record("not telemetry")
            return
        }
        #expect(telemetry.battery?.description ?? "-" == battery)
        #expect(telemetry.temperature?.description ?? "-" == temperature)
        #expect(telemetry.packets == packets && telemetry.uptime.description == up)
    }

    @Test func decodesEncryptedFrames() throws {
        guard case .encryptedTelemetry(let sealed) = try frame("20 01 000102030405060708090a0b abcd 1234")
        else {
            Issue.record("not encrypted telemetry")
            return
        }
        #expect(
            sealed.ciphertext.hex == "000102030405060708090a0b" && sealed.salt == 0xabcd
                && sealed.tag == 0x1234)
        guard case .ephemeral(let beacon) = try frame("30 ee 0123456789abcdef") else {
            Issue.record("not an EID")
            return
        }
        #expect(beacon.power == -18 && beacon.identifier == 0x0123_4567_89ab_cdef)
    }

    @Test(arguments: [
        "00 ee 8b0ca750095477cb3e77 0123456789ab 0000", "20 00 0bb8 1680 0000000c 00000258",
        "20 01 000102030405060708090a0b abcd 1234", "30 ee 0123456789abcdef",
    ])
    func otherLengthsFailToDecode(_ hex: String) {
        let whole = octets(hex)
        // A UID may end before the two reserved octets.
        for count in whole.indices where !(whole[0] == 0 && count == 18) {
            #expect(throws: DecodeError.self, "\(count)") {
                _ = try EddystoneFrame(ServiceData(0xfeaa, Array(whole[..<count])))
            }
        }
        #expect(throws: DecodeError.self) { _ = try EddystoneFrame(ServiceData(0xfeaa, whole + [0])) }
    }

    @Test(arguments: [
        ("40 00", "frame type", 0, 0x40), ("20 02", "version", 1, 2), ("10 ee 04", "URL scheme", 2, 4),
        ("10 ee 00 20", "URL", 3, 0x20), ("10 ee 00 61 0e", "URL", 4, 0x0e), ("10 ee 00 7f", "URL", 3, 0x7f),
    ])
    func invalidFieldsReportOffset(_ hex: String, _ field: String, _ offset: Int, _ value: UInt64) {
        #expect(
            throws: DecodeError(
                packet: "Eddystone", field: field, offset: offset, reason: .invalid(value: value))
        ) { _ = try frame(hex) }
    }

    @Test func otherServicesAreIgnored() throws {
        #expect(try EddystoneFrame(ServiceData(0xfeab, octets("10ee0361"))) == nil)
    }
}
