import CLinux
import Glibc
import SystemPackage

/// A buffer for the packets that one system call reads from a socket that preserves packet boundaries. A busy
/// socket then needs only a fraction of a call for each packet, and a quiet one needs no second call that
/// finds nothing.
struct PacketBatch: ~Copyable {
    /// The maximum number of packets that one system call reads.
    let capacity: Int
    /// The maximum size of a packet, in octets.
    let maximumPacket: Int
    // Allocated in init and freed in deinit. The kernel writes to the memory to which `headers` and `vectors`
    // point, which is `octets`, and the three never move.
    private let octets: UnsafeMutablePointer<UInt8>
    private let vectors: UnsafeMutablePointer<iovec>
    private let headers: UnsafeMutablePointer<clinux_mmsghdr>

    /// The upper limit of `capacity`.
    private static let limit = 32

    /// Creates a buffer for packets of up to `maximumPacket` octets each and `octets` octets together, but
    /// for at least one packet.
    init(maximumPacket: Int, octets limit: Int) {
        let maximumPacket = max(1, maximumPacket)
        self.maximumPacket = maximumPacket
        capacity = max(1, min(Self.limit, limit / maximumPacket))
        // Memory that no packet has needed yet is not committed.
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

    /// Reads the available packets without waiting. Returns their number.
    func receive(from descriptor: CInt) -> Result<Int, Errno> {
        let count = clinux_recvmmsg(descriptor, headers, UInt32(capacity), CInt(MSG_DONTWAIT), nil)
        return count < 0 ? .failure(.current) : .success(Int(count))
    }

    /// Calls `body` with one of the packets that were read.
    func withPacket(_ index: Int, _ body: (Span<UInt8>) -> Void) {
        body(UnsafeBufferPointer(start: octets + index * maximumPacket, count: length(index)).span)
    }

    /// Returns whether the packet was truncated because it did not fit into the buffer.
    func isTruncated(_ index: Int) -> Bool {
        precondition(index < capacity)
        return headers[index].msg_hdr.msg_flags & CInt(MSG_TRUNC) != 0
    }

    /// Returns the size in octets of one of the packets that were read, as far as it fits into the buffer; 0
    /// at the end of the socket.
    func length(_ index: Int) -> Int {
        precondition(index < capacity)
        return min(Int(headers[index].msg_len), maximumPacket)
    }
}
