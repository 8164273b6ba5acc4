import CLinux
import Glibc
import SystemPackage

/// System calls on sockets with typed errors.
enum Sockets {
    /// Opens a new descriptor, non-blocking and closed on exec.
    static func open(_ family: CInt, _ type: CInt, _ number: CInt) throws(PortError) -> CInt {
        let descriptor = socket(family, type | CLINUX_SOCK_CLOEXEC | CLINUX_SOCK_NONBLOCK, number)
        guard descriptor >= 0 else { throw .system(.current, during: "socket") }
        return descriptor
    }

    /// Runs `body`, and closes `descriptor` if it throws.
    static func closing<Result>(
        _ descriptor: CInt, unless body: () throws(PortError) -> Result
    ) throws(PortError) -> Result {
        do throws(PortError) {
            return try body()
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    static func bind<Address>(_ descriptor: CInt, to address: Address) throws(PortError) {
        guard withAddress(address, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
            throw .system(.current, during: "bind")
        }
    }

    /// Starts to connect. Returns true if the connection is already complete, and false if `pendingError`
    /// returns the result later.
    static func connect<Address>(_ descriptor: CInt, to address: Address) throws(PortError) -> Bool {
        if withAddress(address, { Glibc.connect(descriptor, $0, $1) }) == 0 { return true }
        let error = Errno.current
        guard error == .nowInProgress || error == .wouldBlock else { throw .system(error, during: "connect") }
        return false
    }

    static func listen(_ descriptor: CInt, backlog: CInt = 16) throws(PortError) {
        guard Glibc.listen(descriptor, backlog) == 0 else { throw .system(.current, during: "listen") }
    }

    /// Accepts the next connection and sets `peer` to its address. Returns nil if there is none now.
    static func accept<Address>(_ descriptor: CInt, peer: inout Address) throws(PortError) -> CInt? {
        var length = socklen_t(MemoryLayout<Address>.size)
        let accepted = withUnsafeMutableBytes(of: &peer) {
            accept4(
                descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length,
                CLINUX_SOCK_CLOEXEC | CLINUX_SOCK_NONBLOCK)
        }
        if accepted >= 0 { return accepted }
        switch Errno.current {
        case .wouldBlock, .interrupted, .connectionAbort: return nil
        case let error: throw .system(error, during: "accept")
        }
    }

    static func localAddress<Address>(_ descriptor: CInt, into address: inout Address) throws(PortError) {
        var length = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafeMutableBytes(of: &address) {
            getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard result == 0 else { throw .system(.current, during: "getsockname") }
    }

    static func set<Value>(
        _ descriptor: CInt, _ level: CInt, _ option: CInt, to value: Value, _ name: String
    ) throws(PortError) {
        let result = withUnsafeBytes(of: value) {
            setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
        }
        guard result == 0 else { throw .system(.current, during: "setsockopt \(name)") }
    }

    static func get<Value>(
        _ descriptor: CInt, _ level: CInt, _ option: CInt, into value: inout Value, _ name: String
    ) throws(PortError) {
        var length = socklen_t(MemoryLayout<Value>.size)
        let result = withUnsafeMutableBytes(of: &value) {
            getsockopt(descriptor, level, option, $0.baseAddress, &length)
        }
        guard result == 0 else { throw .system(.current, during: "getsockopt \(name)") }
    }

    /// Sets the size of the receive buffer, in octets of kernel memory (of which the kernel reserves twice as
    /// many). Without CAP_NET_ADMIN, the size is limited by net.core.rmem_max.
    static func setReceiveMemory(_ descriptor: CInt, to octets: CInt) {
        do throws(PortError) {
            try set(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, to: octets, "SO_RCVBUFFORCE")
        } catch {
            try? set(descriptor, SOL_SOCKET, SO_RCVBUF, to: octets, "SO_RCVBUF")
        }
    }

    /// Returns the memory, in octets, that the kernel charges a socket for data that was sent on it but has
    /// not left.
    static func sendMemory(_ descriptor: CInt) throws(PortError) -> Int {
        Int(try memory(of: descriptor)[Int(CLINUX_SK_MEMINFO_WMEM_ALLOC)])
    }

    /// Returns the number of packets that the kernel has received for a socket and dropped, because its
    /// receive buffer was full.
    static func drops(_ descriptor: CInt) throws(PortError) -> UInt32 {
        try memory(of: descriptor)[Int(CLINUX_SK_MEMINFO_DROPS)]
    }

    private static func memory(of descriptor: CInt) throws(PortError) -> [UInt32] {
        var counts = [UInt32](repeating: 0, count: Int(CLINUX_SK_MEMINFO_VARS))
        var length = socklen_t(counts.count * MemoryLayout<UInt32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &counts, &length) == 0 else {
            throw .system(.current, during: "getsockopt SO_MEMINFO")
        }
        return counts
    }

    /// Returns that charge for one packet of so many octets on an L2CAP channel. It equals the charge on any
    /// other socket for a packet that also has room for the kernel's headers.
    static func sendMemory(ofPacket count: Int) throws(PortError) -> Int {
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CLINUX_SOCK_SEQPACKET | CLINUX_SOCK_CLOEXEC, 0, &ends) == 0 else {
            throw .system(.current, during: "socketpair")
        }
        defer { for end in ends { close(end) } }
        // BT_SKB_RESERVE, and the header of a basic L2CAP frame.
        let packet = [UInt8](repeating: 0, count: count + 8 + 4)
        guard write(ends[0], packet, packet.count) == packet.count else {
            throw .system(.current, during: "write")
        }
        return try sendMemory(ends[0])
    }

    /// Returns the result of a connection attempt that was in progress.
    static func pendingError(_ descriptor: CInt) throws(PortError) -> Errno? {
        var code: CInt = 0
        try get(descriptor, SOL_SOCKET, SO_ERROR, into: &code, "SO_ERROR")
        return code == 0 ? nil : Errno(rawValue: code)
    }

    private static func withAddress<Address>(
        _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        withUnsafeBytes(of: address) { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }
}
