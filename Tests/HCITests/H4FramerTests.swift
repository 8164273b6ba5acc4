import BLECore
import HCI
import Testing

@Suite struct H4FramerTests {
    /// One packet of each type, and the longest headers.
    static let packets = [
        "01 030c 00", "04 0e 04 01 030c 00", "02 4020 0300 010203", "02 4000 0000", "03 0100 02 abcd",
        "05 0160 0100 ee", "01 0c20 02 0100", "04 10 00",
    ].map { [UInt8](spelled: $0) }

    /// Returns the packets that `framer` finds in `chunks`, and the error that stopped it, if any.
    static func run(
        _ chunks: [[UInt8]], _ framer: inout H4Framer
    ) -> (packets: [[UInt8]], error: H4FramingError?) {
        var found: [[UInt8]] = []
        do throws(H4FramingError) {
            for chunk in chunks {
                try framer.feed(chunk.span) { found.append([UInt8](copying: $0)) }
            }
            return (found, nil)
        } catch {
            return (found, error)
        }
    }

    @Test func packetsInOneChunkAreFramed() {
        var framer = H4Framer()
        let stream = Self.packets.flatMap(\.self)
        #expect(Self.run([stream], &framer).packets == Self.packets)
        #expect(framer.offset == UInt64(stream.count))
        #expect(framer.pendingCount == 0)
    }

    @Test func packetsAreFramedOctetByOctet() {
        var framer = H4Framer()
        let stream = Self.packets.flatMap(\.self)
        #expect(Self.run(stream.map { [$0] }, &framer).packets == Self.packets)
    }

    @Test func framingIgnoresChunkBoundaries() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<500 {
            let packets = (0..<8).compactMap { _ in Self.packets.randomElement(using: &random) }
            var rest = packets.flatMap(\.self)[...]
            var chunks: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(9, rest.count), using: &random)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            var framer = H4Framer()
            let (found, error) = Self.run(chunks, &framer)
            #expect(found == packets)
            #expect(error == nil)
        }
    }

    @Test(arguments: [
        [[UInt8]]([[0x04, 0x10, 0x00, 0x07]]), [[4], [0x10], [0], [7]], [[4, 0x10, 0], [7, 1]],
    ])
    func unknownTypeEndsFraming(_ chunks: [[UInt8]]) {
        var framer = H4Framer()
        let (found, error) = Self.run(chunks, &framer)
        #expect(found == [[0x04, 0x10, 0x00]])
        let expected = H4FramingError.unknownType(HCIPacketType(rawValue: 7), offset: 3)
        #expect(error == expected)
        #expect(framer.lost == expected)
        #expect("\(expected)" == "0x07 at octet 3 of the stream begins no HCI packet")

        #expect(Self.run([[0x04, 0x10, 0x00]], &framer).error == expected)
        framer.reset()
        #expect(Self.run([[0x04, 0x10, 0x00]], &framer).packets == [[0x04, 0x10, 0x00]])
    }

    @Test func unexpectedTypeIsRejected() {
        var fromController = H4Framer(types: HCIPacketType.fromController)
        #expect(Self.run([[1, 3, 12, 0]], &fromController).error == .unknownType(.command, offset: 0))
        var fromHost = H4Framer(types: HCIPacketType.fromHost)
        #expect(Self.run([[4, 0x10, 0]], &fromHost).error == .unknownType(.event, offset: 0))
    }

    @Test func reservedLengthBitsOfIsochronousDataAreIgnored() {
        var framer = H4Framer()
        let (found, error) = Self.run([[5, 1, 0, 1, 0xc0, 0xee, 4, 0x10, 0]], &framer)
        #expect(error == nil)
        #expect(found == [[5, 1, 0, 1, 0xc0, 0xee], [4, 0x10, 0]])
    }

    @Test func lengthOverMaximumIsRejected() {
        var small = H4Framer(maximumLength: 100)
        #expect(
            Self.run([[4, 0x10, 0, 2, 0, 0], [96, 0]], &small).error
                == .tooLong(.acl, payload: 96, limit: 95, offset: 3))
    }

    @Test func randomOctetsYieldPacketsOrError() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<2000 {
            let stream = random.bytes(upTo: 60)
            var framer = H4Framer()
            let (found, error) = Self.run([stream], &framer)
            let whole = found.flatMap(\.self)
            #expect(stream.starts(with: whole))
            #expect(error != nil || framer.pendingCount == stream.count - whole.count)
            for packet in found { #expect(throws: Never.self) { try HCIPacket(packet) } }
        }
    }
}
