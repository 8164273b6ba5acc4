import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

extension PacketBatch {
    /// Returns copies of the first `count` received packets.
    fileprivate func packets(_ count: Int) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        for index in 0..<count {
            withPacket(index) { packet in
                packets.append((0..<packet.count).map { packet[$0] })
            }
        }
        return packets
    }

    /// Returns whether each of the first `count` packets was longer than the room for it.
    fileprivate func cut(_ count: Int) -> [Bool] { (0..<count).map { isTruncated($0) } }
}

/// A socket pair that preserves packet boundaries. Both ends are closed with this object.
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
        "the capacity is the number of packets that fit the octets, between 1 and 32",
        arguments: [(64, 64 * 31, 31), (64, 64 * 32, 32), (64, 1 << 20, 32), (4096, 4095, 1), (0, 0, 1)])
    func capacityIsLimitedByOctets(maximumPacket: Int, octets: Int, capacity: Int) {
        let batch = PacketBatch(maximumPacket: maximumPacket, octets: octets)
        #expect(batch.capacity == capacity)
        #expect(batch.maximumPacket == max(1, maximumPacket))
    }

    @Test("one call receives the available packets in order, up to the capacity")
    func receiveTakesUpToCapacityInOrder() {
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

    @Test("a packet of the maximum length is whole, a longer one is truncated, others are unaffected")
    func overlongPacketIsTruncated() {
        let pair = Pair()
        pair.write([counting(4), counting(9), counting(3, from: 7)])
        let batch = PacketBatch(maximumPacket: 4, octets: 1 << 10)
        #expect(batch.receive(from: pair.near) == .success(3))
        #expect(batch.cut(3) == [false, true, false])
        #expect(batch.packets(3) == [counting(4), counting(4), counting(3, from: 7)])
        // The next call does not report the truncation again.
        pair.write([[1], [2], [3]])
        #expect(batch.receive(from: pair.near) == .success(3))
        #expect(batch.cut(3) == [false, false, false])
        #expect(batch.packets(3) == [[1], [2], [3]])
    }

    @Test("the end of the socket is an empty packet after the preceding ones")
    func endOfSocketIsEmptyPacket() {
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
    func systemCallErrorIsReturned() {
        let batch = PacketBatch(maximumPacket: 4, octets: 4)
        #expect(batch.receive(from: -1) == .failure(.badFileDescriptor))
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        #expect(batch.receive(from: ends[0]) == .failure(Errno(rawValue: ENOTSOCK)))
        for end in ends { close(end) }
    }
}
