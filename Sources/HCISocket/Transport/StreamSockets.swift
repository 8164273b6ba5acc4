import CLinux
import Glibc
import SystemPackage

/// The address of a byte stream.
public enum StreamAddress: Hashable, Sendable {
    /// A TCP port. The host is an IPv4 or IPv6 address, or `localhost`. Other names are not supported,
    /// because looking them up blocks.
    case tcp(host: String, port: UInt16)
    /// The path of a Unix domain socket.
    case unix(path: String)
}

extension StreamAddress: CustomStringConvertible {
    /// The address as text: `tcp:127.0.0.1:9000`, `tcp:[::1]:9000` or `unix:/run/air`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// Creates stream sockets for the H4 transport.
package enum StreamSockets {
    /// Creates a socket that listens at `address`, and returns it with its address, in which the assigned
    /// port replaces a TCP port of 0. The file of a Unix socket that no process serves any more is replaced;
    /// one that is still served is EADDRINUSE. `folder` is the folder that contains the socket, if it was
    /// opened as a private one.
    package static func bind(
        to address: StreamAddress, in folder: OpenFolder? = nil
    ) async throws(PortError) -> (CInt, StreamAddress) {
        switch address {
        case .unix(let path):
            let file = SocketFile(path, in: folder)
            // If two processes find the same abandoned file, only one at a time can replace it.
            return try await file.locked { () throws(PortError) in (try bind(to: file), address) }
        case .tcp(let host, let port):
            return try withInternetAddress(host, port) { (family, bind) throws(PortError) in
                let descriptor = try Sockets.open(family, CLINUX_SOCK_STREAM, 0)
                return try Sockets.closing(descriptor) { () throws(PortError) in
                    try Sockets.set(descriptor, SOL_SOCKET, SO_REUSEADDR, to: CInt(1), "SO_REUSEADDR")
                    _ = try bind(descriptor, true)
                    try Sockets.listen(descriptor, backlog: 64)
                    return (descriptor, .tcp(host: host, port: try boundPort(descriptor)))
                }
            }
        }
    }

    private static func bind(to file: SocketFile) throws(PortError) -> CInt {
        let name = try file.address()
        let descriptor = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        return try Sockets.closing(descriptor) { () throws(PortError) in
            do throws(PortError) {
                try Sockets.bind(descriptor, to: name)
            } catch {
                guard error.errno == .addressInUse else { throw error }
                guard file.isSocket else {
                    throw .system(.fileExists, during: "\(file.path), which is no socket")
                }
                guard try isAbandoned(name) else { throw error }
                file.remove()
                try Sockets.bind(descriptor, to: name)
            }
            try Sockets.listen(descriptor, backlog: 64)
            return descriptor
        }
    }

    /// Removes the file of a Unix socket that still listens, so that the next one creates a new file. Other
    /// sockets have no file. `folder` is the one in which the socket was bound.
    static func removeFile(of listening: CInt, in folder: OpenFolder?) {
        var address = sockaddr_un()
        guard (try? Sockets.localAddress(listening, into: &address)) != nil,
            address.sun_family == sa_family_t(AF_UNIX)
        else { return }
        let path = withUnsafeBytes(of: address.sun_path) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        // A socket in a folder has a name that is valid only in the process that has bound it.
        let isInFolder = path.hasPrefix("/proc/self/fd/")
        guard folder != nil || !isInFolder else { return }
        let file = SocketFile(path, in: isInFolder ? folder : nil)
        if file.isSocket { file.remove() }
    }

    /// Creates a listener that accepts connections of a listening socket, and takes ownership of the socket.
    /// `folder` is the one in which a Unix socket was bound.
    package static func listener(
        _ descriptor: CInt, in folder: OpenFolder? = nil, on loop: EventLoop,
        accepted: @escaping @Sendable (CInt) -> Void
    ) -> Listener {
        Listener(descriptor, in: folder, on: loop) { listening throws(PortError) in
            var ignored = sockaddr_storage()
            guard let connection = try Sockets.accept(listening, peer: &ignored) else { return nil }
            var on: CInt = 1
            // Fails on Unix sockets, which have no such delay.
            setsockopt(connection, IPPROTO_TCP_LEVEL, TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
            return { accepted(connection) }
        }
    }

    private static func boundPort(_ descriptor: CInt) throws(PortError) -> UInt16 {
        var address = sockaddr_in6()
        try Sockets.localAddress(descriptor, into: &address)
        // sockaddr_in and sockaddr_in6 have the port at the same offset.
        return UInt16(bigEndian: address.sin6_port)
    }

    /// Starts to connect; `done` is called on the loop with the result.
    package static func connect(
        to address: StreamAddress, in folder: OpenFolder? = nil, on loop: EventLoop,
        done: @escaping @Sendable (Result<CInt, PortError>) -> Void
    ) throws(PortError) -> PendingConnection {
        let descriptor: CInt
        switch address {
        case .unix(let path):
            let name = try SocketFile(path, in: folder).address()
            descriptor = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
            try Sockets.closing(descriptor) { () throws(PortError) in
                // A Unix socket connects at once, or not at all if too many connections already wait.
                guard try Sockets.connect(descriptor, to: name) else {
                    throw .system(.wouldBlock, during: "connect")
                }
            }
        case .tcp(let host, let port):
            descriptor = try withInternetAddress(host, port) { (family, connect) throws(PortError) in
                let descriptor = try Sockets.open(family, CLINUX_SOCK_STREAM, 0)
                return try Sockets.closing(descriptor) { () throws(PortError) in
                    // HCI packets are small and answered at once; waiting to fill a segment costs 40 ms.
                    try Sockets.set(descriptor, IPPROTO_TCP_LEVEL, TCP_NODELAY, to: CInt(1), "TCP_NODELAY")
                    _ = try connect(descriptor, false)
                    return descriptor
                }
            }
        }
        let pending = PendingConnection(descriptor, on: loop)
        try pending.start(done)
        return pending
    }

    /// Connects and waits for the result; nil if the task is cancelled before.
    package static func connection(
        to address: StreamAddress, in folder: OpenFolder? = nil, on loop: EventLoop
    ) async -> Result<CInt, PortError>? {
        let wait = ConnectionWait()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute { wait.begin(address, in: folder, on: loop, continuation) }
            }
        } onCancel: {
            loop.execute { wait.cancel() }
        }
    }

    /// The state of a task that waits for a connection.
    private final class ConnectionWait: @unchecked Sendable {
        // Sendable: accessed only on the loop.
        private var continuation: CheckedContinuation<Result<CInt, PortError>?, Never>?
        private var pending: PendingConnection?
        private var isCancelled = false

        func begin(
            _ address: StreamAddress, in folder: OpenFolder?, on loop: EventLoop,
            _ continuation: CheckedContinuation<Result<CInt, PortError>?, Never>
        ) {
            guard !isCancelled else { return continuation.resume(returning: nil) }
            self.continuation = continuation
            do throws(PortError) {
                pending = try connect(to: address, in: folder, on: loop) { self.end($0) }
            } catch {
                end(.failure(error))
            }
        }

        func cancel() {
            isCancelled = true
            pending?.cancel()
            end(nil)
        }

        private func end(_ result: Result<CInt, PortError>?) {
            pending = nil
            continuation.take()?.resume(returning: result)
        }
    }

    /// Returns the process at the other end of a Unix socket.
    package static func peerProcess(_ descriptor: CInt) -> Int32? {
        var credentials = clinux_ucred()
        do throws(PortError) {
            try Sockets.get(descriptor, SOL_SOCKET, SO_PEERCRED, into: &credentials, "SO_PEERCRED")
            return credentials.pid > 0 ? credentials.pid : nil
        } catch {
            return nil
        }
    }

    private static let IPPROTO_TCP_LEVEL = CInt(IPPROTO_TCP)

    /// Returns whether no process serves the file of a Unix socket any more.
    private static func isAbandoned(_ name: sockaddr_un) throws(PortError) -> Bool {
        let probe = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        defer { Glibc.close(probe) }
        do throws(PortError) {
            _ = try Sockets.connect(probe, to: name)
            return false
        } catch {
            return error.errno == .connectionRefused
        }
    }

    /// Calls `body` with the address family and a function that binds (true) or connects (false).
    private static func withInternetAddress<Result>(
        _ host: String, _ port: UInt16,
        _ body: (CInt, (CInt, Bool) throws(PortError) -> Bool) throws(PortError) -> Result
    ) throws(PortError) -> Result {
        let number = host == "localhost" ? "127.0.0.1" : host
        var four = sockaddr_in()
        if inet_pton(AF_INET, number, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            let address = four
            return try body(AF_INET) { (descriptor, binds) throws(PortError) -> Bool in
                if binds { try Sockets.bind(descriptor, to: address) }
                return binds ? true : try Sockets.connect(descriptor, to: address)
            }
        }
        var six = sockaddr_in6()
        guard inet_pton(AF_INET6, number, &six.sin6_addr) == 1 else {
            throw .unresolved(host)
        }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        let address = six
        return try body(AF_INET6) { (descriptor, binds) throws(PortError) -> Bool in
            if binds { try Sockets.bind(descriptor, to: address) }
            return binds ? true : try Sockets.connect(descriptor, to: address)
        }
    }
}
