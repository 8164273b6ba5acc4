import BLECore
import HCI
import Testing

@Suite struct ACLReassemblerTests {
    /// The result of a fragment.
    enum Outcome: Equatable {
        case frame(L2CAPFrame)
        case error(ACLReassemblyError)
    }

    static func feed(
        _ reassembler: inout ACLReassembler, _ boundary: ACLPacket.Boundary, _ hex: String
    ) -> [Outcome] {
        var outcomes: [Outcome] = []
        do throws(ACLReassemblyError) {
            try reassembler.receive(boundary, [UInt8](spelled: hex).span) {
                outcomes.append(.frame(L2CAPFrame($0, [UInt8](copying: $1))))
            }
        } catch {
            outcomes.append(.error(error))
        }
        return outcomes
    }

    let frame = Outcome.frame(L2CAPFrame(.att, [0x0a, 0x03, 0x00]))

    @Test(arguments: [ACLPacket.Boundary.firstFlushable, .firstNonFlushable])
    func frameInOneFragmentIsReceived(_ boundary: ACLPacket.Boundary) {
        var reassembler = ACLReassembler()
        #expect(Self.feed(&reassembler, boundary, "0300 0400 0a0300") == [frame])
        #expect(Self.feed(&reassembler, boundary, "0000 0500") == [.frame(L2CAPFrame(.leSignaling, []))])
    }

    @Test func frameIsReassembledOctetByOctet() {
        var reassembler = ACLReassembler()
        #expect(Self.feed(&reassembler, .firstFlushable, "").isEmpty)
        for octet in ["03", "", "00", "04", "00", "0a", "03", ""] {
            #expect(Self.feed(&reassembler, .continuing, octet).isEmpty)
        }
        #expect(reassembler.pendingCount == 6)
        #expect(Self.feed(&reassembler, .continuing, "00") == [frame])
        #expect(reassembler.pendingCount == 0)
    }

    @Test func continuationWithoutStartIsReported() {
        var reassembler = ACLReassembler()
        let error = Outcome.error(.continuationWithoutStart(octets: 2))
        #expect(Self.feed(&reassembler, .continuing, "0102") == [error])
        #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400 0a0300") == [frame])
        #expect(Self.feed(&reassembler, .continuing, "0102") == [error])
    }

    @Test func incompleteFrameIsReportedAtNextStart() {
        var reassembler = ACLReassembler()
        #expect(Self.feed(&reassembler, .firstFlushable, "0900 0400 01").isEmpty)
        #expect(
            Self.feed(&reassembler, .firstFlushable, "0300 0400 0a0300")
                == [frame, .error(.incomplete(received: 5))])
        #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400 0a").isEmpty)
        #expect(
            Self.feed(&reassembler, .firstFlushable, "0300 0400") == [.error(.incomplete(received: 5))])
        #expect(Self.feed(&reassembler, .continuing, "0a0300") == [frame])
    }

    @Test func overlongFrameIsReported() {
        var reassembler = ACLReassembler()
        #expect(
            Self.feed(&reassembler, .firstFlushable, "0100 0400 0102")
                == [.error(.overlong(received: 2, payload: 1))])
        #expect(Self.feed(&reassembler, .continuing, "03").isEmpty, "belongs to the dropped frame")
        #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400").isEmpty)
        #expect(
            Self.feed(&reassembler, .continuing, "01020304")
                == [.error(.overlong(received: 4, payload: 3))])
        #expect(Self.feed(&reassembler, .firstFlushable, "01").isEmpty)
        #expect(
            Self.feed(&reassembler, .continuing, "00 0400 0102")
                == [.error(.overlong(received: 2, payload: 1))])
        #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400 0a0300") == [frame])
    }

    @Test func frameOverLimitIsReported() {
        var reassembler = ACLReassembler(maximumPayload: 3)
        #expect(
            Self.feed(&reassembler, .firstFlushable, "0400 0400")
                == [.error(.tooLong(payload: 4, limit: 3))])
        #expect(Self.feed(&reassembler, .continuing, "01020304").isEmpty)
        #expect(reassembler.pendingCount == 0)
        #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400 0a0300") == [frame])
    }

    @Test func nonLEBoundaryIsReported() {
        var reassembler = ACLReassembler()
        #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400").isEmpty)
        #expect(Self.feed(&reassembler, .complete, "0300 0400 0a0300") == [.error(.boundaryNotForLE)])
        #expect(Self.feed(&reassembler, .continuing, "0a0300") == [frame])
    }

    @Test func anyFragmentationYieldsSameFrames() throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<500 {
            let frames = (0..<6).map { _ in
                L2CAPFrame(
                    L2CAPChannelID(rawValue: .random(in: 0...9, using: &random)), random.bytes(upTo: 40))
            }
            var reassembler = ACLReassembler(maximumPayload: 40)
            var received: [L2CAPFrame] = []
            for frame in frames {
                var rest = frame.encoded[...]
                var boundary = ACLPacket.Boundary.firstFlushable
                repeat {
                    let count = Int.random(in: 0...rest.count, using: &random)
                    let fragment = Array(rest.prefix(count))
                    try reassembler.receive(boundary, fragment.span) {
                        received.append(L2CAPFrame($0, [UInt8](copying: $1)))
                    }
                    rest = rest.dropFirst(count)
                    boundary = .continuing
                } while !rest.isEmpty
            }
            #expect(received == frames)
        }
    }

    /// A complete frame is received after any invalid input.
    @Test func reassemblerRecoversAfterInvalidInput() {
        var random = SplitMix64(seed: 6)
        var reassembler = ACLReassembler(maximumPayload: 100)
        for _ in 0..<3000 {
            let boundary = ACLPacket.Boundary(rawValue: .random(in: 0...3, using: &random)) ?? .continuing
            _ = Self.feed(&reassembler, boundary, random.bytes(upTo: 12).hex)
            #expect(reassembler.pendingCount <= 104)
            if Bool.random(using: &random) {
                #expect(Self.feed(&reassembler, .firstFlushable, "0300 0400 0a0300").contains(frame))
            }
        }
    }
}
