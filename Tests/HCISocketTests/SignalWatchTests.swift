import Glibc
import Testing

@testable import HCISocket

@Suite(.serialized) struct SignalWatchTests {
    @Test("a signal whose handler was removed after it was caught has no effect")
    func lateSignalOfRemovedHandlerIsDropped() async throws {
        let loop = try EventLoop()
        let watch = try SignalWatch([SIGUSR1], on: loop)
        let seen = Lock<[CInt]>([])
        await withCheckedContinuation { continuation in
            loop.execute {
                try? watch.start { signal in
                    seen.withLock { $0.append(signal) }
                    if signal == SIGUSR1 { continuation.resume() }
                }
            }
            SignalWatch.watch([SIGUSR2], to: { _ in })
            loop.execute {
                // A signal to the own thread is caught before these calls return, if the thread does not block it.
                var both = sigset_t()
                sigemptyset(&both)
                for signal in [SIGUSR1, SIGUSR2] { sigaddset(&both, signal) }
                pthread_sigmask(SIG_UNBLOCK, &both, nil)
                pthread_kill(pthread_self(), SIGUSR2)
                SignalWatch.unwatch([SIGUSR2])
                pthread_kill(pthread_self(), SIGUSR1)
            }
        }
        #expect(seen.withLock { $0 } == [SIGUSR1])
        await withCheckedContinuation { done in
            loop.execute {
                watch.close()
                done.resume()
            }
        }
        loop.stop()
    }

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
