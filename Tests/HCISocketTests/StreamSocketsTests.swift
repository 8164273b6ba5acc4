import BLECore
import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

/// A listener at an address, and the connections that it has accepted.
private struct Server {
    let address: StreamAddress
    let listener: Listener
    private let accepted: AsyncStream<CInt>

    /// Binds the socket and starts the listener. Must be called on the loop.
    init(at wanted: StreamAddress, on loop: EventLoop) async throws {
        let (accepted, continuation) = AsyncStream<CInt>.makeStream()
        let (listening, address) = try await StreamSockets.bind(to: wanted)
        self.accepted = accepted
        self.address = address
        listener = StreamSockets.listener(listening, on: loop) { continuation.yield($0) }
        try listener.start { _ in continuation.finish() }
    }

    /// Returns the next connection.
    func next() async throws -> CInt {
        var iterator = accepted.makeAsyncIterator()
        return try #require(await iterator.next())
    }
}

@Suite(.timeLimit(.minutes(10))) struct StreamSocketsTests {
    /// Returns the error of a connect, or nil if there is none.
    private func failure(to address: StreamAddress, on loop: EventLoop) async -> PortError? {
        guard case .failure(let error)? = await StreamSockets.connection(to: address, on: loop) else {
            return nil
        }
        return error
    }

    /// Returns whether small packets are sent without delay.
    private func isWithoutDelay(_ descriptor: CInt) throws -> Bool {
        var value: CInt = 0
        try Sockets.get(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, into: &value, "TCP_NODELAY")
        return value != 0
    }

    private func exchange(at wanted: StreamAddress) async throws {
        try await onVirtualLoop { loop in
            let server = try await Server(at: wanted, on: loop)
            let near = try #require(await StreamSockets.connection(to: server.address, on: loop)).get()
            let far = try await server.next()
            for (from, to, octets) in [(near, far, [1, 2, 3]), (far, near, [4, 5])] as [(CInt, CInt, [UInt8])]
            {
                #expect(writeSome(octets[...], to: from) == octets.count)
                #expect(await loop.readiness(of: to, for: .read) != nil)
                #expect(readAll(from: to) == octets)
            }
            switch server.address {
            case .unix:
                #expect(StreamSockets.peerProcess(near) == getpid())
                #expect(StreamSockets.peerProcess(far) == getpid())
            case .tcp(_, let port):
                #expect(port != 0)
                #expect(StreamSockets.peerProcess(near) == nil)
                #expect(try isWithoutDelay(near) && isWithoutDelay(far))
            }
            server.listener.close()
            for end in [near, far] { close(end) }
        }
    }

    @Test("a Unix socket accepts, carries octets both ways and reports the peer process")
    func unixSocketConnects() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await exchange(at: .unix(path: folder.path("socket")))
    }

    @Test("TCP port 0 selects a free port, whose connections use TCP_NODELAY")
    func tcpPortZeroSelectsFreePort() async throws {
        for host in ["127.0.0.1", "localhost"] { try await exchange(at: .tcp(host: host, port: 0)) }
    }

    @Test("each of several connections is accepted")
    func severalConnectionsAreAccepted() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("socket")
        try await onVirtualLoop { loop in
            let server = try await Server(at: .unix(path: path), on: loop)
            for number in UInt8(1)...5 {
                let near = try #require(await StreamSockets.connection(to: server.address, on: loop)).get()
                let far = try await server.next()
                #expect(writeSome([number], to: near) == 1)
                #expect(readAll(from: far) == [number])
                for end in [near, far] { close(end) }
            }
            server.listener.close()
            server.listener.close()
        }
    }

    @Test("closing a listener removes its socket file, but not a regular file in its place")
    func closingListenerRemovesItsFile() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("socket")
        try await onVirtualLoop { loop in
            let first = try await Server(at: .unix(path: path), on: loop)
            #expect(exists(path))
            #expect(!exists(path + ".lock"))
            first.listener.close()
            #expect(!exists(path))
            let missing = PortError.system(.noSuchFileOrDirectory, during: "connect")
            #expect(await failure(to: .unix(path: path), on: loop) == missing)

            let second = try await Server(at: .unix(path: path), on: loop)
            unlink(path)
            try makeFile(path)
            second.listener.close()
            #expect(exists(path))
        }
    }

    @Test("a socket in an open folder is bound, found and removed there, even if another folder has its path")
    func socketInFolderIsReachedThroughFolder() async throws {
        let place = try TemporaryFolder()
        defer { place.remove() }
        let parent = try OpenFolder(String(place.path("").dropLast()))
        // Longer than the path of a socket can be.
        let name = String(repeating: "x", count: 120)
        try parent.make(name)
        let folder = try #require(try parent.privateFolder(name))
        #expect(rename(folder.path, place.path("moved")) == 0)
        #expect(mkdir(place.path(name), 0o700) == 0)
        let address = StreamAddress.unix(path: folder.path(of: "air"))
        try await onVirtualLoop { loop in
            let (listening, bound) = try await StreamSockets.bind(to: address, in: folder)
            #expect(bound == address)
            #expect(exists(place.path("moved/air")) && !exists(folder.path(of: "air")))
            await #expect(throws: PortError.system(.addressInUse, during: "bind")) {
                try await StreamSockets.bind(to: address, in: folder)
            }
            let listener = StreamSockets.listener(listening, in: folder, on: loop) { close($0) }
            try listener.start { _ in }
            let near = try #require(
                await StreamSockets.connection(to: address, in: folder, on: loop)
            ).get()
            close(near)
            listener.close()
            #expect(!exists(place.path("moved/air")) && !exists(place.path("moved/air.lock")))
        }
    }

    @Test("a link in place of the lock of a socket is not followed")
    func linkInPlaceOfLockIsRefused() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("socket")
        #expect(symlink(folder.path("target"), path + ".lock") == 0)
        let error = PortError.system(.tooManySymbolicLinkLevels, during: "open \(path).lock")
        await #expect(throws: error) {
            try await StreamSockets.bind(to: .unix(path: path))
        }
        #expect(!exists(folder.path("target")))
    }

    @Test("a served socket file is in use; an abandoned one is replaced")
    func abandonedSocketFileIsReplaced() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("socket")
        let address = StreamAddress.unix(path: path)
        try await onVirtualLoop { loop in
            let (served, _) = try await StreamSockets.bind(to: address)
            await #expect(throws: PortError.system(.addressInUse, during: "bind")) {
                try await StreamSockets.bind(to: address)
            }
            // The file remains, as after a crash of the server's process.
            close(served)
            #expect(exists(path))
            #expect(
                await failure(to: address, on: loop) == .system(.connectionRefused, during: "connect"))
            let server = try await Server(at: address, on: loop)
            let near = try #require(await StreamSockets.connection(to: address, on: loop)).get()
            close(try await server.next())
            close(near)
            server.listener.close()
        }
    }

    @Test("a file that is not a socket is refused and kept")
    func otherFileIsKept() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("socket")
        try makeFile(path)
        await #expect(throws: PortError.system(.fileExists, during: "\(path), which is no socket")) {
            try await StreamSockets.bind(to: .unix(path: path))
        }
        #expect(exists(path))
    }

    @Test("a path must have between 1 and 107 octets")
    func pathLengthIsLimited() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let longest = folder.path(ofCount: 107)
        // The path of the lock file may be longer than that of a socket.
        let (served, _) = try await StreamSockets.bind(to: .unix(path: longest))
        close(served)
        for path in [longest + "n", ""] {
            let error = PortError.system(.fileNameTooLong, during: "unix socket path \(path)")
            await #expect(throws: error) {
                try await StreamSockets.bind(to: .unix(path: path))
            }
            try await onVirtualLoop { loop in
                #expect(await failure(to: .unix(path: path), on: loop) == error)
            }
        }
    }

    @Test("the error for a missing folder names it")
    func missingFolderIsNamed() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("socket")
        folder.remove()
        await #expect(throws: PortError.system(.noSuchFileOrDirectory, during: "open \(path).lock")) {
            try await StreamSockets.bind(to: .unix(path: path))
        }
    }

    @Test("a TCP port without a listener refuses connections")
    func portWithoutListenerRefuses() async throws {
        // The socket is bound, so that no other process gets the port, and it does not listen.
        let socket = try Sockets.open(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        try Sockets.bind(socket, to: name)
        try Sockets.localAddress(socket, into: &name)
        let port = UInt16(bigEndian: name.sin_port)
        try await onVirtualLoop { loop in
            #expect(
                await failure(to: .tcp(host: "127.0.0.1", port: port), on: loop)
                    == .system(.connectionRefused, during: "connect"))
        }
    }

    @Test("a Unix socket with a full backlog refuses connections")
    func fullBacklogRefuses() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (served, address) = try await StreamSockets.bind(to: .unix(path: folder.path("s")))
        defer { close(served) }
        // With a backlog of 0, one connection can wait. The second is refused.
        try Sockets.listen(served, backlog: 0)
        try await onVirtualLoop { loop in
            guard case .success(let first)? = await StreamSockets.connection(to: address, on: loop) else {
                Issue.record("the first does not connect")
                return
            }
            defer { close(first) }
            #expect(await failure(to: address, on: loop) == .system(.wouldBlock, during: "connect"))
        }
    }

    @Test("a served port is in use")
    func servedPortIsInUse() async throws {
        let (served, address) = try await StreamSockets.bind(to: .tcp(host: "127.0.0.1", port: 0))
        defer { close(served) }
        await #expect(throws: PortError.system(.addressInUse, during: "bind")) {
            try await StreamSockets.bind(to: address)
        }
    }

    @Test("host names are not resolved", arguments: ["example.org", "", "1.2.3", "::1::"])
    func hostNamesAreNotResolved(host: String) async throws {
        let address = StreamAddress.tcp(host: host, port: 1)
        await #expect(throws: PortError.unresolved(host)) {
            try await StreamSockets.bind(to: address)
        }
        try await onVirtualLoop { loop in
            #expect(await failure(to: address, on: loop) == .unresolved(host))
        }
    }

    @Test("a cancelled task does not connect")
    func cancelledTaskDoesNotConnect() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("socket")
        try await onVirtualLoop { loop in
            let (served, address) = try await StreamSockets.bind(to: .unix(path: path))
            let task = Task(executorPreference: loop) {
                await StreamSockets.connection(to: address, on: loop)
            }
            task.cancel()
            #expect(await task.value == nil)
            var peer = sockaddr_un()
            #expect(try Sockets.accept(served, peer: &peer) == nil)
            close(served)
        }
    }

    @Test("addresses format as text")
    func addressesFormatAsText() {
        #expect("\(StreamAddress.tcp(host: "127.0.0.1", port: 9000))" == "tcp:127.0.0.1:9000")
        #expect("\(StreamAddress.tcp(host: "::1", port: 9000))" == "tcp:[::1]:9000")
        #expect("\(StreamAddress.unix(path: "/run/air"))" == "unix:/run/air")
    }
}
