import Glibc

/// The kind of data that a pair of Unix sockets carries.
package enum SocketKind {
    /// Octets without packet boundaries.
    case stream
    case packets
}

/// Returns the two ends of a Unix socket pair, which are non-blocking and closed on exec. The caller closes
/// both. Traps if the process has no descriptors left.
package func socketPair(_ kind: SocketKind) -> (near: CInt, far: CInt) {
    var ends: [CInt] = [0, 0]
    let kind = kind == .stream ? SOCK_STREAM : SOCK_SEQPACKET
    let flags = SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    guard socketpair(AF_UNIX, CInt(kind.rawValue | flags), 0, &ends) == 0 else {
        fatalError("no socket pair: \(errno)")
    }
    return (ends[0], ends[1])
}

/// Writes as many octets as the descriptor accepts now. Returns their number.
package func writeSome(_ octets: ArraySlice<UInt8>, to descriptor: CInt) -> Int {
    max(0, octets.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) })
}

/// Reads and returns all octets that a non-blocking descriptor has now, up to `limit`.
package func readAll(from descriptor: CInt, limit: Int = .max) -> [UInt8] {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while all.count < limit {
        let room = min(part.count, limit - all.count)
        let count = part.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, room) }
        guard count > 0 else { break }
        all += part.prefix(count)
    }
    return all
}
