import BLECore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

@Suite(.timeLimit(.minutes(10))) struct ListenerTests {
    @Test("a listener without free descriptors retries accept") func listenerRetriesAccept() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        try await Task(executorPreference: loop) {
            let (near, far) = socketPair(.stream)
            defer { close(far) }
            let (results, continuation) = AsyncStream<Result<Instant, PortError>>.makeStream()
            let attempts = Lock(0)
            let listener = Listener(near, on: loop) { _ throws(PortError) in
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                switch attempt {
                case 1, 2: throw .system(.tooManyOpenFiles, during: "accept")
                case 3: return { continuation.yield(.success(loop.now)) }
                case 4: return nil
                default: throw .system(.badFileDescriptor, during: "accept")
                }
            }
            try listener.start { continuation.yield(.failure($0)) }
            #expect(write(far, "c", 1) == 1)
            var iterator = results.makeAsyncIterator()
            let waited = await iterator.next()
            #expect(waited == .success(Instant.zero + .milliseconds(200)))
            let ended = await iterator.next()
            #expect(ended == .failure(.system(.badFileDescriptor, during: "accept")))
        }.value
    }
}
