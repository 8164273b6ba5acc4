import CLinux
import Glibc
import SystemPackage

/// Room for the packets that one system call takes from a socket which keeps packets apart: a busy socket then
/// costs a fraction of a call for each, and a quiet one no second call that finds nothing.
struct PacketBatch: ~Copyable {
    /// The most packets that one system call takes.
    let capacity: Int
    /// The greatest size of a packet, in octets.
    let maximumPacket: Int
    // Allocated here and freed in deinit; the kernel writes where `headers` and `vectors` point, which is
    // into `octets`, and the three never move.
    private let octets: UnsafeMutablePointer<UInt8>
    private let vectors: UnsafeMutablePointer<iovec>
    private let headers: UnsafeMutablePointer<clinux_mmsghdr>

    /// The most packets of one call.
    private static let limit = 32

    /// Room for packets of up to `maximumPacket` octets each, and of `octets` together; for one in any case.
    init(maximumPacket: Int, octets limit: Int) {
        let maximumPacket = max(1, maximumPacket)
        self.maximumPacket = maximumPacket
        capacity = max(1, min(Self.limit, limit / maximumPacket))
        // Of room that no packet has needed yet there is no memory.
        guard let room = calloc(capacity, maximumPacket) else { preconditionFailure("no memory") }
        octets = room.bindMemory(to: UInt8.self, capacity: capacity * maximumPacket)
        vectors = .allocate(capacity: capacity)
        headers = .allocate(capacity: capacity)
        for index in 0..<capacity {
            (vectors + index).initialize(
                to: iovec(iov_base: octets + index * maximumPacket, iov_len: maximumPacket))
            var header = clinux_mmsghdr()
            header.msg_hdr.msg_iov = vectors + index
            header.msg_hdr.msg_iovlen = 1
            (headers + index).initialize(to: header)
        }
    }

    deinit {
        headers.deallocate()
        vectors.deallocate()
        free(octets)
    }

    /// Takes what is there, without waiting; the number of packets.
    func receive(from descriptor: CInt) -> Result<Int, Errno> {
        let count = clinux_recvmmsg(descriptor, headers, UInt32(capacity), CInt(MSG_DONTWAIT), nil)
        return count < 0 ? .failure(.current) : .success(Int(count))
    }

    /// Calls `body` with one of the packets that were taken.
    func withPacket(_ index: Int, _ body: (Span<UInt8>) -> Void) {
        body(UnsafeBufferPointer(start: octets + index * maximumPacket, count: length(index)).span)
    }

    /// Whether the packet was longer than there was room for.
    func isCut(_ index: Int) -> Bool {
        precondition(index < capacity)
        return headers[index].msg_hdr.msg_flags & CInt(MSG_TRUNC) != 0
    }

    /// Octets of one of the packets that were taken, no more than there was room for; 0 at the socket's end.
    func length(_ index: Int) -> Int {
        precondition(index < capacity)
        return min(Int(headers[index].msg_len), maximumPacket)
    }
}
