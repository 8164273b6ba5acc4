import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

extension PacketBatch {
    /// Copies of the first `count` packets that were taken.
    fileprivate func packets(_ count: Int) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        for index in 0..<count {
            withPacket(index) { packet in
                packets.append((0..<packet.count).map { packet[$0] })
            }
        }
        return packets
    }

    /// Which of the first `count` packets were longer than there was room for.
    fileprivate func cut(_ count: Int) -> [Bool] { (0..<count).map { isCut($0) } }
}

/// A socket pair that keeps packets apart, and is closed with this object.
private final class Pair {
    let near, far: CInt

    init() { (near, far) = socketPair(.packets) }

    deinit { for end in [near, far] { close(end) } }

    func write(_ packets: [[UInt8]]) {
        for packet in packets { #expect(send(far, packet, packet.count, 0) == packet.count) }
    }
}

struct PacketBatchTests {
    @Test(
        "it has room for as many packets as fit in its octets, 32 at most and one at least",
        arguments: [(64, 64 * 31, 31), (64, 64 * 32, 32), (64, 1 << 20, 32), (4096, 4095, 1), (0, 0, 1)])
    func capacity(maximumPacket: Int, octets: Int, capacity: Int) {
        let batch = PacketBatch(maximumPacket: maximumPacket, octets: octets)
        #expect(batch.capacity == capacity)
        #expect(batch.maximumPacket == max(1, maximumPacket))
    }

    @Test("one call takes what is there, in order, and no more than there is room for")
    func batches() {
        let pair = Pair()
        let packets = (1...5).map { counting($0, from: UInt8(10 * $0)) }
        pair.write(packets)
        let batch = PacketBatch(maximumPacket: 8, octets: 3 * 8)
        #expect(batch.receive(from: pair.near) == .success(3))
        #expect(batch.packets(3) == Array(packets.prefix(3)))
        #expect(batch.receive(from: pair.near) == .success(2))
        #expect(batch.packets(2) == Array(packets.suffix(2)))
        #expect(batch.cut(2) == [false, false])
        #expect(batch.receive(from: pair.near) == .failure(.wouldBlock))
    }

    @Test("a packet of exactly the maximum is whole; a longer one is cut, and its neighbours are not touched")
    func cut() {
        let pair = Pair()
        pair.write([counting(4), counting(9), counting(3, from: 7)])
        let batch = PacketBatch(maximumPacket: 4, octets: 1 << 10)
        #expect(batch.receive(from: pair.near) == .success(3))
        #expect(batch.cut(3) == [false, true, false])
        #expect(batch.packets(3) == [counting(4), counting(4), counting(3, from: 7)])
        // The next call begins without the mark.
        pair.write([[1], [2], [3]])
        #expect(batch.receive(from: pair.near) == .success(3))
        #expect(batch.cut(3) == [false, false, false])
        #expect(batch.packets(3) == [[1], [2], [3]])
    }

    @Test("the end of the socket is a packet without octets, after those that came before")
    func end() {
        let pair = Pair()
        pair.write([[1, 2]])
        shutdown(pair.far, CInt(SHUT_WR))
        let batch = PacketBatch(maximumPacket: 4, octets: 4)
        #expect(batch.receive(from: pair.near) == .success(1))
        #expect(batch.packets(1) == [[1, 2]])
        #expect(batch.receive(from: pair.near) == .success(1))
        #expect(batch.packets(1) == [[]])
    }

    @Test("the error of the system call is returned")
    func failure() {
        let batch = PacketBatch(maximumPacket: 4, octets: 4)
        #expect(batch.receive(from: -1) == .failure(.badFileDescriptor))
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        #expect(batch.receive(from: ends[0]) == .failure(Errno(rawValue: ENOTSOCK)))
        for end in ends { close(end) }
    }
}
