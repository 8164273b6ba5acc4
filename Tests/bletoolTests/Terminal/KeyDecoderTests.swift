import Testing

@testable import bletool

struct KeyDecoderTests {
    @Test(
        arguments: [
            ("a", [.scalar("a")]), ("é", [.scalar("é")]), ("日", [.scalar("日")]), ("😀", [.scalar("😀")]),
            ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]), ("\u{7f}", [.backspace]),
            ("\u{8}", [.backspace]),
            ("\u{3}", [.control("c")]), ("\u{1}", [.control("a")]), ("\u{0}", []), ("\u{1f}", []),
            ("\u{1b}[A", [.up]), ("\u{1b}OB", [.down]), ("\u{1b}[1~", [.home]), ("\u{1b}[4~", [.end]),
            ("\u{1b}[3~", [.delete]), ("\u{1b}[Z", [.backTab]), ("\u{1b}[1;5D", [.wordLeft]),
            ("\u{1b}[1;3C", [.wordRight]), ("\u{1b}[1;2C", [.right]), ("\u{1b}[99~x", [.scalar("x")]),
            ("\u{1b}b", [.alt("b")]), ("\u{1b}\u{7f}", [.alt("\u{7f}")]),
            ("\u{1b}\u{1b}[C", [.escape, .right]),
            ("ab\u{1b}[Dc", [.scalar("a"), .scalar("b"), .left, .scalar("c")]),
        ] as [(String, [TerminalKey])])
    func keysAreDecodedWholeOrByOctet(_ text: String, _ keys: [TerminalKey]) {
        var whole = KeyDecoder()
        let atOnce = whole.take(Array(text.utf8))
        #expect(atOnce == keys)
        var parts = KeyDecoder()
        let oneByOne = text.utf8.flatMap { parts.take([$0]) }
        #expect(oneByOne == keys)
    }

    @Test func escapeIsDecodedOnFlush() {
        var keys = KeyDecoder()
        let held = keys.take([0x1b])
        #expect(held.isEmpty)
        #expect(keys.isPending)
        let flushed = keys.flush()
        #expect(flushed == [.escape])
        #expect(!keys.isPending)
        let nothing = keys.flush()
        #expect(nothing.isEmpty)
    }

    @Test("decoding continues after arbitrary octets")
    func decoderRecoversFromArbitraryOctets() {
        var keys = KeyDecoder()
        for octet in 0...255 as ClosedRange<UInt8> { _ = keys.take([0x1b, 0x5b, octet, 0xc3, octet]) }
        for _ in 1...100 { _ = keys.take([0x3b]) }
        _ = keys.take(Array("\u{1b}[A".utf8))
        let found = keys.take(Array("q".utf8))
        #expect(found == [.scalar("q")])
    }

    @Test(
        arguments: [
            [0xff, 0x61], [0xc3, 0x61], [0xe6, 0x97, 0x61], [0xf0, 0x61], [0xed, 0xa0, 0x80, 0x61],
        ] as [[UInt8]])
    func invalidUTF8IsSkipped(_ octets: [UInt8]) {
        var keys = KeyDecoder()
        let found = keys.take(octets)
        #expect(found == [.scalar("a")])
    }

    @Test func overlongSequenceIsDropped() {
        var keys = KeyDecoder()
        let found = keys.take([0x1b, 0x5b] + [UInt8](repeating: 0x30, count: 4096) + [0x7e, 0x61])
        #expect(found.last == .scalar("a"))
        #expect(!keys.isPending)
    }

    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("한", 2), ("😀", 2), ("👩‍👩‍👧", 2), ("Ａ", 2), ("", 0),
    ])
    func textHasColumnWidth(_ text: String, _ columns: Int) {
        #expect(text.columns == columns)
    }
}
