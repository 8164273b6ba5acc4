import Glibc
import Testing

@testable import HCISocket

@Suite(.serialized) struct SignalWatchTests {
    @Test("signals sent before and after the watch starts are reported in order")
    func signalsAreReportedInOrder() async throws {
        let loop = try EventLoop()
        let watch = try SignalWatch([SIGUSR1, SIGUSR2], on: loop)
        kill(getpid(), SIGUSR1)
        let delivered = await withCheckedContinuation { continuation in
            let seen = Lock<[CInt]>([])
            loop.execute {
                try? watch.start { signal in
                    let all = seen.withLock {
                        $0.append(signal)
                        return $0
                    }
                    if all.count == 1 { kill(getpid(), SIGUSR2) }
                    if all.count == 2 { continuation.resume(returning: all) }
                }
            }
        }
        #expect(delivered == [SIGUSR1, SIGUSR2])
        await withCheckedContinuation { done in
            loop.execute {
                watch.close()
                done.resume()
            }
        }
        var action = sigaction()
        sigaction(SIGUSR1, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil)
        loop.stop()
    }
}
