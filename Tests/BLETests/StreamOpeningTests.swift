import BLECore
import Glibc
import HCISocket
import SystemPackage
import Testing

@testable import BLE

/// Opening an adapter on a stream socket whose server accepts no connections.
@Suite(.timeLimit(.minutes(10))) struct StreamOpeningTests {
    /// A listener whose queue is full: a connect gets no answer.
    private final class FullListener {
        private let descriptors: [CInt]
        let address: StreamAddress

        init() throws {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var descriptors = [listening]
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            try withUnsafeMutablePointer(to: &name) { name in
                try name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    try #require(bind(listening, name, length) == 0)
                    try #require(listen(listening, 0) == 0)
                    try #require(getsockname(listening, name, &length) == 0)
                    for _ in 0..<4 {
                        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
                        descriptors.append(socket(AF_INET, kind, 0))
                        _ = connect(descriptors.last ?? -1, name, length)
                    }
                }
            }
            self.descriptors = descriptors
            address = .tcp(host: "127.0.0.1", port: UInt16(bigEndian: name.sin_port))
        }

        deinit { for descriptor in descriptors { close(descriptor) } }
    }

    @Test("opening a stream on an unresponsive server times out after ten seconds")
    func openTimesOutAfterTenSeconds() async throws {
        try await VirtualTestbed.run { bed in
            let listener = try FullListener()
            let before = bed.loop.now
            let error = await failure { () throws(BLEError) in
                _ = try await Adapter.open(
                    .stream(listener.address), options: AdapterOptions(loop: bed.loop))
            }
            #expect(
                error == .adapter(.unreachable(listener.address, .system(.timedOut, during: "connect"))))
            #expect(bed.loop.now == before + .seconds(10))
        }
    }

    @Test("a cancelled task stops waiting for an unresponsive server at once", arguments: [0, 1000])
    func openIsCancellable(after milliseconds: Int) async throws {
        try await VirtualTestbed.run { bed in
            let listener = try FullListener()
            let (before, address) = (bed.loop.now, listener.address)
            let opening = bed.task {
                _ = try await Adapter.open(.stream(address), options: AdapterOptions(loop: bed.loop))
            }
            if milliseconds > 0 { await bed.wait(.milliseconds(milliseconds)) }
            opening.cancel()
            let outcome = await opening.result
            #expect(throws: BLEError.cancelled) { try outcome.get() }
            #expect(bed.loop.now == before + .milliseconds(milliseconds))
            withExtendedLifetime(listener) {}
        }
    }
}
