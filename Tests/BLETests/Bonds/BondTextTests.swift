import BLECore
import GATTClient
import SMP
import Testing

@testable import BLE

struct BondTextTests {
    private static let text = """
        bletool bond 1
        peer C0:11:22:33:44:55/random
        local 00:1B:DC:07:31:88/public
        created 2026-11-21T12:00:00.000Z
        used 2026-11-21T12:00:01.000Z
        name 50 %25 more%0aÄ
        strength authenticated legacy 16
        central-key 0000000000000001000000000000000c 16 0x1234 0x0102030405060708
        peripheral-key 0000000000000001000000000000000f 16 0x0001 0x0000000000000063
        peer-identity-key 00000000000000010000000000000001
        peer-signing-key 00000000000000010000000000000002
        local-signing-key 00000000000000010000000000000003
        sign-counter 64
        client-features 0x05
        client-hash abcd
        client-aware false
        client-changed 0x0010 0xffff
        client-sign-counter 7
        client-configuration 0x0013 0x0002
        client-configuration 0x0020 0x0003

        """

    private static var record: BondRecord {
        var record = BondRecord(
            SampleBonds.bond(), name: "50 % more\nÄ", created: SampleBonds.noon)
        record.lastUsed = Timestamp(milliseconds: SampleBonds.noon.milliseconds + 1000)
        record.client = SampleBonds.client
        _ = record.reserveCounters()
        return record
    }

    /// Returns the text with its checksum appended.
    private static func sealed(_ text: String) -> [UInt8] {
        var checksum = CRC32()
        checksum.update(text.utf8)
        return Array("\(text)checksum \(checksum.value.hex)\n".utf8)
    }

    @Test func claimedIdentityIsKept() throws {
        var bond = SampleBonds.bond()
        bond.isIdentityClaimed = true
        let record = BondRecord(bond, created: SampleBonds.noon)
        #expect(String(decoding: record.text, as: UTF8.self).contains("\nidentity claimed\n"))
        #expect(try read(record.text).bond == bond)
    }

    private func read(_ octets: [UInt8]) throws(TextError) -> BondRecord {
        try BondRecord(TextReader.only(BondRecord.kind, in: octets))
    }

    private func problem(_ octets: [UInt8]) -> TextError? {
        do throws(TextError) {
            _ = try read(octets)
            return nil
        } catch {
            return error
        }
    }

    @Test("CRC-32 matches the standard's check value")
    func crc32MatchesCheckValue() {
        var checksum = CRC32()
        checksum.update("123456789".utf8)
        #expect(checksum.value == 0xcbf4_3926)
    }

    @Test("a bond is written in its fixed format and read as it was written")
    func exactText() throws {
        #expect(
            String(decoding: Self.record.text, as: UTF8.self)
                == String(decoding: Self.sealed(Self.text), as: UTF8.self))
        #expect(try read(Self.sealed(Self.text)) == Self.record)
    }

    @Test("a bond with the required fields only is read as it was written")
    func minimalBond() throws {
        let strength = PairingStrength(isAuthenticated: false, isSecureConnections: true, keySize: 7)
        var bond = Bond(with: SampleBonds.peer, as: SampleBonds.local, strength)
        bond.centralKey = LongTermKey(0xff, size: 7)
        let record = BondRecord(bond, created: SampleBonds.noon)
        #expect(try read(record.text) == record)
        let text = String(decoding: record.text, as: UTF8.self)
        #expect(text.contains("\ncentral-key 000000000000000000000000000000ff 7\n"))
        #expect(text.contains("\nstrength unauthenticated secure-connections 7\n"))
    }

    @Test("a text that is truncated anywhere or has one bit changed is refused")
    func damagedTextIsRefused() {
        let whole = Self.sealed(Self.text)
        for count in whole.indices { #expect(problem(Array(whole[..<count])) != nil) }
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 1
            #expect(problem(changed) != nil, "octet \(index)")
        }
        #expect(problem(whole + [0x0a]) == TextError(21, .trailing))
        #expect(problem(whole + whole) == TextError(21, .trailing))
    }

    @Test(
        "the values of a line are validated, and the error names the line",
        arguments: [
            (
                "peer C0:11:22:33:44:55/random", "peer C0:11:22:33:44:55", 2,
                .value("C0:11:22:33:44:55", key: "peer"), "peer: C0:11:22:33:44:55 is invalid"
            ),
            (
                "16 0x1234", "17 0x1234", 8, .value("17", key: "central-key"),
                "central-key: 17 is invalid"
            ),
            ("16 0x1234", "6 0x1234", 8, .value("6", key: "central-key"), "central-key: 6 is invalid"),
            (
                "16 0x1234 ", "16 ", 8, .count(key: "central-key", expected: 4...4),
                "central-key: expected 4 values"
            ),
            (
                "legacy 16", "legacy", 7, .count(key: "strength", expected: 3...3),
                "strength: expected 3 values"
            ),
            (
                "legacy 16", "modern 16", 7, .value("modern", key: "strength"),
                "strength: modern is invalid"
            ),
            (
                "sign-counter 64", "sign-counter 4294967296", 13,
                .value("4294967296", key: "sign-counter"), "sign-counter: 4294967296 is invalid"
            ),
            ("sign-counter 64", "counter 64", 13, .key("counter"), "there is no key counter"),
            (
                "client-hash abcd", "client-hash abc", 15, .value("abc", key: "client-hash"),
                "client-hash: abc is invalid"
            ),
            (
                "%0aÄ", "%0x", 6, .value("50 %25 more%0x", key: "name"),
                "name: 50 %25 more%0x is invalid"
            ),
            (
                "%0aÄ", "%ff", 6, .value("50 %25 more%ff", key: "name"),
                "name: 50 %25 more%ff is invalid"
            ),
            (
                "0x0013 0x0002", "0x0013 0x00002", 19, .value("0x00002", key: "client-configuration"),
                "client-configuration: 0x00002 is invalid"
            ),
            ("peer C0:11:22:33:44:55/random\n", "", 1, .missing(key: "peer"), "peer is missing"),
            (
                "bond 1", "identity 1", 1, .kind("identity", expected: "bond"),
                "it is of the kind identity, not bond"
            ),
            (
                "bletool bond 1", "bluetool bond 1", 1, .heading,
                "the first line is not the heading of a bletool file"
            ),
        ] as [(String, String, Int, StateError.Damage, String)])
    func invalidValuesNameTheirLine(
        old: String, new: String, line: Int, damage: StateError.Damage, text: String
    ) throws {
        let parts = Self.text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        #expect(problem(Self.sealed(parts[0] + new + parts[1])) == TextError(line, damage))
        #expect("\(damage)" == text)
    }

    @Test(
        "a name can start with any scalar",
        arguments: [
            "\u{301}x", "\u{fe0f}", "\u{200d}a b", " x", "x ", "%", "\r\n", "e\u{301} \u{301}", "\u{2029}",
        ])
    func nameAcceptsAnyScalar(name: String) throws {
        var record = BondRecord(SampleBonds.bond(), created: Timestamp(milliseconds: 1))
        record.name = name
        let read = try BondRecord(TextReader.only(BondRecord.kind, in: record.text))
        #expect(read.name.map { Array($0.unicodeScalars) } == Array(name.unicodeScalars))
    }

    @Test("a later version is reported, whatever its checksum")
    func newerVersionIsReported() {
        #expect(
            problem(Array("bletool bond 2\nsomething\n".utf8))
                == TextError(1, version: 2))
    }

    @Test("the reader handles randomly damaged text", arguments: 1...200)
    func readerHandlesRandomDamage(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var octets = Self.sealed(Self.text)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let index = Int.random(in: octets.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: octets.remove(at: index)
            case 1: octets.insert(.random(in: 0...255, using: &random), at: index)
            default: octets[index] = .random(in: 0...255, using: &random)
            }
        }
        // The checksum is computed again, so that the lines themselves are read.
        var lines = octets.split(separator: UInt8(ascii: "\n"))
        if !lines.isEmpty { lines.removeLast() }
        let joined = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        let text = String(decoding: joined, as: UTF8.self) + "\n"
        if let record = try? read(Self.sealed(text)) { #expect((try? read(record.text)) == record) }
    }

    @Test("an identity and a database are read as they were written")
    func identityAndDatabaseRoundTrip() throws {
        let identity = LocalIdentity(address: SampleBonds.local, identityKey: 0xabc)
        #expect(try LocalIdentity(TextReader.only(LocalIdentity.kind, in: identity.text)) == identity)

        let text = """
            bletool database 1
            hash 000102030405060708090a0b0c0d0e0f
            service primary 1809 0x0010 0x001f
            include 180f 0x0011 0x0030 0x0035
            characteristic 2a1c 0x0012 0x0013 0x0015 0x22
            descriptor 2902 0x0014
            service secondary 12345678-9abc-def0-1234-56789abcdef0 0x0030 0xffff

            """
        let written = SampleBonds.database.text
        #expect(
            String(decoding: written, as: UTF8.self) == String(decoding: Self.sealed(text), as: UTF8.self))
        let section = try TextReader.only(RemoteDatabase.kind, in: written)
        #expect(try RemoteDatabase(section) == SampleBonds.database)
    }
}
