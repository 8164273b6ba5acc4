import BLECore
import HCI
import Testing

@Suite struct H4RecoveryTests {
    private static let answer: [UInt8] = [0x04, 0x0e, 0x04, 0x01, 0x03, 0x0c, 0x00]

    @Test("the end of the Reset response is found in any stream, however it is chunked")
    func findsEndOfResetResponse() {
        var random = SplitMix64(seed: 4)
        for _ in 0..<500 {
            // Octets of the answer in random order, so that its first octets occur often without the rest.
            let noise = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Self.answer.randomElement(using: &random) ?? 0
            }
            let stream = noise + Self.answer + [0x04, 0x10, 0x01, 0x00]
            // The noise may contain the answer. In this case, the first occurrence is expected.
            let expected = (0...noise.count).first { start in
                let part = stream[start..<start + 7]
                return part.prefix(3) == [4, 0x0e, 4] && part.suffix(3) == [3, 0x0c, 0]
            }
            var (recovery, rest, position) = (H4Recovery(), stream[...], 0)
            var found: Int?
            while !rest.isEmpty, found == nil {
                let chunk = Array(rest.prefix(Int.random(in: 1...9, using: &random)))
                found = recovery.feed(chunk.span).map { position + $0 }
                position += chunk.count
                rest = rest.dropFirst(chunk.count)
            }
            #expect(found == expected.map { $0 + 7 })
        }
    }

    @Test(
        "failed Resets and responses to other commands are ignored",
        arguments: [
            [0x04, 0x0e, 0x04, 0x01, 0x03, 0x0c, 0x0c], [0x04, 0x0e, 0x04, 0x01, 0x01, 0x0c, 0x00],
            [0x04, 0x0f, 0x04, 0x00, 0x01, 0x03, 0x0c],
        ] as [[UInt8]])
    func ignoresOtherResponses(octets: [UInt8]) {
        var recovery = H4Recovery()
        #expect(recovery.feed(octets.span) == nil)
    }
}
